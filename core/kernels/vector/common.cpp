#include "core/kernels/vector/common.h"

#include "core/base/parallel.h"
#include "core/tensor/element.h"

namespace asc::simd {

std::optional<float> ConstantScalar(const OperandDesc& operand) {
  if (!operand.present || operand.constant == nullptr || operand.constant->size() != 1)
    return std::nullopt;
  const DataType type = operand.constant->dtype();
  if (!types::kNumeric.Contains(type)) return std::nullopt;
  return static_cast<float>(ReadAsDouble(type, operand.constant->raw(), 0));
}

Result<Activation> ActivationOf(const AttributeMap& attributes) {
  const std::vector<float> params = attributes.Floats("activation_params");
  return ParseActivation(attributes.String("activation", ""), params);
}

void ClearPadding(float* data, const OperandDesc& image) {
  const int64_t c0 = image.layout.c0, last = image.dims[1] / c0, used = image.dims[1] % c0;
  const int64_t row = image.dims[3] * c0, rows = image.dims[2], blocks = last + 1;
  ParallelFor(image.dims[0] * rows, std::max<int64_t>(1, (1 << 14) / row),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  float* pixel = data + ((i / rows * blocks + last) * rows + i % rows) * row;
                  for (int64_t at = 0; at < row; at += c0)
                    std::fill(pixel + at + used, pixel + at + c0, 0.0f);
                }
              });
}

}  // namespace asc::simd
