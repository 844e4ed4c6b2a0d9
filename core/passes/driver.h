// Runs passes: names, checks, applies, verifies, times, counts and dumps what they propose.
#ifndef ASC_CORE_PASSES_DRIVER_H_
#define ASC_CORE_PASSES_DRIVER_H_

#include <memory>
#include <vector>

#include "core/passes/fusion.h"
#include "core/passes/pass.h"

namespace asc {

// E5003 with the nearest match for a name in `disabled` lists that is neither a pass nor a fusion
// nor "ALL".
Status CheckPassOptions(const PassOptions& options);

// For one run over one graph.
class PassDriver {
 public:
  explicit PassDriver(const PassOptions& options) : options_(options) {}

  // The standard pipeline (pipeline.h) at the level of the options. The graph must have been
  // inferred. On failure the graph may have changed and must be dropped. Writes fusion_result.json
  // where dump_path is given.
  Status Run(Graph& graph);
  // These passes, in order.
  Status Run(Graph& graph, const std::vector<std::unique_ptr<Pass>>& passes);

  const PassReport& report() const { return report_; }
  int64_t rewrites() const { return rewrites_; }

 private:
  Status RunPass(Graph& graph, Pass& pass, FusionScopes& scopes);
  // Rounds over one graph and, inside, the regions of its nodes.
  void RunRounds(Graph& graph, Pass& pass, FusionScopes& scopes, PassRecord& record);
  Status Dump(const Graph& graph, std::string_view pass, std::string_view when);

  const PassOptions options_;
  PassReport report_;
  int64_t rewrites_ = 0;
  int dumped_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_DRIVER_H_
