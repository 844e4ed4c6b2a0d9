#include "core/runtime/profile_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/json_writer.h"

namespace asc {
namespace {
// Times and costs of a step or of several.
struct Figures {
  int64_t calls = 0;
  double ns = 0, min_ns = 0;
  CostEstimate cost;
  double roofline_ns = 0;

  void Add(const Figures& other) {
    calls += other.calls;
    ns += other.ns;
    min_ns += other.min_ns;
    cost.flops += other.cost.flops;
    cost.bytes += other.cost.bytes;
    roofline_ns += other.roofline_ns;
  }
};

struct Group {
  size_t steps = 0;
  Figures figures;
};
using Groups = std::map<std::string, Group>;  // by operator

// All runs of one plan.
struct PlanRuns {
  const PlanInfo* info = nullptr;
  std::vector<const RunTrace*> runs;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double RooflineNs(const CostEstimate& cost, const MachinePeaks& peaks) {
  double seconds = 0;
  if (peaks.flops_per_second > 0) seconds = cost.flops / peaks.flops_per_second;
  if (peaks.bytes_per_second > 0) seconds = std::max(seconds, cost.bytes / peaks.bytes_per_second);
  return 1e9 * seconds;
}

const RunTrace::Detail* DetailOf(const RunTrace& run, size_t step) {
  const auto found =
      std::lower_bound(run.details.begin(), run.details.end(), step,
                       [](const RunTrace::Detail& detail, size_t at) { return detail.step < at; });
  return found != run.details.end() && found->step == step ? &*found : nullptr;
}

// The figures of a step over all runs: `ns` their median, or their sum.
Figures FiguresOf(const PlanRuns& plan, size_t step, const MachinePeaks& peaks, bool sums) {
  Figures figures;
  std::vector<double> times;
  for (const RunTrace* run : plan.runs) {
    if (step >= run->ends.size()) continue;  // the run failed before
    const int64_t begin = step == 0 ? run->begin : run->ends[step - 1];
    const RunTrace::Detail* detail = DetailOf(*run, step);
    times.push_back(
        static_cast<double>(run->ends[step] - begin - (detail != nullptr ? detail->nested : 0)));
    const CostEstimate& cost = detail != nullptr ? detail->cost : plan.info->steps[step].cost;
    figures.cost.flops += cost.flops;
    figures.cost.bytes += cost.bytes;
    figures.roofline_ns += RooflineNs(cost, peaks);
  }
  figures.calls = static_cast<int64_t>(times.size());
  if (times.empty()) return figures;
  figures.min_ns = *std::min_element(times.begin(), times.end());
  if (sums) {
    for (const double time : times) figures.ns += time;
    return figures;
  }
  const auto calls = static_cast<double>(times.size());
  figures.ns = Median(std::move(times));
  figures.cost = {figures.cost.flops / calls, figures.cost.bytes / calls};
  figures.roofline_ns /= calls;
  return figures;
}

void WriteFigures(JsonWriter& json, const Figures& figures, double total_ns, bool peaks_known) {
  const double seconds = figures.ns / 1e9;
  json.Field("calls", figures.calls)
      .Field("ms", figures.ns / 1e6)
      .Field("min_ms", figures.min_ns / 1e6)
      .Field("share", total_ns > 0 ? figures.ns / total_ns : 0.0)
      .Field("flops", figures.cost.flops)
      .Field("bytes", figures.cost.bytes)
      .Field("flops_per_second", seconds > 0 ? figures.cost.flops / seconds : 0.0)
      .Field("bytes_per_second", seconds > 0 ? figures.cost.bytes / seconds : 0.0);
  // NaN is written as null.
  json.Field("roofline",
             peaks_known && seconds > 0 ? figures.roofline_ns / figures.ns : std::nan(""));
}

void WriteGroups(JsonWriter& json, const Groups& groups, double total_ns, bool peaks_known) {
  std::vector<const Groups::value_type*> order;
  for (const auto& group : groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.figures.ns > b->second.figures.ns;
  });
  json.BeginArray();
  for (const auto* group : order) {
    json.BeginObject().Field("operator", group->first).Field("steps", group->second.steps);
    WriteFigures(json, group->second.figures, total_ns, peaks_known);
    json.EndObject();
  }
  json.EndArray();
}

class ReportWriter {
 public:
  explicit ReportWriter(const Profiler::Collected& collected) : collected_(collected) {
    peaks_known_ = collected.peaks.flops_per_second > 0 || collected.peaks.bytes_per_second > 0;
    std::map<const PlanInfo*, size_t> index;
    for (const RunTrace& run : collected.runs) {
      const auto [at, fresh] = index.emplace(run.plan.get(), plans_.size());
      if (fresh) plans_.push_back({run.plan.get(), {}});
      plans_[at->second].runs.push_back(&run);
      if (run.depth == 0) {
        ++runs_;
        total_ns_ += static_cast<double>(run.total());
      }
    }
  }

  std::string Write() {
    const MachinePeaks& peaks = collected_.peaks;
    json_.BeginObject()
        .Field("runs", runs_)
        .Field("dropped_runs", collected_.dropped_runs)
        .Field("total_ms", total_ns_ / 1e6);
    json_.Key("peaks")
        .BeginObject()
        .Field("flops_per_second", peaks.flops_per_second)
        .Field("bytes_per_second", peaks.bytes_per_second)
        .Field("source", !peaks_known_               ? "unknown"
                         : collected_.peaks_measured ? "measured"
                                                     : "given")
        .EndObject();
    json_.Key("plans").BeginArray();
    for (const PlanRuns& plan : plans_) WritePlan(plan);
    json_.EndArray();
    Groups groups;
    double all_ns = 0;
    for (const PlanRuns& plan : plans_) {
      for (size_t i = 0; i < plan.info->steps.size(); ++i) {
        all_ns += AddTo(groups, plan.info->steps[i].op, FiguresOf(plan, i, peaks, true));
      }
    }
    json_.Key("operators");
    WriteGroups(json_, groups, all_ns, peaks_known_);
    json_.EndObject();
    return std::move(json_).Take();
  }

 private:
  static double AddTo(Groups& groups, const std::string& op, const Figures& figures) {
    Group& group = groups[op];
    ++group.steps;
    group.figures.Add(figures);
    return figures.ns;
  }

  void WritePlan(const PlanRuns& plan) {
    const PlanInfo& info = *plan.info;
    std::vector<double> totals;
    for (const RunTrace* run : plan.runs) totals.push_back(static_cast<double>(run->total()));
    json_.BeginObject()
        .Field("graph", info.graph)
        .Field("device", info.device)
        .Field("device_kind", info.device_kind)
        .Field("threads", info.threads)
        .Field("inputs", info.inputs)
        .Field("depth", plan.runs[0]->depth)
        .Field("runs", totals.size())
        .Field("min_ms", *std::min_element(totals.begin(), totals.end()) / 1e6)
        .Field("ms", Median(totals) / 1e6);
    std::vector<Figures> steps;
    Groups groups;
    double total_ns = 0;
    for (size_t i = 0; i < info.steps.size(); ++i) {
      steps.push_back(FiguresOf(plan, i, collected_.peaks, false));
      total_ns += AddTo(groups, info.steps[i].op, steps.back());
    }
    json_.Key("steps").BeginArray();
    for (size_t i = 0; i < info.steps.size(); ++i) {
      json_.BeginObject()
          .Field("name", info.steps[i].name)
          .Field("operator", info.steps[i].op)
          .Field("kernel", KernelOf(plan, i))
          .Field("outputs", info.steps[i].outputs);
      WriteFigures(json_, steps[i], total_ns, peaks_known_);
      json_.EndObject();
    }
    json_.EndArray().Key("operators");
    WriteGroups(json_, groups, total_ns, peaks_known_);
    json_.EndObject();
  }

  // Of dynamic steps the last one's.
  static std::string_view KernelOf(const PlanRuns& plan, size_t step) {
    if (!plan.info->steps[step].kernel.empty()) return plan.info->steps[step].kernel;
    const RunTrace::Detail* detail = DetailOf(*plan.runs.back(), step);
    return detail != nullptr ? std::string_view(detail->kernel) : std::string_view();
  }

  const Profiler::Collected& collected_;
  std::vector<PlanRuns> plans_;
  JsonWriter json_;
  int64_t runs_ = 0;
  double total_ns_ = 0;
  bool peaks_known_ = false;
};

void WriteEvent(JsonWriter& json, const RunTrace& run, std::string_view name,
                std::string_view category, int64_t begin, int64_t end) {
  json.BeginObject()
      .Field("name", name)
      .Field("cat", category)
      .Field("ph", "X")
      .Field("pid", 1)
      .Field("tid", run.thread)
      .Field("ts", static_cast<double>(begin) / 1e3)
      .Field("dur", static_cast<double>(end - begin) / 1e3);
}
}  // namespace

std::string ProfileReport(const Profiler::Collected& collected) {
  return ReportWriter(collected).Write();
}

std::string ProfileTrace(const Profiler::Collected& collected) {
  JsonWriter json;
  json.BeginObject().Field("displayTimeUnit", "ms").Key("traceEvents").BeginArray();
  for (const RunTrace& run : collected.runs) {
    if (run.ends.empty()) continue;
    WriteEvent(json, run, run.plan->graph, run.depth == 0 ? "run" : "body", run.begin,
               run.ends.back());
    json.Key("args")
        .BeginObject()
        .Field("device", run.plan->device)
        .Field("inputs", run.plan->inputs)
        .EndObject()
        .EndObject();
    int64_t begin = run.begin;
    for (size_t i = 0; i < run.ends.size(); ++i) {
      const PlanInfo::StepInfo& step = run.plan->steps[i];
      const RunTrace::Detail* detail = DetailOf(run, i);
      const CostEstimate& cost = detail != nullptr ? detail->cost : step.cost;
      WriteEvent(json, run, step.name, "step", begin, run.ends[i]);
      json.Key("args")
          .BeginObject()
          .Field("operator", step.op)
          .Field("kernel",
                 detail != nullptr && !detail->kernel.empty() ? detail->kernel : step.kernel)
          .Field("outputs", step.outputs)
          .Field("flops", cost.flops)
          .Field("bytes", cost.bytes)
          .EndObject()
          .EndObject();
      begin = run.ends[i];
    }
  }
  json.EndArray().EndObject();
  return std::move(json).Take();
}

}  // namespace asc
