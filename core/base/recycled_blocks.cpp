#include "core/base/recycled_blocks.h"

#include <array>
#include <cstdlib>
#include <mutex>

namespace asc {
namespace {
struct Kept {
  void* block;
  size_t bytes;
};

// In the order in which they came; never allocates.
struct Shelf {
  std::mutex mutex;
  std::array<Kept, 128> kept;
  size_t count = 0, bytes = 0;

  void Remove(size_t i) {
    bytes -= kept[i].bytes;
    for (--count; i < count; ++i) kept[i] = kept[i + 1];
  }
};

Shelf& TheShelf() {
  // Never destroyed: blocks may come after static destruction.
  static auto* shelf = new Shelf;
  return *shelf;
}
}  // namespace

void* TakeRecycledBlock(size_t bytes) {
  Shelf& shelf = TheShelf();
  const std::lock_guard lock(shelf.mutex);
  for (size_t i = shelf.count; i-- > 0;) {
    if (shelf.kept[i].bytes != bytes) continue;
    void* const block = shelf.kept[i].block;
    shelf.Remove(i);
    return block;
  }
  return nullptr;
}

void RecycleBlock(void* block, size_t bytes) noexcept {
  Shelf& shelf = TheShelf();
  const std::lock_guard lock(shelf.mutex);
  while (shelf.count == shelf.kept.size() || (shelf.count > 0 && shelf.bytes + bytes > kMostRecycledBytes)) {
    std::free(shelf.kept[0].block);
    shelf.Remove(0);
  }
  shelf.kept[shelf.count++] = {block, bytes};
  shelf.bytes += bytes;
}

void DropRecycledBlocks() noexcept {
  Shelf& shelf = TheShelf();
  const std::lock_guard lock(shelf.mutex);
  for (; shelf.count > 0; --shelf.count) std::free(shelf.kept[shelf.count - 1].block);
  shelf.bytes = 0;
}

}  // namespace asc
