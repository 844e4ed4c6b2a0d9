// ReshapeSimplification: Flatten, Squeeze and Unsqueeze become Reshape, and a chain of these
// becomes one.
#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/reshape_target.h"

namespace asc {
namespace {
bool IsView(const Node& node) {
  return node.Is("Reshape") || node.Is("Flatten") || node.Is("Squeeze") || node.Is("Unsqueeze");
}

class ReshapeSimplification : public NodePass {
 public:
  std::string_view name() const override { return "ReshapeSimplification"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!IsView(node) || !graph.value(node.inputs[0]).type.is_tensor()) return;
    // The first value of the chain; what lies between stays where something else uses it.
    ValueId source = node.inputs[0];
    for (const Node* before = graph.Producer(source);
         before != nullptr && IsView(*before) && !context.Touched(before->id);
         before = graph.Producer(source)) {
      source = before->inputs[0];
    }
    const bool chain = source != node.inputs[0];
    // Where the target is computed but the shape is known, the computation is not needed.
    const bool computed = node.Is("Reshape") && graph.Constant(node.inputs[1]) == nullptr;
    if (node.Is("Reshape") && !chain && !computed) return;
    // The longest chain whose result can be said in terms of its source.
    std::optional<Tensor> target;
    for (ValueId at = source;;) {
      target = ReshapeTarget(graph.value(at).type.shape, graph.value(node.outputs[0]).type.shape);
      if (target || at == node.inputs[0]) {
        source = at;
        break;
      }
      at = NextInChain(graph, node, at);
    }
    const std::string rule = source != node.inputs[0] ? "Chain of reshapes"
                             : computed               ? "Reshape to a known shape"
                                                      : Cat(node.schema->name, " as Reshape");
    if (!target) {
      context.Reject(rule, node,
                     Cat("the result's shape ", graph.value(node.outputs[0]).type.shape,
                         " is not known well enough"));
      return;
    }
    if (node.Is("Reshape") && source == node.inputs[0] && !computed) return;
    if (IsVariable(graph, source)) return;
    Patch patch(rule, node);
    patch.Remove(node.id);
    const ValueId shape = patch.AddConstant(*std::move(target), Cat(node.name, "_shape"));
    patch.Replace(node.outputs[0],
                  patch.AddNode(OpRegistry::Global().Find("", "Reshape"), {source, shape}));
    context.Submit(patch);
  }

 private:
  // The value after `at` on the way to the node.
  static ValueId NextInChain(const Graph& graph, const Node& node, ValueId at) {
    ValueId value = node.inputs[0];
    while (graph.Producer(value)->inputs[0] != at) value = graph.Producer(value)->inputs[0];
    return value;
  }
};
}  // namespace

std::unique_ptr<Pass> MakeReshapeSimplification() {
  return std::make_unique<ReshapeSimplification>();
}

std::optional<Tensor> ReshapeTarget(const Shape& from, const Shape& to) {
  if (!from.has_rank() || !to.has_rank()) return std::nullopt;
  std::vector<int64_t> target;
  std::optional<size_t> open;
  bool copies = false;
  for (size_t i = 0; i < to.rank(); ++i) {
    if (to[i].is_constant()) {
      // An extent of zero cannot be told from "copy", nor does it let another extent be inferred.
      if (to[i].value() == 0) return std::nullopt;
      target.push_back(to[i].value());
    } else if (i < from.rank() && from[i] == to[i]) {
      target.push_back(0);
      copies = true;
    } else {
      if (open) return std::nullopt;
      open = i;
      target.push_back(-1);
    }
  }
  // A Reshape that says all extents refuses another number of elements; one that leaves some to the
  // source must be sure of it, or what the chain would have refused gets some other shape.
  if ((open || copies) && from.ElementCount() != to.ElementCount()) return std::nullopt;
  if (open) {
    // Reshape divides the source's extents that are not copied by those that are given. Where
    // extents are copied this must be the very expression: they may be zero at run time, and then
    // the number of elements says nothing.
    Dim left(1), made(1);
    for (const int64_t extent : target) {
      if (extent > 0) made = made * Dim(extent);
    }
    for (size_t i = 0; i < from.rank(); ++i) {
      if (i >= target.size() || target[i] != 0) left = left * from[i];
    }
    if (copies && Dim::FloorDiv(left, made) != to[*open]) return std::nullopt;
  }
  return FromInt64Vector(target);
}

}  // namespace asc
