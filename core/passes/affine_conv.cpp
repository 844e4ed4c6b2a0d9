// AffineConv: what scales and shifts the channels that a convolution with constant weights and
// without padding reads goes into weights and bias: Mul, Add and Sub by constants for each channel
// or one for all. (With padding, zeros would stand beside shifted values.)
#include <algorithm>
#include <cmath>

#include "core/passes/channels.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
// Larger weights are left in their file.
constexpr size_t kMostBytes = 4 << 20;

bool IsPadded(const Node& conv) {
  const std::string mode = conv.attributes.String("auto_pad", "NOTSET");
  if (mode == "VALID") return false;
  const std::vector<int64_t> pads = conv.attributes.Ints("pads");
  return mode != "NOTSET" ||
         std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
}

// x * scale + shift of each channel, one of them for all 1 or 0.
struct Change {
  ValueId x;
  std::vector<double> scale, shift;
  std::string_view part;
};

std::optional<Change> ChangeOf(const Graph& graph, const Node& node, const Value& result,
                               int64_t channels) {
  const bool mul = node.Is("Mul"), add = node.Is("Add"), sub = node.Is("Sub");
  if (!(mul || add || sub) || node.inputs[0] == node.inputs[1]) return std::nullopt;
  for (const size_t slot : {size_t{1}, size_t{0}}) {
    const Tensor* constant = graph.Constant(node.inputs[slot]);
    const ValueId x = node.inputs[1 - slot];
    if (constant == nullptr || !SameType(graph.value(x), result)) continue;
    const auto values = PerChannel(*constant, result.type.shape.rank(), channels);
    if (!values) return std::nullopt;
    Change change{x, std::vector<double>(values->size(), 1), std::vector<double>(values->size(), 0),
                  mul ? "Mul" : "BiasAdd"};
    if (mul) {
      change.scale = *values;
    } else {
      change.shift = *values;
    }
    if (sub && slot == 0) std::fill(change.scale.begin(), change.scale.end(), -1.0);
    if (sub && slot == 1) {
      for (double& v : change.shift) v = -v;
    }
    return change;
  }
  return std::nullopt;
}

class AffineConv : public NodePass {
 public:
  std::string_view name() const override { return "AffineConv"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("Conv") || IsPadded(node)) return;
    const auto conv = ConvPartsOf(graph, node);
    if (!conv || conv->weight == nullptr || conv->weight->bytes() > kMostBytes) return;
    const Tensor& weight = *conv->weight;
    const Node* before = graph.Producer(node.inputs[0]);
    if (before == nullptr || conv->dtype != weight.dtype() || weight.rank() < 3) return;
    const int64_t in_group = weight.dim(1), channels = in_group * conv->groups;
    const Value& result = graph.value(node.inputs[0]);
    const auto change = ChangeOf(graph, *before, result, channels);
    if (!change || IsVariable(graph, change->x)) return;
    const std::string fusion = Cat(change->part, "+", node.schema->fusion);
    if (SoleUser(graph, node.inputs[0]) == nullptr) {
      context.Reject(fusion, node,
                     Cat("value '", result.name, "' has other users or is a graph output"));
      return;
    }
    const NodeId both[] = {node.id, before->id};
    if (!context.Allows(fusion, node, both)) return;
    Submit(context, *conv, *before, *change, fusion);
  }

 private:
  static void Submit(PassContext& context, const ConvParts& conv, const Node& before,
                     const Change& change, const std::string& fusion) {
    const Graph& graph = context.graph();
    const Node& node = *conv.node;
    const Tensor& weight = *conv.weight;
    const int64_t in_group = weight.dim(1), filters = weight.dim(0) / conv.groups,
                  taps = ElementCount(weight.dims(), 2, weight.rank());
    const bool scales =
        std::any_of(change.scale.begin(), change.scale.end(), [](double v) { return v != 1; });
    std::vector<double> bias(static_cast<size_t>(conv.channels), 0), scaled;
    if (conv.bias != nullptr) bias = *VectorValues(conv.bias, conv.channels);
    if (scales) scaled.resize(static_cast<size_t>(weight.size()));
    VisitFloats(weight.dtype(), [&](auto zero) {
      const auto* w = weight.data<decltype(zero)>();
      double* to = scaled.data();
      for (int64_t filter = 0; filter < weight.dim(0); ++filter) {
        for (int64_t i = 0; i < in_group; ++i, w += taps) {
          const auto channel = static_cast<size_t>(filter / filters * in_group + i);
          double sum = 0;
          for (int64_t t = 0; t < taps; ++t) sum += static_cast<double>(w[t]);
          bias[static_cast<size_t>(filter)] += sum * change.shift[channel];
          if (!scales) continue;
          for (int64_t t = 0; t < taps; ++t)
            *to++ = static_cast<double>(w[t]) * change.scale[channel];
        }
      }
    });
    const auto new_bias = MakeVector(conv.dtype, bias), flat = MakeVector(conv.dtype, scaled);
    if (!new_bias || !flat) {
      context.Reject(fusion, node, "the folded weights would not be finite");
      return;
    }
    Patch patch(fusion, node);
    patch.Remove(node.id);
    patch.Remove(before.id);
    ValueId w = node.inputs[1];
    if (scales) {
      w = patch.AddConstant(
          Tensor::Unchecked(conv.dtype, weight.dims(), flat->buffer(), flat->offset()),
          graph.value(w).name);
    }
    std::vector<ValueId> inputs = {change.x, w};
    if (node.input(2).valid() ||
        std::any_of(bias.begin(), bias.end(), [](double v) { return v != 0; })) {
      const bool named = node.input(2).valid();
      inputs.push_back(patch.AddConstant(
          *new_bias, named ? graph.value(node.inputs[2]).name : Cat(node.name, "_bias")));
    }
    patch.Replace(node.outputs[0], patch.AddNode(node.schema, std::move(inputs), node.attributes));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeAffineConv() { return std::make_unique<AffineConv>(); }

std::vector<FusionInfo> AffineConvFusions() {
  using Mode = FusionSettings::Mode;
  return {{"Mul+Conv2d", "AffineConv", "a factor per channel of what is read goes into the weights",
           Mode::kDefault},
          {"BiasAdd+Conv2d", "AffineConv",
           "an addend per channel of what is read goes into the bias", Mode::kDefault}};
}

}  // namespace asc
