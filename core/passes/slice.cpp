// SliceSimplification: a Slice of a Slice along other axes is one Slice.
#include <algorithm>

#include "core/ops/registry.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
// The arguments of a Slice that are constant; axes count from the front.
struct Cuts {
  std::vector<int64_t> starts, ends, axes, steps;
};

std::optional<Cuts> CutsOf(const Graph& graph, const Node& slice) {
  const Shape& shape = graph.value(slice.inputs[0]).type.shape;
  if (!shape.has_rank()) return std::nullopt;
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto starts = IntsConstant(graph, slice.inputs[1]),
             ends = IntsConstant(graph, slice.inputs[2]);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  Cuts cuts{*starts, *ends, {}, std::vector<int64_t>(starts->size(), 1)};
  for (size_t i = 0; i < starts->size(); ++i) cuts.axes.push_back(static_cast<int64_t>(i));
  for (const auto& [slot, to] : {std::pair{size_t{3}, &cuts.axes}, {size_t{4}, &cuts.steps}}) {
    if (!slice.input(slot).valid()) continue;
    const auto given = IntsConstant(graph, slice.input(slot));
    if (!given || given->size() != starts->size()) return std::nullopt;
    *to = *given;
  }
  for (int64_t& axis : cuts.axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  return cuts;
}

class SliceSimplification : public NodePass {
 public:
  std::string_view name() const override { return "SliceSimplification"; }

  void Visit(PassContext& context, const Node& node) override {
    const Graph& graph = context.graph();
    if (!node.Is("Slice")) return;
    const Node* inner = ProducerOf(graph, node.inputs[0], "Slice");
    if (inner == nullptr || context.Touched(inner->id) || IsVariable(graph, inner->inputs[0]))
      return;
    const auto outer_cuts = CutsOf(graph, node);
    auto cuts = CutsOf(graph, *inner);
    if (!cuts || !outer_cuts) return;
    for (const int64_t axis : outer_cuts->axes) {
      if (std::find(cuts->axes.begin(), cuts->axes.end(), axis) == cuts->axes.end()) continue;
      context.Reject("Slice+Slice", node, "both cut along one axis");
      return;
    }
    if (SoleUser(graph, node.inputs[0]) == nullptr) {
      context.Reject("Slice+Slice", node, "the value between them has other users");
      return;
    }
    const auto join = [](std::vector<int64_t>& to, const std::vector<int64_t>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    join(cuts->starts, outer_cuts->starts);
    join(cuts->ends, outer_cuts->ends);
    join(cuts->axes, outer_cuts->axes);
    join(cuts->steps, outer_cuts->steps);
    Patch patch("Slice+Slice", node);
    patch.Remove(node.id);
    patch.Remove(inner->id);
    std::vector<ValueId> inputs = {inner->inputs[0]};
    for (const auto& [name, values] : {std::pair{"starts", &cuts->starts},
                                       {"ends", &cuts->ends},
                                       {"axes", &cuts->axes},
                                       {"steps", &cuts->steps}}) {
      inputs.push_back(patch.AddConstant(FromInt64Vector(*values), Cat(node.name, "_", name)));
    }
    patch.Replace(node.outputs[0], patch.AddNode(node.schema, std::move(inputs)));
    context.Submit(patch);
  }
};
}  // namespace

std::unique_ptr<Pass> MakeSliceSimplification() { return std::make_unique<SliceSimplification>(); }

}  // namespace asc
