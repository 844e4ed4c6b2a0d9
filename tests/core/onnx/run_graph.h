// Runs an imported graph node by node with the reference kernels: no passes, no plan.
#ifndef ASC_TESTS_CORE_ONNX_RUN_GRAPH_H_
#define ASC_TESTS_CORE_ONNX_RUN_GRAPH_H_

#include <map>
#include <string>

#include "core/graph/graph.h"

namespace asc::onnx {

// Outputs by name. Graphs with regions are refused.
Result<std::map<std::string, AnyValue>> RunGraph(const Graph& graph,
                                                 const std::map<std::string, AnyValue>& inputs);

}  // namespace asc::onnx

#endif  // ASC_TESTS_CORE_ONNX_RUN_GRAPH_H_
