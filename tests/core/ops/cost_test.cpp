// Estimates of operators that have none of their own: by their class.
#include "core/ops/cost.h"

#include <gtest/gtest.h>

#include "core/ops/registry.h"

namespace asc {
namespace {
ValueType F32(const Dims& dims) { return ValueType::Tensor(DataType::kFloat32, Shape(dims)); }

CostEstimate CostOf(std::string_view op, const std::vector<ValueType>& inputs,
                    const std::vector<ValueType>& outputs, const AttributeMap& attributes = {}) {
  return EstimateCost(*OpRegistry::Global().Find("", op), inputs, outputs, attributes);
}

TEST(Cost, ElementwiseIsOneOperationAnElement) {
  const CostEstimate cost = CostOf("Add", {F32({2, 3}), F32({3})}, {F32({2, 3})});
  EXPECT_EQ(cost.flops, 6);
  EXPECT_EQ(cost.bytes, 4 * (6 + 3 + 6));
}

TEST(Cost, MovedElementsAreReadAndWrittenOnce) {
  const ValueType rows = ValueType::Tensor(DataType::kInt64, Shape(Dims{5}));
  const CostEstimate cost = CostOf("Gather", {F32({1000, 8}), rows}, {F32({5, 8})});
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 2 * 4 * 40);
}

TEST(Cost, ReductionsAndPoolsLookAtTheirInputs) {
  EXPECT_EQ(CostOf("ReduceSum", {F32({4, 9})}, {F32({4, 1})}).flops, 36);
  EXPECT_EQ(CostOf("GlobalAveragePool", {F32({1, 2, 5, 5})}, {F32({1, 2, 1, 1})}).flops, 50);
  AttributeMap window;
  window.Set("kernel_shape", std::vector<int64_t>{3, 3});
  EXPECT_EQ(CostOf("MaxPool", {F32({1, 1, 6, 6})}, {F32({1, 1, 4, 4})}, window).flops, 9 * 16);
}

TEST(Cost, ProductsHaveTheirOwn) {
  EXPECT_EQ(CostOf("MatMul", {F32({2, 3}), F32({3, 5})}, {F32({2, 5})}).flops, 2 * 2 * 3 * 5);
}

TEST(Cost, UnknownExtentsCountAsEmpty) {
  const ValueType open = ValueType::Tensor(DataType::kFloat32, Shape());
  EXPECT_EQ(CostOf("Relu", {open}, {open}).bytes, 0);
  EXPECT_EQ(CostOf("Relu", {ValueType()}, {ValueType()}).flops, 0);
}
}  // namespace
}  // namespace asc
