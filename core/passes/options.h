// What the passes are asked to do.
#ifndef ASC_CORE_PASSES_OPTIONS_H_
#define ASC_CORE_PASSES_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

// Fusion settings of a scope (or of the whole graph, scope 0).
struct FusionSettings {
  enum class Mode : int { kOff = 0, kConservative = 1, kDefault = 2, kAggressive = 3 };
  Mode mode = Mode::kDefault;
  std::vector<std::string> disabled;  // fusion names; "ALL" switches off every fusion
};

// True where the kernels of the target take and give `layout` at this node for all operands that
// have the shape of an image (activations, not weights). Asked by layout assignment.
using AcceptsLayout =
    std::function<bool(const Graph& graph, const Node& node, const Layout& layout)>;

struct PassOptions {
  int graph_opt_level = 3;  // 0 none, 1 safe clean-ups, 2 fusion, 3 all with layout
  bool enable_const_fold = true;
  bool assume_finite = false;            // NaN and infinity need not be handled
  std::map<int, FusionSettings> fusion;  // by scope id; 0 holds for nodes without a scope
  std::vector<std::string>
      disabled;  // names of passes and fusions that are off everywhere; "ALL": every fusion
  std::string dump_path;       // folder for the graph before and after each pass; empty: nowhere
  int64_t rewrite_limit = -1;  // stop after this many rewrites (to bisect); -1: no limit
#ifdef NDEBUG
  bool verify = false;  // run the verifier after every pass that changed something
#else
  bool verify = true;
#endif
  // Block sizes for layout assignment, the preferred one first; absent or empty: that type is not
  // blocked.
  std::map<DataType, std::vector<int>> c0;
  AcceptsLayout accepts_layout;  // empty: element-wise operators only
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_OPTIONS_H_
