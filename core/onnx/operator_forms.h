// In which opsets a node can be written.
#ifndef ASC_CORE_ONNX_OPERATOR_FORMS_H_
#define ASC_CORE_ONNX_OPERATOR_FORMS_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace asc::onnx {

// No model is stamped with an older opset.
inline constexpr int64_t kOldestExportOpset = 13;

// The oldest opset of the node's domain whose form of the operator means what the node says: with
// its attributes, its inputs and outputs and their element types. All later ones do too. At least
// kOldestExportOpset in the domain ai.onnx; where the domain is not ONNX's, the operator's own version.
int64_t OldestOpset(const Graph& graph, const Node& node);

// The first IR version of files that an opset of ai.onnx may be in, and an element type.
int64_t IrVersionOf(int64_t opset);
int64_t IrVersionOf(DataType type);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_OPERATOR_FORMS_H_
