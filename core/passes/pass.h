// What a pass is, and what it sees of the driver.
#ifndef ASC_CORE_PASSES_PASS_H_
#define ASC_CORE_PASSES_PASS_H_

#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>

#include "core/passes/options.h"
#include "core/passes/patch.h"
#include "core/passes/report.h"

namespace asc {

class FusionScopes;

// One round of one pass over one graph.
class PassContext {
 public:
  PassContext(Graph& graph, const PassOptions& options, FusionScopes& scopes, PassReport& report,
              int64_t& rewrites)
      : graph_(graph), options_(options), scopes_(scopes), report_(report), rewrites_(rewrites) {}

  const Graph& graph() const { return graph_; }
  const PassOptions& options() const { return options_; }

  // Whether the scopes of all nodes and the options allow the fusion; when not, the reason goes
  // into the report.
  bool Allows(std::string_view fusion, const Node& anchor, std::span<const NodeId> nodes);
  // A pattern was found and is left as it is.
  void Reject(std::string_view rule, const Node& anchor, std::string_view reason);
  // Checks and applies the patch. False when it was refused (noted in the report) or put off to the
  // next round because an earlier patch of this round touched one of its nodes. Pointers to nodes
  // that the patch removes dangle afterwards.
  bool Submit(const Patch& patch);
  // Infers the whole graph anew. Returns how many values are known more exactly than before.
  size_t Infer();
  // The same for what the patches of this round changed, and what follows from that.
  void InferChanged();

  // The node is part of a patch that was applied in this round: no other patch may touch it.
  bool Touched(NodeId id) const { return touched_.contains(id.index); }
  bool AtLimit() const {
    return options_.rewrite_limit >= 0 && rewrites_ >= options_.rewrite_limit;
  }
  int64_t applied() const { return applied_; }

 private:
  // Runs the node's shape rule; a failure becomes a note of the report.
  bool InferOne(NodeId id);

  Graph& graph_;
  const PassOptions& options_;
  FusionScopes& scopes_;
  PassReport& report_;
  int64_t& rewrites_;            // of the whole run
  std::vector<NodeId> changed_;  // nodes that see other operands than before
  std::unordered_set<int32_t> touched_;
  int64_t applied_ = 0;
};

// A pass keeps no state between runs.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;  // public: "ConstantFolding"
  // Proposes patches for one graph; the driver runs it again until nothing is applied, and on the
  // graphs of regions.
  virtual void Run(PassContext& context) = 0;
  // False when types and shapes are the same before and after, so that nothing has to be inferred
  // anew.
  virtual bool ChangesFacts() const { return true; }
};

// A pass that looks at one node after another, producers first.
class NodePass : public Pass {
 public:
  void Run(PassContext& context) final;
  virtual void Visit(PassContext& context, const Node& node) = 0;
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_PASS_H_
