// Asks for memory that is to be written.
#ifndef ASC_CORE_BASE_PREFETCH_H_
#define ASC_CORE_BASE_PREFETCH_H_

namespace asc {

// Brings the cache line of `address` near and takes it from other cores. gcc's builtin only reads it unless told of the
// instruction, which x86-64 processors run or ignore; the first store then waits for the other core once more. The address need
// not be valid.
inline void PrefetchToWrite(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}

}  // namespace asc

#endif  // ASC_CORE_BASE_PREFETCH_H_
