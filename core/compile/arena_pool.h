// The arenas of an executable: memory for the intermediate values of a run, shared by the plans of all its shapes. Were each
// plan to keep its own, an executable would hold as much as the plans in its cache need together.
#ifndef ASC_CORE_COMPILE_ARENA_POOL_H_
#define ASC_CORE_COMPILE_ARENA_POOL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/allocator.h"

namespace asc {

struct Arena {
  std::shared_ptr<Buffer> memory;
  uint64_t id = 0;  // never that of another arena, also of one that is gone
};

// Thread-safe.
class ArenaPool {
 public:
  explicit ArenaPool(std::shared_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {
    idle_.reserve(kMostIdle);
  }

  // At least `bytes`: the idle arena called `preferred` where it is here and large enough, else another one, else a new one, in
  // whose favour an idle one that is too small goes. E5012 when memory is refused.
  Result<Arena> Take(size_t bytes, uint64_t preferred);
  void GiveBack(Arena arena) noexcept;

 private:
  // More runs than that at a time make and free the arenas of the others.
  static constexpr size_t kMostIdle = 8;

  const std::shared_ptr<Allocator> allocator_;
  std::mutex mutex_;
  std::vector<Arena> idle_;
  uint64_t last_id_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_ARENA_POOL_H_
