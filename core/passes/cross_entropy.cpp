// CrossEntropy: SoftmaxCrossEntropyLoss(scores, labels) is
// NegativeLogLikelihoodLoss(LogSoftmax(scores, axis=1), labels), and its log_prob is that LogSoftmax,
// which has fast kernels. For float32; narrower types would be rounded in between.
#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
class CrossEntropy : public NodePass {
 public:
  std::string_view name() const override { return "CrossEntropy"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("SoftmaxCrossEntropyLoss") ||
        graph.value(node.inputs[0]).type.dtype != DataType::kFloat32)
      return;
    Patch patch("SoftmaxCrossEntropyLoss", node);
    AttributeMap axis;
    axis.Set("axis", int64_t{1});
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = patch.AddNode(OpRegistry::Global().Find("", "LogSoftmax"), {node.inputs[0]},
                              std::move(axis));
    if (node.outputs.size() > 1 && node.outputs[1].valid())
      patch.Replace(node.outputs[1], inputs[0]);
    patch.Replace(node.outputs[0],
                  patch.AddNode(OpRegistry::Global().Find("", "NegativeLogLikelihoodLoss"),
                                std::move(inputs), node.attributes));
    patch.Remove(node.id);
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeCrossEntropy() { return std::make_unique<CrossEntropy>(); }

}  // namespace asc
