// LayerNormRecomposition: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias over the
// last axes becomes one LayerNormalization.
#include <algorithm>
#include <cmath>

#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
constexpr std::string_view kFusion = "LayerNorm";

struct Found {
  ValueId x, scale, bias, result;
  int64_t axis = 0;  // the first normalised one, negative
  float epsilon = 0;
  std::vector<NodeId> nodes;
};

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  // `node` divides the deviation by the standard deviation.
  std::optional<Found> Match(const Node& node) {
    const ValueId deviation = node.inputs[0];
    const Node* subtract = ProducerOf(graph_, deviation, "Sub");
    if (subtract == nullptr) return std::nullopt;
    found_.x = subtract->inputs[0];
    const Node* mean = ProducerOf(graph_, subtract->inputs[1], "ReduceMean");
    const auto axis = mean == nullptr ? std::nullopt : LastAxes(*mean);
    if (!axis || mean->inputs[0] != found_.x || SoleUser(graph_, mean->outputs[0]) == nullptr)
      return std::nullopt;
    found_.axis = *axis;
    const Node* root = ProducerOf(graph_, node.inputs[1], "Sqrt");
    if (root == nullptr || SoleUser(graph_, root->outputs[0]) == nullptr) return std::nullopt;
    const Node* sum = ProducerOf(graph_, root->inputs[0], "Add");
    if (sum == nullptr || SoleUser(graph_, sum->outputs[0]) == nullptr) return std::nullopt;
    found_.nodes = {node.id, subtract->id, mean->id, root->id, sum->id};
    if (!Variance(*sum, deviation)) return std::nullopt;
    // All users of the deviation are in the pattern.
    const Value& inner = graph_.value(deviation);
    if (graph_.IsOutput(deviation) || std::any_of(inner.uses.begin(), inner.uses.end(),
                                                  [&](const Use& use) { return !Has(use.node); })) {
      return std::nullopt;
    }
    if (!ScaleAndBias(node.outputs[0])) return std::nullopt;
    return found_;
  }

 private:
  bool Has(NodeId id) const {
    return std::find(found_.nodes.begin(), found_.nodes.end(), id) != found_.nodes.end();
  }

  // The first axis (negative) of a mean over the last ones that keeps their extents as 1; nullopt
  // for other means.
  std::optional<int64_t> LastAxes(const Node& mean) const {
    const Shape& shape = graph_.value(mean.inputs[0]).type.shape;
    if (!shape.has_rank() || mean.attributes.Int("keepdims", 1) == 0) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape.rank());
    auto axes = mean.input(1).valid() ? IntsConstant(graph_, mean.input(1)) : std::nullopt;
    if (!axes || axes->empty()) return std::nullopt;
    for (int64_t& axis : *axes) axis = axis < 0 ? axis : axis - rank;
    std::sort(axes->begin(), axes->end());
    for (size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i] != static_cast<int64_t>(i) - static_cast<int64_t>(axes->size()))
        return std::nullopt;
    }
    return axes->front();
  }

  // sum = mean(deviation^2) + epsilon.
  bool Variance(const Node& sum, ValueId deviation) {
    for (const size_t slot : {size_t{0}, size_t{1}}) {
      const auto epsilon = ScalarConstant(graph_, sum.inputs[slot]);
      const Node* mean = ProducerOf(graph_, sum.inputs[1 - slot], "ReduceMean");
      if (!epsilon || mean == nullptr || SoleUser(graph_, mean->outputs[0]) == nullptr) continue;
      const auto axis = LastAxes(*mean);
      const Node* square = graph_.Producer(mean->inputs[0]);
      if (!axis || *axis != found_.axis || square == nullptr ||
          SoleUser(graph_, mean->inputs[0]) == nullptr)
        return false;
      const bool pow = square->Is("Pow") && ScalarConstant(graph_, square->inputs[1]) == 2.0;
      const bool mul = square->Is("Mul") && square->inputs[1] == deviation;
      if ((!pow && !mul) || square->inputs[0] != deviation) return false;
      found_.epsilon = static_cast<float>(*epsilon);
      found_.nodes.push_back(mean->id);
      found_.nodes.push_back(square->id);
      return true;
    }
    return false;
  }

  // The value has the shape of the normalised axes.
  bool FitsAxes(ValueId value) const {
    const Shape& shape = graph_.value(value).type.shape;
    const Shape& x = graph_.value(found_.x).type.shape;
    if (!shape.has_rank() || static_cast<int64_t>(shape.rank()) != -found_.axis) return false;
    if (graph_.value(value).type.dtype != graph_.value(found_.x).type.dtype) return false;
    return std::equal(shape.dims().begin(), shape.dims().end(), x.dims().end() + found_.axis);
  }

  // The operand of the value's one user, if that is `op`, which has the shape of the normalised
  // axes.
  const Node* Follow(ValueId value, std::string_view op, ValueId& operand) const {
    const Node* user = SoleUser(graph_, value);
    if (user == nullptr || !user->Is(op) || user->inputs.size() != 2) return nullptr;
    operand = user->inputs[user->inputs[0] == value ? 1 : 0];
    return FitsAxes(operand) ? user : nullptr;
  }

  bool ScaleAndBias(ValueId normalized) {
    const Node* scale = Follow(normalized, "Mul", found_.scale);
    if (scale == nullptr) return false;
    found_.nodes.push_back(scale->id);
    found_.result = scale->outputs[0];
    ValueId bias;
    if (const Node* add = Follow(found_.result, "Add", bias)) {
      found_.nodes.push_back(add->id);
      found_.result = add->outputs[0];
      found_.bias = bias;
    }
    return true;
  }

  const Graph& graph_;
  Found found_;
};

class LayerNormRecomposition : public NodePass {
 public:
  std::string_view name() const override { return "LayerNormRecomposition"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("Div") || !types::kFloats.Contains(graph.value(node.outputs[0]).type.dtype))
      return;
    const auto found = Matcher(graph).Match(node);
    if (!found || IsVariable(graph, found->x)) return;
    if (!SameType(graph.value(found->x), graph.value(found->result))) {
      context.Reject(kFusion, node, "scale or bias make the result larger than the input");
      return;
    }
    Patch patch(kFusion, node);
    for (const NodeId id : found->nodes) patch.Remove(id);
    AttributeMap attributes;
    attributes.Set("axis", found->axis);
    attributes.Set("epsilon", found->epsilon);
    std::vector<ValueId> inputs = {found->x, found->scale};
    if (found->bias.valid()) inputs.push_back(found->bias);
    patch.Replace(found->result, patch.AddNode(OpRegistry::Global().Find("", "LayerNormalization"),
                                               std::move(inputs), std::move(attributes)));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeLayerNormRecomposition() {
  return std::make_unique<LayerNormRecomposition>();
}

std::vector<FusionInfo> LayerNormRecompositionFusions() {
  return {{"LayerNorm", "LayerNormRecomposition",
           "normalisation over the last axes written as means, squares and root is one operator",
           FusionSettings::Mode::kDefault}};
}

}  // namespace asc
