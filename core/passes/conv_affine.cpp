// ConvAffine: what scales and shifts the channels of a convolution with constant weights goes into
// weights and bias: BatchNormalization, Mul, Add and Sub by constants per channel.
#include <algorithm>
#include <cmath>

#include "core/passes/channels.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
std::optional<ChannelAffine> ArithmeticAffine(const Graph& graph, const Node& node, ValueId x, size_t rank,
                                       int64_t channels) {
  const bool first = node.inputs[0] == x;
  const Tensor* constant = graph.Constant(node.inputs[first ? 1 : 0]);
  const auto values = constant == nullptr ? std::nullopt : PerChannel(*constant, rank, channels);
  if (!values || node.inputs[0] == node.inputs[1]) return std::nullopt;
  ChannelAffine affine{std::vector<double>(values->size(), 1), std::vector<double>(values->size(), 0),
                false};
  if (node.Is("Mul")) {
    affine.scale = *values;
    affine.scales = true;
  } else if (node.Is("Add")) {
    affine.shift = *values;
  } else if (first) {  // x - c
    for (size_t i = 0; i < values->size(); ++i) affine.shift[i] = -(*values)[i];
  } else {
    return std::nullopt;
  }
  return affine;
}

std::string_view PartOf(const Node& user) {
  if (user.Is("BatchNormalization")) return "BatchNorm";
  if (user.Is("Mul")) return "Mul";
  return user.Is("Add") || user.Is("Sub") ? "BiasAdd" : "";
}

class ConvAffine : public NodePass {
 public:
  std::string_view name() const override { return "ConvAffine"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    const auto conv = ConvPartsOf(graph, node);
    if (!conv) return;
    const ValueId result = node.outputs[0];
    for (const Use& use : graph.value(result).uses) {
      const Node& user = graph.node(use.node);
      const std::string_view part = use.slot < user.inputs.size() ? PartOf(user) : "";
      if (part.empty()) continue;
      Fold(context, *conv, user, Cat(node.schema->fusion, "+", part));
      return;
    }
  }

 private:
  static void Fold(PassContext& context, const ConvParts& conv, const Node& user,
                   const std::string& fusion) {
    const Graph& graph = context.graph();
    const Node& node = *conv.node;
    const ValueId result = node.outputs[0];
    const bool norm = user.Is("BatchNormalization");
    if (norm && (user.inputs[0] != result || user.attributes.Int("training_mode", 0) != 0 ||
                 user.outputs.size() != 1))
      return;
    const auto affine = norm ? BatchNormAffine(graph, user, conv.channels)
                             : ArithmeticAffine(graph, user, result, conv.rank, conv.channels);
    if (!affine) return;
    if (affine->scales && conv.weight == nullptr) {
      context.Reject(fusion, node, "its weight is not a constant");
      return;
    }
    if (!graph.HasSingleUse(result)) {
      context.Reject(
          fusion, node,
          Cat("value '", graph.value(result).name, "' has other users or is a graph output"));
      return;
    }
    const NodeId both[] = {node.id, user.id};
    if (!context.Allows(fusion, node, both)) return;
    std::vector<double> bias(static_cast<size_t>(conv.channels), 0);
    if (conv.bias != nullptr) bias = *VectorValues(conv.bias, conv.channels);
    for (size_t i = 0; i < bias.size(); ++i)
      bias[i] = bias[i] * affine->scale[i] + affine->shift[i];
    const auto new_bias = MakeVector(conv.dtype, bias);
    const auto new_weight = affine->scales ? ScaledWeight(conv, affine->scale) : std::nullopt;
    if (!new_bias || (affine->scales && !new_weight)) {
      context.Reject(fusion, node, "the folded weights would not be finite");
      return;
    }
    Patch patch(fusion, node);
    patch.Remove(node.id);
    patch.Remove(user.id);
    const ValueId w = affine->scales
                          ? patch.AddConstant(*new_weight, graph.value(node.inputs[1]).name)
                          : node.inputs[1];
    std::vector<ValueId> inputs = {node.inputs[0], w};
    if (conv.bias != nullptr ||
        std::any_of(bias.begin(), bias.end(), [](double v) { return v != 0; })) {
      const bool named = node.input(2).valid();
      inputs.push_back(patch.AddConstant(
          *new_bias, named ? graph.value(node.inputs[2]).name : Cat(node.name, "_bias")));
    }
    patch.Replace(user.outputs[0], patch.AddNode(node.schema, std::move(inputs), node.attributes));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeConvAffine() { return std::make_unique<ConvAffine>(); }

std::vector<FusionInfo> ConvAffineFusions() {
  std::vector<FusionInfo> out;
  for (const char* conv : {"Conv2d", "ConvTranspose2d"}) {
    using Mode = FusionSettings::Mode;
    out.push_back({Cat(conv, "+BatchNorm"), "ConvAffine",
                   "batch normalisation goes into weights and bias", Mode::kDefault});
    out.push_back({Cat(conv, "+Mul"), "ConvAffine", "a factor per channel goes into the weights",
                   Mode::kDefault});
    out.push_back({Cat(conv, "+BiasAdd"), "ConvAffine", "an addend per channel becomes the bias",
                   Mode::kConservative});
  }
  return out;
}

}  // namespace asc
