// Memory of results, kept for the next run.
#ifndef ASC_CORE_BASE_RECYCLED_BLOCKS_H_
#define ASC_CORE_BASE_RECYCLED_BLOCKS_H_

#include <cstddef>

namespace asc {

// Results of a run are freed by the caller before the next one makes them again, all of one size. The C library gives such blocks back
// to the system, and each of their pages is then asked for and cleared anew: for the cache of a small decoder (3 MB) a quarter
// of a run. So the latest blocks of these sizes are kept, `kMostRecycledBytes` of them at most; ReturnFreePages lets them go.
inline constexpr size_t kLeastRecycledBlock = size_t{64} << 10;
inline constexpr size_t kMostRecycledBlock = size_t{4} << 20;
inline constexpr size_t kMostRecycledBytes = size_t{16} << 20;

// A kept block of exactly that size; null where there is none. Thread-safe, as are the others.
void* TakeRecycledBlock(size_t bytes);
// Keeps the block, from std::aligned_alloc, in place of the oldest ones where there are too many.
void RecycleBlock(void* block, size_t bytes) noexcept;
// Frees all that are kept.
void DropRecycledBlocks() noexcept;

}  // namespace asc

#endif  // ASC_CORE_BASE_RECYCLED_BLOCKS_H_
