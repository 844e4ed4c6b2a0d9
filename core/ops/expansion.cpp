#include "core/ops/expansion.h"

#include <algorithm>

namespace asc {
namespace {
struct Row {
  std::string_view op;  // of domain "asc"
  ExpandFn expand;
};
constexpr Row kRows[] = {
    {"FusedAttention", ExpandFusedAttention}, {"FusedConv", ExpandFusedConv},
    {"FusedMatMul", ExpandFusedMatMul},       {"TransData", ExpandTransData},
    {"VectorProgram", ExpandVectorProgram},
};

Status ExpandNode(Graph& graph, NodeId id, ExpandFn expand) {
  Expansion expansion(graph, id);
  Status status = expand(expansion);
  if (status.ok()) status = expansion.status();
  if (!status.ok()) {
    const Node& node = graph.node(id);
    return std::move(status)
        .WithContext(Cat("cannot express ", node.schema->FullName(), " in ONNX's operators"))
        .WithNode(node.OriginText());
  }
  graph.RemoveNode(id);
  return Ok();
}
}  // namespace

void Expansion::Replace(size_t i, ValueId by) {
  if (!ok() || !node().output(i).valid()) return;
  const ValueId old = node().outputs[i];
  mutable_graph().ReplaceUses(old, by);
  if (!Wrote(by)) return;
  const std::string name = graph().value(old).name;
  mutable_graph().RenameValue(old, graph().UniqueValueName(name + "/expanded"));
  mutable_graph().RenameValue(by, name);
}

ExpandFn FindExpansion(const OpSchema& schema) {
  if (schema.domain != "asc") return nullptr;
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& each) { return each.op == schema.name; });
  return row == std::end(kRows) ? nullptr : row->expand;
}

bool NeedsExpansion(const Graph& graph) {
  for (const NodeId id : graph.Nodes()) {
    const Node& node = graph.node(id);
    if (FindExpansion(*node.schema) != nullptr) return true;
    for (const Region& region : node.regions) {
      if (NeedsExpansion(*region.graph)) return true;
    }
  }
  return false;
}

Status ExpandToOnnx(Graph& graph) {
  for (const NodeId id : graph.Nodes()) {
    for (Region& region : graph.node(id).regions) ASC_RETURN_IF_ERROR(ExpandToOnnx(*region.graph));
    const ExpandFn expand = FindExpansion(*graph.node(id).schema);
    if (expand != nullptr) ASC_RETURN_IF_ERROR(ExpandNode(graph, id, expand));
  }
  return Ok();
}

}  // namespace asc
