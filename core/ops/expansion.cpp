#include "core/ops/expansion.h"

#include <algorithm>

#include "core/graph/infer.h"
#include "core/ops/registry.h"
#include "core/ops/scalar.h"

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

Result<size_t> Expansion::Rank(ValueId value, std::string_view what) const {
  if (!value.valid()) return InvalidArgument("there is no ", what);
  if (!shape(value).has_rank()) return InvalidArgument("the rank of its ", what, " is not known");
  return shape(value).rank();
}

ValueId Expansion::Add(std::string_view op, std::vector<ValueId> inputs, AttributeMap attributes) {
  if (!status_.ok()) return ValueId();
  const OpSchema* const schema = OpRegistry::Global().Find("", op);
  if (schema == nullptr) {
    Fail(InternalError("there is no operator ", op));
    return ValueId();
  }
  const NodeId made = graph_.AddNode(schema, std::move(inputs), 1, std::move(attributes),
                                     graph_.UniqueNodeName(Cat(node().name, "/", op)));
  graph_.node(made).origins = node().origins;
  graph_.node(made).scope = node().scope;
  Fail(InferNode(graph_, made));
  made_.push_back(graph_.node(made).outputs[0]);
  return made_.back();
}

ValueId Expansion::Constant(Tensor tensor) {
  if (!status_.ok()) return ValueId();
  return graph_.AddConstant(graph_.UniqueValueName(Cat(node().name, "/constant")),
                            std::move(tensor));
}

ValueId Expansion::Scalar(DataType type, double value) {
  Result<Tensor> scalar = ScalarOf(type, value);
  if (scalar.ok()) return Constant(std::move(scalar).value());
  Fail(std::move(scalar).status());
  return ValueId();
}

ValueId Expansion::Ints(const std::vector<int64_t>& values) {
  return Constant(FromInt64Vector(values));
}

ValueId Expansion::Cast(ValueId value, DataType type) {
  if (!status_.ok() || dtype(value) == type) return value;
  return Add("Cast", {value}, "to", static_cast<int64_t>(type));
}

void Expansion::Replace(size_t i, ValueId by) {
  if (!status_.ok() || !node().output(i).valid()) return;
  const ValueId old = node().outputs[i];
  graph_.ReplaceUses(old, by);
  if (std::find(made_.begin(), made_.end(), by) == made_.end()) return;
  const std::string name = graph_.value(old).name;
  graph_.RenameValue(old, graph_.UniqueValueName(name + "/expanded"));
  graph_.RenameValue(by, name);
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
