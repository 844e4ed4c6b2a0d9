// What a profiler collected, as JSON: a report of sums, and a timeline.
#ifndef ASC_CORE_RUNTIME_PROFILE_REPORT_H_
#define ASC_CORE_RUNTIME_PROFILE_REPORT_H_

#include <string>

#include "core/runtime/profiler.h"

namespace asc {

// {runs, dropped_runs, total_ms, peaks: {flops_per_second, bytes_per_second, source}, plans: [PLAN], operators: [GROUP]}
//
// PLAN: {graph, device, device_kind, threads, inputs, depth, runs, ms, min_ms, steps: [STEP], operators: [GROUP]}; `depth` is 0 for
// graphs, more for bodies of control flow. Times of a step are its own, without those of the bodies that it runs.
// STEP: {name, operator, kernel, outputs, FIGURES}; GROUP: {operator, steps, FIGURES}, the slowest first.
// FIGURES: {calls, ms, min_ms, share, flops, bytes, flops_per_second, bytes_per_second, roofline}.
//
// In a plan `ms` is the median of its runs, `min_ms` the least; a group's are the sums over its steps. In the groups over all plans
// `ms` is the sum over all calls. `flops` and `bytes` are of one call (of all calls in those groups), by EstimateCost. `share`: of the
// time of all steps of the plan (of all plans). `roofline`: the time that the peaks allow, max(flops / peak, bytes / peak), divided by
// `ms`; null where no peaks are known. It can exceed 1 where data comes from the caches, or an algorithm needs fewer operations
// than the textbook's.
std::string ProfileReport(const Profiler::Collected& collected);

// The timeline in the Trace Event Format, which Perfetto and chrome://tracing open: a track for each thread, runs and in them their
// steps, and in those the runs of bodies. Times are microseconds.
std::string ProfileTrace(const Profiler::Collected& collected);

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_PROFILE_REPORT_H_
