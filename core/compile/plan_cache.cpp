#include "core/compile/plan_cache.h"

#include "core/base/heap.h"

namespace asc {
namespace {
bool MadeFor(const Plan& plan, const std::vector<const AnyValue*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const bool tensor = values[i]->is_tensor();
    if ((tensor ? values[i]->tensor().dtype() : DataType::kUndefined) != plan.input_types[i]) return false;
    if (tensor && values[i]->tensor().dims() != plan.input_dims[i]) return false;
  }
  return true;
}
}  // namespace

std::shared_ptr<const Plan> PlanCache::Find(const std::vector<const AnyValue*>& values) {
  const std::lock_guard lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (!MadeFor(**it, values)) continue;
    if (it != plans_.begin()) plans_.splice(plans_.begin(), plans_, it);
    return plans_.front();
  }
  return nullptr;
}

// Before a plan is made, so that the memory of the one that goes serves the one that comes.
void PlanCache::MakeRoom() {
  std::list<std::shared_ptr<const Plan>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    while (!plans_.empty() && plans_.size() >= capacity_) dropped.splice(dropped.begin(), plans_, std::prev(plans_.end()));
  }
  if (dropped.empty()) return;
  dropped.clear();
  ReturnFreePages();
}

Result<std::shared_ptr<const Plan>> PlanCache::GetOrMake(const std::vector<const AnyValue*>& values,
                                                         const std::function<Result<std::shared_ptr<const Plan>>()>& make) {
  if (auto plan = Find(values)) return plan;
  const std::lock_guard making(making_mutex_);
  if (auto plan = Find(values)) return plan;  // somebody made it while we waited
  MakeRoom();
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, make());
  const std::lock_guard lock(mutex_);
  ++made_;
  plans_.push_front(plan);
  return plan;
}

int64_t PlanCache::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

size_t PlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return plans_.size();
}

}  // namespace asc
