// ActivationRecomposition: activations that exporters write as several operators become one again:
// HardSigmoid, HardSwish, SiLU (Swish) and GELU in both forms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/product.h"

namespace asc {
namespace {
// An activation of `x` found at the end of a tree of nodes.
struct Found {
  std::string fusion, op;
  ValueId x;
  AttributeMap attributes;
  std::vector<NodeId> nodes;  // all of the tree, the root first
};

class Matcher {
 public:
  Matcher(const Graph& graph, const Node& root)
      : graph_(graph), root_(root), dtype_(graph.value(root.outputs[0]).type.dtype) {}

  std::optional<Found> Match() {
    const FlatProduct product = Flatten(graph_, root_.outputs[0]);
    if (root_.Is("Clip")) return HardSigmoidOfClip();
    if (product.nodes.empty()) return std::nullopt;
    if (product.factors.size() == 1) return ScaledClip(product);
    if (product.factors.size() != 2) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const ValueId x = product.factors[i], gate = product.factors[1 - i];
      if (SoleUser(graph_, gate) == nullptr) continue;
      nodes_ = product.nodes;
      if (auto found = Gate(x, gate, product.coefficient)) return found;
    }
    return std::nullopt;
  }

 private:
  bool Near(double value, double wanted) const { return NearlyEqual(value, wanted, dtype_); }

  // The node that makes a value which has no other user; counted to the tree.
  const Node* Inner(ValueId value, std::string_view op) {
    const Node* node = ProducerOf(graph_, value, op);
    if (node == nullptr || SoleUser(graph_, value) == nullptr) return nullptr;
    nodes_.push_back(node->id);
    return node;
  }

  Found Make(std::string_view fusion, std::string_view op, ValueId x) const {
    return Found{std::string(fusion), std::string(op), x, {}, nodes_};
  }

  // x * coefficient * gate(x).
  std::optional<Found> Gate(ValueId x, ValueId gate, double coefficient) {
    if (auto found = Sigmoid(x, gate, coefficient)) return found;
    if (auto found = HardGate(x, gate, coefficient)) return found;
    if (!Near(coefficient, 0.5)) return std::nullopt;
    const Node* sum = Inner(gate, "Add");
    const ValueId inner = sum == nullptr ? ValueId() : OtherAddend(graph_, *sum, 1);
    if (!inner.valid()) return std::nullopt;
    if (auto found = Erf(x, inner)) return found;
    return Tanh(x, inner);
  }

  std::optional<Found> Sigmoid(ValueId x, ValueId gate, double coefficient) {
    const Node* sigmoid = ProducerOf(graph_, gate, "Sigmoid");
    if (sigmoid == nullptr || coefficient != 1) return std::nullopt;
    nodes_.push_back(sigmoid->id);
    if (sigmoid->inputs[0] == x) return Make("SiLU", "Swish", x);
    if (SoleUser(graph_, sigmoid->inputs[0]) == nullptr) return std::nullopt;
    const FlatProduct inner = Flatten(graph_, sigmoid->inputs[0]);
    const auto alpha = static_cast<float>(inner.coefficient);
    if (!inner.IsMultipleOf(x) || (dtype_ == DataType::kFloat64 && alpha != inner.coefficient))
      return std::nullopt;
    nodes_.insert(nodes_.end(), inner.nodes.begin(), inner.nodes.end());
    Found found = Make("SiLU", "Swish", x);
    found.attributes.Set("alpha", alpha);
    return found;
  }

  // HardSigmoid(x) with the slope of HardSwish, as one node or as Clip(x + 3, 0, 6) / 6.
  std::optional<Found> HardGate(ValueId x, ValueId gate, double coefficient) {
    if (const Node* node = ProducerOf(graph_, gate, "HardSigmoid");
        node != nullptr && node->inputs[0] == x) {
      const bool same = Near(node->attributes.Float("alpha", 0.2f), 1.0 / 6) &&
                        Near(node->attributes.Float("beta", 0.5f), 0.5);
      if (!same || coefficient != 1) return std::nullopt;
      nodes_.push_back(node->id);
      return Make("HardSwish", "HardSwish", x);
    }
    if (ProducerOf(graph_, gate, "Clip") == nullptr || !Near(coefficient, 1.0 / 6))
      return std::nullopt;
    const size_t before = nodes_.size();
    if (ClipOfShifted(gate, 3, 6) == x) return Make("HardSwish", "HardSwish", x);
    nodes_.resize(before);
    return std::nullopt;
  }

  // x of Clip(x + shift, 0, high); invalid for other values.
  ValueId ClipOfShifted(ValueId value, double shift, double high) {
    const Node* clip = ProducerOf(graph_, value, "Clip");
    if (clip == nullptr) return ValueId();
    const auto low_bound = ScalarConstant(graph_, clip->input(1)),
               high_bound = ScalarConstant(graph_, clip->input(2));
    if (!low_bound || !high_bound || *low_bound != 0 || *high_bound != high) return ValueId();
    nodes_.push_back(clip->id);
    const Node* sum = Inner(clip->inputs[0], "Add");
    return sum == nullptr ? ValueId() : OtherAddend(graph_, *sum, shift);
  }

  Found HardSigmoid(ValueId x, float alpha, float beta) const {
    Found found = Make("HardSigmoid", "HardSigmoid", x);
    found.attributes.Set("alpha", alpha);
    found.attributes.Set("beta", beta);
    return found;
  }

  // Clip(x + 3, 0, 6) / 6.
  std::optional<Found> ScaledClip(const FlatProduct& product) {
    if (dtype_ == DataType::kFloat64 || !Near(product.coefficient, 1.0 / 6) ||
        SoleUser(graph_, product.factors[0]) == nullptr)
      return std::nullopt;
    nodes_ = product.nodes;
    const ValueId x = ClipOfShifted(product.factors[0], 3, 6);
    if (!x.valid() || IsGateOf(x)) return std::nullopt;
    return HardSigmoid(x, 1.0f / 6, 0.5f);
  }

  // The root is multiplied by x: then the whole is a HardSwish, found at that product.
  bool IsGateOf(ValueId x) const {
    const Node* user = SoleUser(graph_, root_.outputs[0]);
    return user != nullptr && user->Is("Mul") && (user->inputs[0] == x || user->inputs[1] == x);
  }

  // Clip(alpha * x + beta, 0, 1).
  std::optional<Found> HardSigmoidOfClip() {
    const auto low = ScalarConstant(graph_, root_.input(1)),
               high = ScalarConstant(graph_, root_.input(2));
    if (!low || !high || *low != 0 || *high != 1 || dtype_ == DataType::kFloat64)
      return std::nullopt;
    nodes_ = {root_.id};
    const Node* sum = Inner(root_.inputs[0], "Add");
    if (sum == nullptr) return std::nullopt;
    for (const size_t slot : {size_t{0}, size_t{1}}) {
      const auto beta = ScalarConstant(graph_, sum->inputs[slot]);
      const ValueId scaled = sum->inputs[1 - slot];
      if (!beta || SoleUser(graph_, scaled) == nullptr) continue;
      const FlatProduct inner = Flatten(graph_, scaled);
      if (inner.nodes.empty() || inner.factors.size() != 1) continue;
      nodes_.insert(nodes_.end(), inner.nodes.begin(), inner.nodes.end());
      return HardSigmoid(inner.factors[0], static_cast<float>(inner.coefficient),
                         static_cast<float>(*beta));
    }
    return std::nullopt;
  }

  // Erf(x / sqrt(2)).
  std::optional<Found> Erf(ValueId x, ValueId value) {
    if (ProducerOf(graph_, value, "Erf") == nullptr) return std::nullopt;
    const Node* erf = Inner(value, "Erf");
    if (erf == nullptr || SoleUser(graph_, erf->inputs[0]) == nullptr) return std::nullopt;
    const FlatProduct inner = Flatten(graph_, erf->inputs[0]);
    if (!inner.IsMultipleOf(x) || !Near(inner.coefficient, std::numbers::sqrt2 / 2))
      return std::nullopt;
    nodes_.insert(nodes_.end(), inner.nodes.begin(), inner.nodes.end());
    return Make("GELU", "Gelu", x);
  }

  // Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)), or with x * (1 + 0.044715 * x^2) inside.
  std::optional<Found> Tanh(ValueId x, ValueId value) {
    const Node* tanh = Inner(value, "Tanh");
    if (tanh == nullptr || SoleUser(graph_, tanh->inputs[0]) == nullptr) return std::nullopt;
    const FlatProduct outer = Flatten(graph_, tanh->inputs[0]);
    if (!Near(outer.coefficient, std::sqrt(2 / std::numbers::pi))) return std::nullopt;
    nodes_.insert(nodes_.end(), outer.nodes.begin(), outer.nodes.end());
    bool matched = false;
    if (outer.factors.size() == 1) {
      matched = Cubic(x, outer.factors[0], {x, x, x}, x);
    } else if (outer.factors.size() == 2 && (outer.factors[0] == x || outer.factors[1] == x)) {
      matched = Cubic(x, outer.factors[outer.factors[0] == x ? 1 : 0], {x, x}, ValueId());
    }
    if (!matched) return std::nullopt;
    Found found = Make("GELU", "Gelu", x);
    found.attributes.Set("approximate", std::string("tanh"));
    return found;
  }

  // A sum of `addend` (invalid: 1) and 0.044715 times the product of `powers`.
  bool Cubic(ValueId x, ValueId value, const std::vector<ValueId>& powers, ValueId addend) {
    const Node* sum = Inner(value, "Add");
    if (sum == nullptr) return false;
    ValueId cubic;
    if (!addend.valid()) {
      cubic = OtherAddend(graph_, *sum, 1);
    } else if (sum->inputs[0] == x || sum->inputs[1] == x) {
      cubic = sum->inputs[sum->inputs[0] == x ? 1 : 0];
    }
    if (!cubic.valid() || SoleUser(graph_, cubic) == nullptr) return false;
    const FlatProduct product = Flatten(graph_, cubic);
    if (product.factors != powers || !Near(product.coefficient, 0.044715)) return false;
    nodes_.insert(nodes_.end(), product.nodes.begin(), product.nodes.end());
    return true;
  }

  const Graph& graph_;
  const Node& root_;
  const DataType dtype_;
  std::vector<NodeId> nodes_;
};

class ActivationRecomposition : public NodePass {
 public:
  std::string_view name() const override { return "ActivationRecomposition"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("Mul") && !node.Is("Div") && !node.Is("Clip")) return;
    if (!types::kFloats.Contains(graph.value(node.outputs[0]).type.dtype)) return;
    const auto found = Matcher(graph, node).Match();
    if (!found || !SameType(graph.value(found->x), graph.value(node.outputs[0]))) return;
    if (std::any_of(found->nodes.begin(), found->nodes.end(),
                    [&](NodeId id) { return context.Touched(id); }))
      return;
    Patch patch(found->fusion, node);
    for (const NodeId id : found->nodes) patch.Remove(id);
    patch.Replace(node.outputs[0], patch.AddNode(OpRegistry::Global().Find("", found->op),
                                                 {found->x}, found->attributes));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeActivationRecomposition() {
  return std::make_unique<ActivationRecomposition>();
}

std::vector<FusionInfo> ActivationRecompositionFusions() {
  using Mode = FusionSettings::Mode;
  return {
      {"GELU", "ActivationRecomposition",
       "x * (1 + erf(x / sqrt(2))) / 2, or its form with tanh, is one operator", Mode::kDefault},
      {"HardSigmoid", "ActivationRecomposition", "clip(a * x + b, 0, 1) is one operator",
       Mode::kDefault},
      {"HardSwish", "ActivationRecomposition", "x * clip(x + 3, 0, 6) / 6 is one operator",
       Mode::kDefault},
      {"SiLU", "ActivationRecomposition", "x * sigmoid(a * x) is one operator", Mode::kDefault}};
}

}  // namespace asc
