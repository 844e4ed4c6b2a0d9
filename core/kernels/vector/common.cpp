#include "core/kernels/vector/common.h"

#include "core/tensor/element.h"

namespace asc::simd {

std::optional<float> ConstantScalar(const OperandDesc& operand) {
  if (!operand.present || operand.constant == nullptr || operand.constant->size() != 1)
    return std::nullopt;
  const DataType type = operand.constant->dtype();
  if (!types::kNumeric.Contains(type)) return std::nullopt;
  return static_cast<float>(ReadAsDouble(type, operand.constant->raw(), 0));
}

}  // namespace asc::simd
