// The profiler: while one collects, runs keep the times at which their steps begin and end, with what the steps are. Reports and
// timelines are made of that afterwards (profile_report.h).
//
// When none collects, a run looks once at an atomic flag, and each step at a null pointer.
#ifndef ASC_CORE_RUNTIME_PROFILER_H_
#define ASC_CORE_RUNTIME_PROFILER_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/compile/executable.h"
#include "core/kernels/machine_peaks.h"

namespace asc {

// What the steps of one plan are; outlives the plan.
struct PlanInfo {
  struct StepInfo {
    std::string name;                  // the user's nodes
    std::string op;                    // "Conv", "asc.FusedConv", "copy"
    std::string kernel;                // "" where it depends on the data
    std::vector<std::string> outputs;  // types in storage form
    CostEstimate cost;
  };
  std::string graph, device, device_kind;
  int threads = 1;
  std::vector<std::string> inputs;  // types
  std::vector<StepInfo> steps;
};

// One run of one plan, bodies of control flow included: they are runs of their own, with a depth. Times are nanoseconds since the
// profiler was made.
struct RunTrace {
  std::shared_ptr<const PlanInfo> plan;
  int depth = 0;
  int thread = 0;             // numbered in the order of appearance
  int64_t begin = 0;          // of the first step
  std::vector<int64_t> ends;  // by step; each begins where the one before ends

  // What some steps know only when they run.
  struct Detail {
    size_t step = 0;
    int64_t nested = 0;  // of its time, the part that runs of bodies took
    std::string kernel;  // "" : as in the plan
    CostEstimate cost;
  };
  std::vector<Detail> details;  // in the order of steps

  int64_t total() const { return ends.empty() ? 0 : ends.back() - begin; }
};

// Thread-safe. At most one collects at a time in a process: it sees the runs of all sessions.
class Profiler : public std::enable_shared_from_this<Profiler> {
 public:
  Profiler();
  // Steps that are kept; later runs are only counted.
  static constexpr size_t kMostSteps = size_t{1} << 22;

  // Drops what was collected before. E5003 when one collects already.
  Status Start();
  // Runs that are under way still arrive. E5003 when it does not collect.
  Status Stop();
  // The one that collects, or null.
  static std::shared_ptr<Profiler> Collecting() {
    return any_.load(std::memory_order_relaxed) ? Current() : nullptr;
  }

  // What the machine can do at most, which reports compare with. Zeros: not known.
  void SetPeaks(const MachinePeaks& peaks, bool measured);

  // For the executor: a trace to fill, and the filled one back.
  RunTrace Begin(const Executable& executable, const Plan& plan, int depth);
  void End(RunTrace trace);
  int64_t Now() const;

  struct Collected {
    std::vector<RunTrace> runs;  // in the order of their ends
    int64_t dropped_runs = 0;    // those beyond kMostSteps
    MachinePeaks peaks;
    bool peaks_measured = false;
  };
  Collected Take() const;  // a copy

 private:
  static std::shared_ptr<Profiler> Current();
  static std::atomic<bool> any_;

  mutable std::mutex mutex_;
  const int64_t start_;  // of the steady clock
  Collected collected_;
  size_t steps_ = 0;
  std::map<uint64_t, std::shared_ptr<const PlanInfo>> plans_;  // by Plan::id
  std::map<std::thread::id, int> threads_;
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_PROFILER_H_
