// Puts the nodes of a region into the graph that owns it.
#ifndef ASC_CORE_PASSES_INLINE_REGION_H_
#define ASC_CORE_PASSES_INLINE_REGION_H_

#include "core/graph/graph.h"

namespace asc {

// Empty where the region can take its node's place: it has no inputs but captures and no variables
// of its own, and as many outputs as the node; otherwise the reason why not.
std::string WhyNotInline(const Node& node, size_t region);

// Copies the region's nodes in, replaces the node's outputs by the region's and removes the node.
// Gives the new nodes. Only where WhyNotInline is empty.
std::vector<NodeId> InlineRegionGraph(Graph& graph, NodeId node, size_t region);

}  // namespace asc

#endif  // ASC_CORE_PASSES_INLINE_REGION_H_
