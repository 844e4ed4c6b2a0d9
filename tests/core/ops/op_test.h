// Runs one operator the way the runtime does: schema check, shape rule, reference kernel.
#ifndef ASC_TESTS_CORE_OPS_OP_TEST_H_
#define ASC_TESTS_CORE_OPS_OP_TEST_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/op_schema.h"

namespace asc::testing {

// nullopt stands for an absent optional input.
using OpInputs = std::vector<std::optional<AnyValue>>;
using OpAttributes = std::initializer_list<std::pair<std::string_view, AttributeValue>>;

// The outputs of one call. On the way it checks what must hold for every operator:
// - the kernel's results have the types and shapes that the shape rule promised;
// - the shape rule does not contradict them when it knows less (no values, symbols for extents, no
// ranks);
// - the results do not depend on the number of threads.
// Breaches are test failures; errors of schema check, shape rule and kernel are returned.
Result<std::vector<AnyValue>> RunOp(std::string_view name, const OpInputs& inputs,
                                    OpAttributes attributes = {}, size_t output_count = 1,
                                    std::string_view domain = "");

// For operators with one tensor as result; an undefined tensor and a test failure when the call
// fails.
Tensor RunOp1(std::string_view name, const OpInputs& inputs, OpAttributes attributes = {},
              std::string_view domain = "");

// What the shape rule says for input types and, where given, constant values.
struct TypedInput {
  std::optional<ValueType> type;  // nullopt: absent
  std::optional<Tensor> constant;
  std::optional<std::vector<Dim>> dims;

  TypedInput() = default;
  TypedInput(DataType dtype, std::string_view shape);  // NOLINT: shape as text: "[N, 3]", "[*]"
  TypedInput(Tensor value);                            // NOLINT: a constant
};
Result<std::vector<InferOutput>> InferOp(std::string_view name,
                                         const std::vector<TypedInput>& inputs,
                                         OpAttributes attributes = {}, size_t output_count = 1,
                                         std::string_view domain = "");
// "float32[N, 3]" of output `i`, or the error's text.
std::string InferText(std::string_view name, const std::vector<TypedInput>& inputs,
                      OpAttributes attributes = {}, size_t i = 0, std::string_view domain = "");

// Reads "[N, 2*H, 3]" or "[*]".
Shape ParseShape(std::string_view text);

template <typename T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  if (tensor.dtype() != DataTypeOf<T>::value) {
    ADD_FAILURE() << "tensor is " << tensor.TypeString();
    return {};
  }
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.size());
}
inline Tensor F32(const Dims& dims, std::initializer_list<float> values) {
  return Tensor::FromValues<float>(dims, values);
}
inline Tensor I64(const Dims& dims, std::initializer_list<int64_t> values) {
  return Tensor::FromValues<int64_t>(dims, values);
}
inline Tensor I32(const Dims& dims, std::initializer_list<int32_t> values) {
  return Tensor::FromValues<int32_t>(dims, values);
}
// A float32, float64, float16 or bfloat16 tensor from doubles.
Tensor Floats(DataType dtype, const Dims& dims, std::initializer_list<double> values);
// float32 elements that look random but are the same each time, in [-1, 1).
Tensor Pseudo(const Dims& dims, uint32_t seed = 1);

// Extents and elements (real types; NaN equals NaN) agree within |got - want| <= tolerance * max(1,
// |want|).
void ExpectTensor(const Tensor& got, const Dims& dims, const std::vector<double>& want,
                  double tolerance = 1e-6);

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_OPS_OP_TEST_H_
