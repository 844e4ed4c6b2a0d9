// An order in which nodes can be built, whatever order they are written in.
#ifndef ASC_CORE_ONNX_NODE_ORDER_H_
#define ASC_CORE_ONNX_NODE_ORDER_H_

#include <string>
#include <vector>

#include "core/onnx/imported_model.h"

namespace asc::onnx {

// The names that the graph uses and does not make itself, in order of first use, without doubles.
std::vector<std::string> FreeNames(const ImportedGraph& graph);

// Producers before users (values that regions use included), otherwise in the order given. E5005
// naming a node: a value made twice, or nodes that wait for each other.
Result<std::vector<size_t>> OrderNodes(const std::vector<ImportedNode>& nodes);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_NODE_ORDER_H_
