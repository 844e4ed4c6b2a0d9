#include "core/runtime/profiler.h"

#include <chrono>

namespace asc {
namespace {
std::mutex current_mutex;
// Never destroyed: threads may still run while the process ends.
std::shared_ptr<Profiler>& CurrentSlot() {
  static auto* slot = new std::shared_ptr<Profiler>;
  return *slot;
}

int64_t ClockNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string TypeText(const Slot& slot) {
  return Cat(DataTypeName(slot.dtype), slot.is_static ? ToString(slot.dims) : std::string("[*]"));
}

PlanInfo Describe(const Executable& executable, const Plan& plan) {
  PlanInfo info;
  info.graph = executable.graph().name();
  info.device = executable.device().properties().id;
  info.device_kind = executable.device().properties().kind;
  info.threads = plan.threads;
  for (size_t i = 0; i < plan.input_types.size(); ++i) {
    info.inputs.push_back(
        plan.input_types[i] == DataType::kUndefined
            ? executable.inputs()[i].type.ToString()
            : Cat(DataTypeName(plan.input_types[i]), ToString(plan.input_dims[i])));
  }
  for (const Step& step : plan.steps) {
    PlanInfo::StepInfo& made = info.steps.emplace_back();
    made.name = step.node != nullptr ? step.node->OriginText() : "copy";
    made.op = step.node != nullptr ? step.node->schema->FullName() : "copy";
    if (step.kernel) made.kernel = step.kernel->name();
    // What bodies cost is told where they run.
    if (step.node == nullptr || step.node->regions.empty()) made.cost = step.cost;
    for (const int slot : step.outputs) {
      if (slot >= 0) made.outputs.push_back(TypeText(plan.slots[static_cast<size_t>(slot)]));
    }
  }
  return info;
}
}  // namespace

std::atomic<bool> Profiler::any_{false};

Profiler::Profiler() : start_(ClockNs()) {}

std::shared_ptr<Profiler> Profiler::Current() {
  const std::lock_guard lock(current_mutex);
  return CurrentSlot();
}

Status Profiler::Start() {
  const std::lock_guard current_lock(current_mutex);
  std::shared_ptr<Profiler>& current = CurrentSlot();
  if (current != nullptr) {
    return InvalidArgument(current.get() == this ? "the profiler collects already"
                                                 : "another profiler collects already")
        .WithHint("stop it first");
  }
  const std::lock_guard lock(mutex_);
  collected_.runs.clear();
  collected_.dropped_runs = 0;
  steps_ = 0;
  plans_.clear();
  threads_.clear();
  current = shared_from_this();
  any_.store(true, std::memory_order_relaxed);
  return Ok();
}

Status Profiler::Stop() {
  const std::lock_guard lock(current_mutex);
  std::shared_ptr<Profiler>& current = CurrentSlot();
  if (current.get() != this)
    return InvalidArgument("the profiler does not collect").WithHint("start it first");
  any_.store(false, std::memory_order_relaxed);
  current.reset();
  return Ok();
}

void Profiler::SetPeaks(const MachinePeaks& peaks, bool measured) {
  const std::lock_guard lock(mutex_);
  collected_.peaks = peaks;
  collected_.peaks_measured = measured;
}

int64_t Profiler::Now() const { return ClockNs() - start_; }

RunTrace Profiler::Begin(const Executable& executable, const Plan& plan, int depth) {
  RunTrace trace;
  trace.depth = depth;
  trace.ends.reserve(plan.steps.size());
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const PlanInfo>& info = plans_[plan.id];
  if (info == nullptr) info = std::make_shared<PlanInfo>(Describe(executable, plan));
  trace.plan = info;
  trace.thread =
      threads_.emplace(std::this_thread::get_id(), static_cast<int>(threads_.size())).first->second;
  trace.begin = Now();
  return trace;
}

void Profiler::End(RunTrace trace) {
  const std::lock_guard lock(mutex_);
  if (steps_ + trace.ends.size() > kMostSteps) {
    ++collected_.dropped_runs;
    return;
  }
  steps_ += trace.ends.size();
  collected_.runs.push_back(std::move(trace));
}

Profiler::Collected Profiler::Take() const {
  const std::lock_guard lock(mutex_);
  return collected_;
}

}  // namespace asc
