#include "core/base/block_pool.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/allocator.h"
#include "core/base/large_blocks.h"

namespace asc {
namespace {
constexpr size_t kRegion = size_t{64} << 20;  // of addresses; pages come when they are touched
constexpr size_t kHugePage = size_t{2} << 20;

struct Span {
  size_t size;
  bool free;
};

// One piece of addresses, as spans that cover it.
struct Region {
  std::byte* base;
  std::map<std::byte*, Span> spans;
};

struct Pool {
  std::mutex mutex;
  std::vector<Region> regions;
  // Where regions were ever: most blocks are seen to be others without the lock.
  std::atomic<uintptr_t> low{UINTPTR_MAX}, high{0};
};
// Never destroyed: buffers may outlive static destruction.
Pool& ThePool() {
  static auto* pool = new Pool;
  return *pool;
}

// The first free span that is large enough, cut to size; null where there is none.
std::byte* TakeFrom(Region& region, size_t size) {
  for (auto it = region.spans.begin(); it != region.spans.end(); ++it) {
    Span& span = it->second;
    if (!span.free || span.size < size) continue;
    if (span.size > size) {
      region.spans.emplace_hint(std::next(it), it->first + size, Span{span.size - size, true});
      span.size = size;
    }
    span.free = false;
    return it->first;
  }
  return nullptr;
}

// Gives the pages of a free span back that no other span shares.
void DropPages(std::byte* begin, size_t size) {
  const auto first = (reinterpret_cast<uintptr_t>(begin) + kHugePage - 1) / kHugePage * kHugePage;
  const auto last = (reinterpret_cast<uintptr_t>(begin) + size) / kHugePage * kHugePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

bool GrowPool(Pool& pool) {
  auto* const base = static_cast<std::byte*>(AllocateLargeBlock(kRegion));
  if (base == nullptr) return false;
  try {
    pool.regions.push_back({base, {{base, Span{kRegion, true}}}});
  } catch (...) {
    FreeLargeBlock(base, kRegion);
    throw;
  }
  const auto begin = reinterpret_cast<uintptr_t>(base);
  if (begin < pool.low) pool.low = begin;
  if (begin + kRegion > pool.high) pool.high = begin + kRegion;
  return true;
}
}  // namespace

void* AllocatePooledBlock(size_t bytes) {
  const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  for (Region& region : pool.regions) {
    if (std::byte* const block = TakeFrom(region, size)) return block;
  }
  return GrowPool(pool) ? TakeFrom(pool.regions.back(), size) : nullptr;
}

bool FreePooledBlock(void* block) noexcept {
  Pool& pool = ThePool();
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (address < pool.low || address >= pool.high) return false;
  const std::lock_guard lock(pool.mutex);
  for (auto region = pool.regions.begin(); region != pool.regions.end(); ++region) {
    auto& spans = region->spans;
    auto it = spans.find(static_cast<std::byte*>(block));
    if (it == spans.end()) continue;
    it->second.free = true;
    if (const auto next = std::next(it); next != spans.end() && next->second.free) {
      it->second.size += next->second.size;
      spans.erase(next);
    }
    if (it != spans.begin()) {
      if (const auto before = std::prev(it); before->second.free) {
        before->second.size += it->second.size;
        spans.erase(it);
        it = before;
      }
    }
    if (it->second.size == kRegion) {
      FreeLargeBlock(region->base, kRegion);
      pool.regions.erase(region);
    } else {
      DropPages(it->first, it->second.size);
    }
    return true;
  }
  return false;
}

}  // namespace asc
