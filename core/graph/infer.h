// Runs shape rules over nodes and graphs and writes the facts into their values.
#ifndef ASC_CORE_GRAPH_INFER_H_
#define ASC_CORE_GRAPH_INFER_H_

#include "core/graph/graph.h"

namespace asc {

// Checks the node against its schema (filling in attribute defaults) and infers the types of its outputs, regions included.
// Facts that the outputs have already (declared by the user) are merged: a sure contradiction is E5001 or E5002. Errors carry
// the node's origin.
Status InferNode(Graph& graph, NodeId node);

// InferNode in topological order, over the whole graph.
Status InferGraph(Graph& graph);

// The more exact of two facts about one value, `a` the newer one; constants win over named symbols, named symbols over unknowns,
// an old unknown over a new one. E5001/E5002 on a
// sure contradiction (5 against 6, float32 against int64).
Result<ValueType> MergeTypes(const ValueType& a, const ValueType& b);

// The inputs' facts as inference wants them. The pointers live as long as the graph is not changed.
std::vector<InferInput> InferInputsOf(const Graph& graph, const Node& node);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_INFER_H_
