// Memory for blocks of middling size that live long: side by side in huge pages, which none of them would fill.
#ifndef ASC_CORE_BASE_BLOCK_POOL_H_
#define ASC_CORE_BASE_BLOCK_POOL_H_

#include <cstddef>

namespace asc {

// Kernels that stream the weights of a layer stop at each page: 600 KB in pages of 4 KiB are multiplied 7 % slower.
inline constexpr size_t kLeastPooledBlock = size_t{64} << 10, kMostPooledBlock = size_t{16} << 20;

// Uninitialised memory of at most kMostPooledBlock bytes, aligned to kAlignment; null when the system refuses. At most the rest of one
// huge page is resident beyond what was asked for, and what freed blocks leave between others. Thread-safe.
void* AllocatePooledBlock(size_t bytes);
// Frees it if it is such a block; false for others. Pages that become free go back at once. Thread-safe.
bool FreePooledBlock(void* block) noexcept;

}  // namespace asc

#endif  // ASC_CORE_BASE_BLOCK_POOL_H_
