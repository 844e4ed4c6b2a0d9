// What the vector kernels ask of requests.
#ifndef ASC_CORE_KERNELS_VECTOR_COMMON_H_
#define ASC_CORE_KERNELS_VECTOR_COMMON_H_

#include <algorithm>

#include "core/device/kernel.h"
#include "core/ops/activation.h"

namespace asc::simd {

inline bool IsFloat(const OperandDesc& operand) {
  return operand.present && operand.dtype == DataType::kFloat32;
}
inline bool IsPlain(const OperandDesc& operand) { return operand.layout == Layout{}; }
inline bool IsPlainFloat(const OperandDesc& operand) {
  return IsFloat(operand) && IsPlain(operand);
}

// Stored as NC1HWC0. The channels that pad the last block are zeros in every such value; kernels
// keep them so.
inline bool IsBlockedImage(const OperandDesc& operand) {
  return operand.layout.format == Format::kNC1HWC0 && operand.dims.size() == 4;
}
inline bool IsPaddedImage(const OperandDesc& operand) {
  return IsBlockedImage(operand) && operand.dims[1] % operand.layout.c0 != 0;
}

inline bool AllPlainFloat(const std::vector<OperandDesc>& operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [](const OperandDesc& o) { return !o.present || IsPlainFloat(o); });
}

// The one element of a constant that does not change; nullopt for others.
std::optional<float> ConstantScalar(const OperandDesc& operand);

// Reads `activation` and `activation_params` of a fused operator.
Result<Activation> ActivationOf(const AttributeMap& attributes);

// Sets the lanes of a padded image (at `data`) that are no channels to zero.
void ClearPadding(float* data, const OperandDesc& image);

template <typename K, typename... Args>
Result<std::unique_ptr<Kernel>> Make(Args&&... args) {
  return std::unique_ptr<Kernel>(std::make_unique<K>(std::forward<Args>(args)...));
}

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_COMMON_H_
