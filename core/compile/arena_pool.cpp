#include "core/compile/arena_pool.h"

#include <algorithm>

namespace asc {

Result<Arena> ArenaPool::Take(size_t bytes, uint64_t preferred) {
  Arena too_small;  // freed before the new one is made, and without the lock
  uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    auto found = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->memory->size() < bytes) continue;
      found = it;
      if (it->id == preferred) break;
    }
    if (found != idle_.end()) {
      std::swap(*found, idle_.back());
      Arena arena = std::move(idle_.back());
      idle_.pop_back();
      return arena;
    }
    if (!idle_.empty()) {
      too_small = std::move(idle_.back());
      idle_.pop_back();
    }
    id = ++last_id_;
  }
  too_small.memory.reset();
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> memory,
                       Buffer::Allocate(allocator_, MemoryUse::kArena, bytes));
  return Arena{std::move(memory), id};
}

void ArenaPool::GiveBack(Arena arena) noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(arena));
}

}  // namespace asc
