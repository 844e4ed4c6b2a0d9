#include "core/graph/builder.h"

#include "core/graph/infer.h"

namespace asc {

Result<NodeId> BuildNode(Graph& graph, NodeSpec spec) {
  const OpSchema& schema = *spec.schema;
  const std::string base = spec.name.empty() ? schema.method : spec.name;
  const std::string value_base = spec.name.empty() ? schema.method + "_out" : spec.name;
  for (const ValueId input : spec.inputs) {
    if (input.valid() && !graph.Has(input)) {
      return InvalidArgument("an input of ", schema.FullName(), " is no value of this graph")
          .WithNode(base)
          .WithHint("build all operands in the same context");
    }
  }
  const NodeId id = graph.AddNode(&schema, std::move(spec.inputs), spec.output_count, std::move(spec.attributes), base);
  Node& node = graph.node(id);
  node.scope = spec.scope;
  node.origins = {{node.name, spec.source}};
  for (const ValueId output : node.outputs) graph.RenameValue(output, value_base);
  if (Status status = InferNode(graph, id); !status.ok()) {
    graph.RemoveNode(id);
    return status;
  }
  return id;
}

}  // namespace asc
