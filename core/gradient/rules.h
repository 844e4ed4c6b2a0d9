// The gradient rules: for each operator, how the gradients of its outputs become those of its inputs.
#ifndef ASC_CORE_GRADIENT_RULES_H_
#define ASC_CORE_GRADIENT_RULES_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/gradient/step.h"

namespace asc {

// Writes the vector-Jacobian product of one node: ordinary operators of ai.onnx, which have rules themselves, so that gradients of
// gradients are there too. Inputs that nothing is given for have no gradient (nothing flows through Floor, or into indices).
// What cannot be done is refused through the step.
using GradientRule = void (*)(GradientStep&);

struct GradientRow {
  std::string_view op;  // of ai.onnx
  GradientRule rule;
};

// The rows, by family; each in the file of its name.
std::span<const GradientRow> ActivationGradients();
std::span<const GradientRow> ArithmeticGradients();
std::span<const GradientRow> AttentionGradients();
std::span<const GradientRow> ConvolutionGradients();
std::span<const GradientRow> EinsumGradients();
std::span<const GradientRow> FunctionGradients();
std::span<const GradientRow> IndexingGradients();
std::span<const GradientRow> LossGradients();
std::span<const GradientRow> MatMulGradients();
std::span<const GradientRow> NormalizationGradients();
std::span<const GradientRow> PoolingGradients();
std::span<const GradientRow> RearrangementGradients();
std::span<const GradientRow> ReductionGradients();
std::span<const GradientRow> ResamplingGradients();

// Null where there is none.
GradientRule FindGradient(const OpSchema& schema);
// Operators that have a rule, sorted.
std::vector<std::string> OperatorsWithGradient();

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_RULES_H_
