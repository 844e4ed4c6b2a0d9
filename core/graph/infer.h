// Runs shape rules over nodes and graphs and writes the facts into their values.
#ifndef ASC_CORE_GRAPH_INFER_H_
#define ASC_CORE_GRAPH_INFER_H_

#include "core/graph/graph.h"

namespace asc {

// Whether a node runs in every run: those of a branch of If perhaps do not. Shapes that contradict each other there are refused
// by the run that comes to them; till then nothing is known of the node's shapes.
enum class Reached : uint8_t { kSurely, kPerhaps };

// False where the condition of If is known and selects the branch ("then_branch" or "else_branch"). `condition`: null when not known.
bool MayBeSkipped(const Tensor* condition, std::string_view branch);

// Checks the node against its schema (filling in attribute defaults) and infers the types of its outputs, regions included.
// Facts that the outputs have already (declared by the user) are merged: a sure contradiction is E5001 or E5002. Errors carry
// the node's origin.
Status InferNode(Graph& graph, NodeId node, Reached reached = Reached::kSurely);

// InferNode in topological order, over the whole graph.
Status InferGraph(Graph& graph, Reached reached = Reached::kSurely);

// The more exact of two facts about one value, `a` the newer one; constants win over named symbols, named symbols over unknowns,
// an old unknown over a new one. E5001/E5002 on a
// sure contradiction (5 against 6, float32 against int64).
Result<ValueType> MergeTypes(const ValueType& a, const ValueType& b);

// The inputs' facts as inference wants them. The pointers live as long as the graph is not changed.
std::vector<InferInput> InferInputsOf(const Graph& graph, const Node& node);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_INFER_H_
