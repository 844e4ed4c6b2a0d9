#ifndef ASC_PROFILER_H_
#define ASC_PROFILER_H_

/* Where the time of runs goes: a profiler that collects sees the runs of all sessions of the process, step by step. All functions
 * may be called from any thread. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

typedef struct asc_profiler asc_profiler;
ASC_API asc_status* asc_profiler_create(asc_profiler** out);
/* Releasing one that collects ends that. */
ASC_API void asc_profiler_retain(asc_profiler* profiler);
ASC_API void asc_profiler_release(asc_profiler* profiler);

/* Begins to collect, anew. E5003 when a profiler of the process collects already. */
ASC_API asc_status* asc_profiler_start(asc_profiler* profiler);
/* Runs that are under way still arrive. E5003 when it does not collect. */
ASC_API asc_status* asc_profiler_stop(asc_profiler* profiler);

/* What the machine can do at most, for the roofline of reports: float32 operations (a fused multiply-add counts as two) and bytes
 * from memory, per second; 0: not known. E5003 for other numbers that are not positive and finite. */
ASC_API asc_status* asc_profiler_set_peaks(asc_profiler* profiler, double flops_per_second,
                                           double bytes_per_second);
/* The same, measured on the host with that many threads (0: all cores). Takes about a quarter of a second, and 64 to 512 MiB while it
 * runs (E5012). */
ASC_API asc_status* asc_profiler_measure_peaks(asc_profiler* profiler, int32_t threads);

/* Sums, as a JSON text:
 * {runs, dropped_runs (more steps than are kept), total_ms, peaks: {flops_per_second, bytes_per_second, source (unknown, given,
 * measured)}, plans: [PLAN], operators: [GROUP]}
 * PLAN, a graph for one set of input shapes: {graph, device, device_kind, threads, inputs: [types], depth (of bodies of control
 * flow; else 0), runs, ms, min_ms, steps: [STEP], operators: [GROUP]}
 * STEP: {name, operator, kernel, outputs: [types], FIGURES}; GROUP: {operator, steps, FIGURES}, the slowest first
 * FIGURES: {calls, ms, min_ms, share, flops, bytes, flops_per_second, bytes_per_second, roofline}
 * In a plan `ms` is the median of its runs, without the time of bodies that a step runs; in the groups over all plans it is the sum over
 * all calls. `flops` and `bytes` (each operand once) are of what `ms` is of. `share` is that of all steps' time. `roofline` is the time that
 * the peaks allow divided by `ms`, null where they are not known; above 1 data came from caches, or the algorithm needs fewer
 * operations than the textbook's. */
ASC_API asc_status* asc_profiler_create_report(const asc_profiler* profiler, asc_bytes** out);
/* A timeline, as a JSON text in the Trace Event Format that Perfetto opens. */
ASC_API asc_status* asc_profiler_create_trace(const asc_profiler* profiler, asc_bytes** out);

ASC_EXTERN_C_END

#endif /* ASC_PROFILER_H_ */
