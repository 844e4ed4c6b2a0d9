// The plans of an executable by input extents: least recently used ones go when the cap is reached.
#ifndef ASC_CORE_COMPILE_PLAN_CACHE_H_
#define ASC_CORE_COMPILE_PLAN_CACHE_H_

#include <functional>
#include <list>
#include <mutex>

#include "core/compile/plan.h"

namespace asc {

// Thread-safe. Plans that runs still hold live on after they are dropped from the cache.
class PlanCache {
 public:
  explicit PlanCache(size_t capacity) : capacity_(capacity) {}

  // The plan made for inputs of these extents, made with `make` when it is not here; one maker at a time.
  Result<std::shared_ptr<const Plan>> GetOrMake(const std::vector<const AnyValue*>& values,
                                                const std::function<Result<std::shared_ptr<const Plan>>()>& make);
  // Null when it is not here.
  std::shared_ptr<const Plan> Find(const std::vector<const AnyValue*>& values);
  int64_t made() const;
  size_t size() const;

 private:
  void MakeRoom();

  const size_t capacity_;
  mutable std::mutex mutex_;  // of the list
  std::mutex making_mutex_;
  std::list<std::shared_ptr<const Plan>> plans_;  // most recent first
  int64_t made_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_PLAN_CACHE_H_
