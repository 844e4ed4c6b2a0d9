// NoOpElimination: a node that gives one of its inputs unchanged, bit by bit, is left out.
#include <algorithm>
#include <cmath>

#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
// All elements of the constant are equal to `wanted`, zeros by their sign too.
bool AllEqual(const Tensor* tensor, double wanted) {
  if (tensor == nullptr || !types::kNumeric.Contains(tensor->dtype())) return false;
  for (int64_t i = 0; i < tensor->size(); ++i) {
    const double value = ReadAsDouble(tensor->dtype(), tensor->raw(), i);
    if (value != wanted ||
        (IsFloat(tensor->dtype()) && std::signbit(value) != std::signbit(wanted)))
      return false;
  }
  return true;
}

bool AllInts(const Graph& graph, ValueId id, int64_t wanted) {
  const auto values = IntsConstant(graph, id);
  return values &&
         std::all_of(values->begin(), values->end(), [&](int64_t v) { return v == wanted; });
}

bool AllBool(const Tensor* tensor, bool wanted) {
  if (tensor == nullptr || tensor->dtype() != DataType::kBool) return false;
  const auto values = tensor->values<bool>();
  return std::all_of(values.begin(), values.end(), [&](bool v) { return v == wanted; });
}

// Which input comes out unchanged by arithmetic with a neutral constant; -1: none. Shapes and types
// are checked by the caller.
int NeutralOperand(const Graph& graph, const Node& node) {
  const auto neutral = [&](size_t constant, double wanted) {
    return AllEqual(graph.Constant(node.input(constant)), wanted);
  };
  const bool floats = node.inputs.size() == 2 && IsFloat(graph.value(node.inputs[0]).type.dtype);
  if (node.inputs.size() != 2) return -1;
  if (node.Is("Add")) {
    // x + 0 turns -0 into 0; x + -0 keeps both.
    const double zero = floats ? -0.0 : 0.0;
    return neutral(1, zero) ? 0 : neutral(0, zero) ? 1 : -1;
  }
  if (node.Is("Sub")) return neutral(1, 0.0) ? 0 : -1;  // x - 0 keeps -0, x - -0 would not
  if (node.Is("Mul")) return neutral(1, 1.0) ? 0 : neutral(0, 1.0) ? 1 : -1;
  if (node.Is("Div") || node.Is("Pow")) return neutral(1, 1.0) ? 0 : -1;
  const auto boolean = [&](bool wanted) {
    return AllBool(graph.Constant(node.input(1)), wanted)   ? 0
           : AllBool(graph.Constant(node.input(0)), wanted) ? 1
                                                            : -1;
  };
  if (node.Is("And")) return boolean(true);
  if (node.Is("Or") || node.Is("Xor")) return boolean(false);
  return -1;
}

bool IsInferenceDropout(const Graph& graph, const Node& node) {
  if (node.outputs.size() > 1 && node.outputs[1].valid()) return false;
  return !node.input(2).valid() || AllBool(graph.Constant(node.input(2)), false);
}

// True where the node gives its first input unchanged provided that type and shape are the same.
bool KeepsElements(const Graph& graph, const Node& node) {
  // Movement that keeps the order of elements whenever it keeps the shape.
  if (node.Is("Reshape") || node.Is("Flatten") || node.Is("Squeeze") || node.Is("Unsqueeze") ||
      node.Is("Expand") || node.Is("Cast") || node.Is("CastLike")) {
    return true;
  }
  if (node.Is("Transpose")) {
    const auto perm = node.attributes.Ints("perm");
    const Shape& shape = graph.value(node.inputs[0]).type.shape;
    if (perm.empty()) return shape.has_rank() && shape.rank() <= 1;
    return std::is_sorted(perm.begin(), perm.end());
  }
  if (node.Is("Slice")) {
    // Axes that are not known may be out of range, whatever the shape.
    const bool known_axes = !node.input(3).valid() || graph.Constant(node.input(3)) != nullptr;
    const Shape& shape = graph.value(node.inputs[0]).type.shape;
    return shape.has_rank() && shape.rank() > 0 && known_axes &&
           (!node.input(4).valid() || AllInts(graph, node.input(4), 1));
  }
  if (node.Is("Pad")) return AllInts(graph, node.input(1), 0);
  if (node.Is("Tile")) return AllInts(graph, node.input(1), 1);
  if (node.Is("Dropout")) return IsInferenceDropout(graph, node);
  if (node.Is("Concat") || node.Is("Max") || node.Is("Min") || node.Is("Sum") || node.Is("Mean")) {
    return node.inputs.size() == 1;
  }
  return false;
}

class NoOpElimination : public NodePass {
 public:
  std::string_view name() const override { return "NoOpElimination"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.input(0).valid() || !node.output(0).valid()) return;
    const size_t outputs = static_cast<size_t>(std::count_if(
        node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); }));
    if (outputs != 1) return;
    int kept = -1;
    if (node.Is("Identity")) {
      kept = 0;
    } else if (KeepsElements(graph, node)) {
      kept = SameType(graph.value(node.inputs[0]), graph.value(node.outputs[0])) ? 0 : -1;
    } else if (kept = NeutralOperand(graph, node); kept >= 0) {
      const Value& operand = graph.value(node.inputs[static_cast<size_t>(kept)]);
      if (!SameType(operand, graph.value(node.outputs[0]))) kept = -1;
    }
    if (kept < 0) return;
    const ValueId input = node.inputs[static_cast<size_t>(kept)];
    const std::string rule = Cat("No-op ", node.schema->name);
    if (IsVariable(graph, input)) {
      context.Reject(rule, node, "its input is a variable that may be overwritten");
      return;
    }
    Patch patch(rule, node);
    patch.Replace(node.outputs[0], input);
    patch.Remove(node.id);
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeNoOpElimination() { return std::make_unique<NoOpElimination>(); }

}  // namespace asc
