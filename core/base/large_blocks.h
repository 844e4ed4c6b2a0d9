// Memory for large blocks that live long, straight from the system.
#ifndef ASC_CORE_BASE_LARGE_BLOCKS_H_
#define ASC_CORE_BASE_LARGE_BLOCKS_H_

#include <cstddef>

namespace asc {

// Blocks from this size on: each has a mapping of its own, in huge pages as far as they fill it and the system has them. The first
// touch of 400 MB in pages of 4 KiB takes 100 ms, and kernels that stream weights look fewer pages up. Freed memory goes back at once.
inline constexpr size_t kLeastLargeBlock = size_t{1} << 20;

// `bytes` of zeros, aligned to at least a page; null when the system refuses.
void* AllocateLargeBlock(size_t bytes);
// Frees it if it is such a block; false for others. Thread-safe.
bool FreeLargeBlock(void* block, size_t bytes) noexcept;

}  // namespace asc

#endif  // ASC_CORE_BASE_LARGE_BLOCKS_H_
