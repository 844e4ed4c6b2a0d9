// Building a graph one operator at a time, checked as it grows: what contexts and importers use.
#ifndef ASC_CORE_GRAPH_BUILDER_H_
#define ASC_CORE_GRAPH_BUILDER_H_

#include "core/graph/graph.h"

namespace asc {

struct NodeSpec {
  const OpSchema* schema = nullptr;
  std::vector<ValueId> inputs;  // invalid ids: absent optional inputs
  size_t output_count = 1;
  AttributeMap attributes;
  std::string name;             // empty: "<method>_out" names of outputs, numbered
  std::string source;           // "file.py:12" of the user's call
  int scope = 0;
  std::vector<Region> regions;  // for operators that have some
};

// Adds the node, checks it against its schema and infers its outputs and their origin formats. Its outputs are named `name` where given (`name`, name_1
// ... for several), else `<method>_out`. On failure the graph is as before and the Status carries the node's name.
Result<NodeId> BuildNode(Graph& graph, NodeSpec spec);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_BUILDER_H_
