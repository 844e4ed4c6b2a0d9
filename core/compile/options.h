// What the user asks of a compilation. Part of the key under which compiled results are kept.
#ifndef ASC_CORE_COMPILE_OPTIONS_H_
#define ASC_CORE_COMPILE_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/passes/options.h"

namespace asc {

struct CompileOptions {
  int graph_opt_level = 3;         // 0 none, 1 safe clean-ups, 2 fusion, 3 all with layout
  bool enable_const_fold = true;
  bool enable_mem_reuse = true;    // false: every intermediate value has memory of its own
  int buffer_optimize_level = 2;   // 0 none, 1 reuse, 2 in-place and views as well
  bool assume_finite = false;      // NaN and infinity need not be handled
  bool winograd = true;            // fewer multiplications where that is faster: 3x3 convolutions by Winograd's algorithm (errors up to 3e-5 of the largest output), products with weights by Strassen's (3e-6)
  bool tune = false;               // measure the kernels that could do a step, and keep what was found
  std::string tune_cache;          // the folder for that; empty: `pyasc` in XDG_CACHE_HOME or ~/.cache
  int threads = 0;                 // cores used at most; 0: all that the process may use
  int plan_cache_size = 32;        // plans kept for distinct input shapes
  std::map<int, FusionSettings> fusion;  // by scope id; 0 holds for nodes without a scope
  std::vector<std::string> disabled;     // passes and fusions that are off everywhere; "ALL": every fusion
  std::string dump_path;           // where graphs are written before and after each pass; empty: nowhere
  bool verify_passes = false;      // run the verifier after every pass
  int64_t rewrite_limit = -1;      // stop after this many rewrites (to bisect); -1: no limit

  // E5003 for values out of range (levels, sizes), naming the option; absurd thread counts are capped, not refused.
  Status Validate() const;
  // `threads` resolved: 0 becomes AvailableCores(), and no more than that is used.
  int ResolvedThreads() const;
};

}  // namespace asc

#endif  // ASC_CORE_COMPILE_OPTIONS_H_
