// Graphs as Graphviz DOT: nodes with their operator, types and layouts; regions as clusters.
#ifndef ASC_CORE_GRAPH_DOT_H_
#define ASC_CORE_GRAPH_DOT_H_

#include <string>

#include "core/graph/graph.h"

namespace asc {

std::string ToDot(const Graph& graph);

}  // namespace asc

#endif  // ASC_CORE_GRAPH_DOT_H_
