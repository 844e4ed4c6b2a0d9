#include "core/base/large_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace asc {
namespace {
constexpr size_t kHugePage = size_t{2} << 20;

struct Blocks {
  std::mutex mutex;
  std::unordered_set<void*> all;
};
// Never destroyed: buffers may outlive static destruction.
Blocks& AllBlocks() {
  static auto* blocks = new Blocks;
  return *blocks;
}

size_t WholePages(size_t bytes) {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// A mapping that starts at a multiple of a huge page: a larger one, cut to size.
void* MapAligned(size_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > begin) ::munmap(mapped, aligned - begin);
  if (begin + kHugePage > aligned) ::munmap(reinterpret_cast<void*>(aligned + bytes), begin + kHugePage - aligned);
  return reinterpret_cast<void*>(aligned);
}
}  // namespace

void* AllocateLargeBlock(size_t bytes) {
  const size_t size = WholePages(bytes);
  if (size < bytes || size > SIZE_MAX - kHugePage) return nullptr;
  void* const block = MapAligned(size);
  if (block == nullptr) return nullptr;
#ifdef MADV_HUGEPAGE
  // The rest beyond the last whole huge page stays in small ones, so that no more is resident than was asked for. What the system says
  // to it makes no difference.
  if (size >= kHugePage) ::madvise(block, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  Blocks& blocks = AllBlocks();
  try {
    const std::lock_guard lock(blocks.mutex);
    blocks.all.insert(block);
  } catch (...) {
    ::munmap(block, size);
    throw;
  }
  return block;
}

bool FreeLargeBlock(void* block, size_t bytes) noexcept {
  Blocks& blocks = AllBlocks();
  {
    const std::lock_guard lock(blocks.mutex);
    if (blocks.all.erase(block) == 0) return false;
  }
  ::munmap(block, WholePages(bytes));
  return true;
}

}  // namespace asc
