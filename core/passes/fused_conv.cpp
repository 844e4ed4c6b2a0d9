// FusedConv: a convolution with the residual addition and the activation that follow becomes one
// asc.FusedConv.
#include "core/ops/registry.h"
#include "core/passes/epilogue.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
class FusedConv : public NodePass {
 public:
  std::string_view name() const override { return "FusedConv"; }

  void Visit(PassContext& context, const Node& node) override {
    if (!node.Is("Conv")) return;
    const std::string base = node.input(2).valid() ? "Conv2d+BiasAdd" : "Conv2d";
    for (const Epilogue& epilogue : FindEpilogues(context, node, base, false)) {
      std::vector<NodeId> nodes = {node.id};
      nodes.insert(nodes.end(), epilogue.nodes.begin(), epilogue.nodes.end());
      if (!context.Allows(epilogue.fusion, node, nodes)) continue;
      Patch patch(epilogue.fusion, node);
      for (const NodeId id : nodes) patch.Remove(id);
      AttributeMap attributes = node.attributes;
      if (epilogue.activation) {
        attributes.Set("activation", epilogue.activation->name);
        attributes.Set("activation_params", epilogue.activation->params);
      }
      const OpSchema* fused = OpRegistry::Global().Find("asc", "FusedConv");
      patch.Replace(
          epilogue.result,
          patch.AddNode(fused, {node.inputs[0], node.inputs[1], node.input(2), epilogue.residual},
                        std::move(attributes)));
      if (context.Submit(patch)) return;
    }
  }
};
}  // namespace

std::unique_ptr<Pass> MakeFusedConv() { return std::make_unique<FusedConv>(); }

std::vector<FusionInfo> FusedConvFusions() {
  return EpilogueFusions({"Conv2d"}, false, "FusedConv");
}

}  // namespace asc
