// The one executable definition of a legal graph.
#ifndef ASC_CORE_GRAPH_VERIFY_H_
#define ASC_CORE_GRAPH_VERIFY_H_

#include "core/graph/graph.h"

namespace asc {

// Inference tries the body of a loop several times before it knows what holds in every iteration, and each try does so for the
// loops inside: deeper nesting, which no real model has, would take without end.
inline constexpr int kDeepestLoop = 6;

// How much must be known of the values.
enum class Facts : uint8_t {
  kPartial,  // while importing or building: types may be missing
  kFull,     // after inference: every value has its kind and element type
};

// Refuses (E5005; E5001 to E5003 and E5008 for facts that do not fit), naming the node or value, a
// graph in which
// - an id is dangling, a list of uses is not exact, a name is empty or taken twice,
// - the nodes are not acyclic (readers of a variable's version come before the node that overwrites
// it),
// - a node does not fit its schema: counts, element types, attributes, regions,
// - a region's last inputs do not match its captures, or the region itself is not legal,
// - regions nest deeper than 64 levels, or loops deeper than kDeepestLoop,
// - an output does not exist, or two outputs of the outermost graph share a name,
// - a variable's versions do not form one chain, each overwritten at most once,
// - a storage layout does not fit the value, or a blocked one crosses the border of a graph,
// - facts about a value contradict each other (the elements in `dims`, a constant's type).
Status Verify(const Graph& graph, Facts facts = Facts::kFull);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_VERIFY_H_
