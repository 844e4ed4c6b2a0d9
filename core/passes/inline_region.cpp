#include "core/passes/inline_region.h"

namespace asc {

std::string WhyNotInline(const Node& node, size_t region_index) {
  const Region& region = node.regions[region_index];
  const Graph& body = *region.graph;
  if (body.inputs().size() != region.captures.size()) return "the region has inputs of its own";
  if (!body.variables().empty()) return "the region has variables of its own";
  if (body.outputs().size() < node.outputs.size()) return "the region has too few outputs";
  return "";
}

std::vector<NodeId> InlineRegionGraph(Graph& graph, NodeId node_id, size_t region_index) {
  // Taken out first: adding nodes does not move it, but the owner goes away in the end.
  const std::unique_ptr<Graph> body = std::move(graph.node(node_id).regions[region_index].graph);
  const std::vector<ValueId> captures = graph.node(node_id).regions[region_index].captures;
  const std::vector<Origin> owner_origins = graph.node(node_id).origins;
  const int owner_scope = graph.node(node_id).scope;
  std::vector<ValueId> outer(body->value_bound());
  const auto at = [&](ValueId inner) -> ValueId& {
    return outer[static_cast<size_t>(inner.index)];
  };
  for (size_t i = 0; i < captures.size(); ++i) at(body->inputs()[i]) = captures[i];
  for (const ValueId id : body->Values()) {
    const Value& value = body->value(id);
    if (value.is_constant()) at(id) = graph.AddConstant(value.name, value.constant);
  }
  std::vector<NodeId> added;
  const Result<std::vector<NodeId>> order = body->TopologicalOrder();
  for (const NodeId inner_id : order.ok() ? *order : body->Nodes()) {
    Node& inner = body->node(inner_id);
    std::vector<ValueId> inputs;
    for (const ValueId input : inner.inputs)
      inputs.push_back(input.valid() ? at(input) : ValueId());
    const NodeId id = graph.AddNode(inner.schema, std::move(inputs), inner.outputs.size(),
                                    inner.attributes, inner.name);
    added.push_back(id);
    graph.node(id).origins = inner.origins.empty() ? owner_origins : inner.origins;
    graph.node(id).scope = inner.scope != 0 ? inner.scope : owner_scope;
    for (size_t i = 0; i < inner.outputs.size(); ++i) {
      if (!inner.outputs[i].valid()) continue;
      const ValueId copy = graph.node(id).outputs[i];
      at(inner.outputs[i]) = copy;
      const Value& from = body->value(inner.outputs[i]);
      graph.RenameValue(copy, from.name);
      Value& to = graph.value(copy);
      to.type = from.type;
      to.dims = from.dims;
      to.origin_format = from.origin_format;
    }
    for (size_t i = inner.outputs.size(); i-- > 0;) {
      if (!inner.outputs[i].valid()) graph.RemoveOutput(id, i);
    }
    for (Region& region : inner.regions) {
      std::vector<ValueId> moved;
      for (const ValueId capture : region.captures) moved.push_back(at(capture));
      graph.AddRegion(id, region.name, std::move(region.graph), std::move(moved));
    }
  }
  const std::vector<ValueId> outputs = graph.node(node_id).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].valid()) graph.ReplaceUses(outputs[i], at(body->outputs()[i].value));
  }
  graph.RemoveNode(node_id);
  return added;
}

}  // namespace asc
