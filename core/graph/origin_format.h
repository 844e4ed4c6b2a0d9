// Origin formats: the layout in which the user thinks of a value, and how it goes from operands to results.
#ifndef ASC_CORE_GRAPH_ORIGIN_FORMAT_H_
#define ASC_CORE_GRAPH_ORIGIN_FORMAT_H_

#include "core/graph/graph.h"

namespace asc {

// What was said of the value; where nothing was, NCHW for rank 4, NCDHW for rank 5, else ND.
Format OriginFormatOf(const Value& value);

// Gives the node's results the formats that follow from its first operand: Transpose permutes the axes, operators that leave them in
// place hand the format on. The node must have been inferred.
void InferOriginFormats(Graph& graph, NodeId node);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_ORIGIN_FORMAT_H_
