#include "core/graph/builder.h"

#include <algorithm>

#include "core/graph/infer.h"
#include "core/graph/origin_format.h"

namespace asc {

Result<NodeId> BuildNode(Graph& graph, NodeSpec spec) {
  const OpSchema& schema = *spec.schema;
  const std::string base = spec.name.empty() ? schema.method : spec.name;
  const std::string value_base = spec.name.empty() ? schema.method + "_out" : spec.name;
  const auto is_foreign = [&](ValueId id) { return id.valid() && !graph.Has(id); };
  bool foreign = std::any_of(spec.inputs.begin(), spec.inputs.end(), is_foreign);
  for (const Region& region : spec.regions) foreign |= std::any_of(region.captures.begin(), region.captures.end(), is_foreign);
  if (foreign) {
    return InvalidArgument("an input of ", schema.FullName(), " is no value of this graph")
        .WithNode(base)
        .WithHint("build all operands in the same context");
  }
  const NodeId id = graph.AddNode(&schema, std::move(spec.inputs), spec.output_count, std::move(spec.attributes), base);
  Node& node = graph.node(id);
  node.scope = spec.scope;
  node.origins = {{node.name, spec.source}};
  for (const ValueId output : node.outputs) graph.RenameValue(output, value_base);
  for (Region& region : spec.regions) {
    graph.AddRegion(id, region.name, std::move(region.graph), std::move(region.captures));
  }
  if (Status status = InferNode(graph, id); !status.ok()) {
    graph.RemoveNode(id);
    return status;
  }
  InferOriginFormats(graph, id);
  return id;
}

}  // namespace asc
