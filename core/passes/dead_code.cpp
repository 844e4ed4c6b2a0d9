// DeadCodeElimination: nodes whose results nothing uses go, and so do unused optional outputs and
// captures. Writes to variables stay.
#include <algorithm>

#include "core/passes/passes.h"

namespace asc {
namespace {
class DeadCodeElimination : public Pass {
 public:
  std::string_view name() const override { return "DeadCodeElimination"; }
  bool ChangesFacts() const override { return false; }

  void Run(PassContext& context) override {
    const Graph& graph = context.graph();
    const Result<std::vector<NodeId>> order = graph.TopologicalOrder();
    if (!order.ok()) return;
    // Users first, so that a whole dead chain goes in one round.
    for (auto it = order->rbegin(); it != order->rend(); ++it) {
      const Node& node = graph.node(*it);
      if (node.schema->writes_variable) continue;
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return Used(graph, id); })) {
        Patch patch("Dead node", node);
        patch.Remove(node.id);
        context.Submit(patch);
        continue;
      }
      DropOutputs(context, node);
      DropCaptures(context, node);
    }
  }

 private:
  static bool Used(const Graph& graph, ValueId id) {
    return id.valid() && (!graph.value(id).uses.empty() || graph.IsOutput(id));
  }

  static void DropOutputs(PassContext& context, const Node& node) {
    Patch patch("Unused output", node);
    bool any = false;
    for (size_t i = node.outputs.size(); i-- > 0;) {
      if (!node.outputs[i].valid() || Used(context.graph(), node.outputs[i])) continue;
      const Parameter* parameter = node.schema->OutputParameter(i);
      if (parameter == nullptr || parameter->kind != ParameterKind::kOptional) continue;
      patch.RemoveOutput(node.id, i);
      any = true;
    }
    if (any) context.Submit(patch);
  }

  static void DropCaptures(PassContext& context, const Node& node) {
    Patch patch("Unused capture", node);
    bool any = false;
    for (size_t r = 0; r < node.regions.size(); ++r) {
      const Region& region = node.regions[r];
      const Graph& body = *region.graph;
      for (size_t i = region.captures.size(); i-- > 0;) {
        if (Used(body, body.inputs()[body.inputs().size() - region.captures.size() + i])) continue;
        patch.RemoveCapture(node.id, r, i);
        any = true;
      }
    }
    if (any) context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeDeadCodeElimination() { return std::make_unique<DeadCodeElimination>(); }

}  // namespace asc
