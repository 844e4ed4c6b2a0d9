#include "tests/core/onnx/run_graph.h"

#include "core/ops/evaluate.h"

namespace asc::onnx {

Result<std::map<std::string, AnyValue>> RunGraph(const Graph& graph,
                                                 const std::map<std::string, AnyValue>& inputs) {
  std::vector<AnyValue> values(graph.value_bound());
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    if (value.is_constant()) values[static_cast<size_t>(id.index)] = value.constant;
    if (value.source == ValueSource::kInput) {
      const auto given = inputs.find(value.name);
      if (given == inputs.end()) return InvalidArgument("no input '", value.name, "'");
      values[static_cast<size_t>(id.index)] = given->second;
    }
  }
  RunState run;
  run.allocator = HostAllocator();
  ASC_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    std::vector<const AnyValue*> arguments;
    for (const ValueId input : node.inputs) {
      arguments.push_back(input.valid() ? &values[static_cast<size_t>(input.index)] : nullptr);
    }
    Result<std::vector<AnyValue>> results =
        Evaluate(*node.schema, node.attributes, arguments, node.outputs.size(), run);
    if (!results.ok()) return std::move(results).status().WithNode(node.name);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      values[static_cast<size_t>(node.outputs[i].index)] = std::move((*results)[i]);
    }
  }
  std::map<std::string, AnyValue> outputs;
  for (const GraphOutput& output : graph.outputs()) {
    outputs[output.name] = values[static_cast<size_t>(output.value.index)];
  }
  return outputs;
}

}  // namespace asc::onnx
