// Gradient of ai.onnx.preview.training: an operator that refers to the graph around it, by names of values.
#ifndef ASC_CORE_ONNX_GRADIENT_NODE_H_
#define ASC_CORE_ONNX_GRADIENT_NODE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/graph/infer.h"
#include "core/onnx/imported_model.h"

namespace asc::onnx {

inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

bool IsGradient(const ImportedNode& node);

// What the attributes of a Gradient name.
struct GradientNames {
  std::vector<std::string> variables;  // xs, then zs: as the inputs
  size_t xs = 0;                       // so many of them are xs
  std::string y;
};

// E5003 when the attributes are not those of the operator, or inputs and outputs do not fit them.
Result<GradientNames> ReadGradient(const ImportedNode& node);

// The values that a node uses though they are not among its inputs: none but a Gradient has some.
std::vector<std::string> NamesInAttributes(const ImportedNode& node);

// Puts other names in the place of those.
Status RenameInAttributes(ImportedNode& node,
                          const std::function<Result<std::string>(const std::string&)>& rename);

// The same as values of a graph.
struct GradientCall {
  std::vector<ValueId> variables, inputs;
  std::vector<bool> wanted;  // of the xs
  ValueId y;
};

// Adds what a Gradient computes: where inputs are not the tensors that the attributes name, what leads to y is computed again
// with them. Gives the gradients of the xs that are wanted, in order.
Result<std::vector<ValueId>> BuildGradient(Graph& graph, const ImportedNode& node,
                                           const GradientCall& call, Reached reached,
                                           size_t node_limit);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_GRADIENT_NODE_H_
