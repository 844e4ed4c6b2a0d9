// Products of float64 matrices.
#include <algorithm>

#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
Tensor Doubles(const Dims& dims, uint32_t seed) {
  const Tensor noise = testing::Noise(dims, seed);
  Tensor out = Tensor::Allocate(DataType::kFloat64, dims).value();
  for (int64_t i = 0; i < out.size(); ++i)
    out.data<double>()[i] = static_cast<double>(noise.data<float>()[i]) / 3;
  return out;
}

TEST(VectorDoubleMatMul, AgreesWithTheReference) {
  const std::pair<Dims, Dims> shapes[] = {
      {{4, 1}, {1, 4}},        {{5, 7}, {7, 33}},         {{2, 3, 300}, {300, 70}},
      {{129, 513}, {513, 65}}, {{3, 6, 20}, {3, 20, 17}}, {{2, 2, 9, 16}, {2, 2, 16, 16}},
  };
  for (const auto& [a, b] : shapes) {
    SCOPED_TRACE(Cat(a, b));
    testing::ExpectVectorKernel({"MatMul", "", {Doubles(a, 1), Doubles(b, 2)}},
                                "vector.double_product", 1e-14);
  }
  Tensor wild = Doubles({9, 12}, 1);
  wild.data<double>()[3] = NAN;
  wild.data<double>()[40] = INFINITY;
  testing::ExpectVectorKernel({"MatMul", "", {wild, Doubles({12, 9}, 2)}}, "vector.double_product",
                              1e-14);
}

TEST(VectorDoubleMatMul, LeavesOtherStacksToTheReference) {
  const auto ran = testing::ExpectKernelsAgree(
      {"MatMul", "", {Doubles({2, 1, 5, 6}, 1), Doubles({3, 6, 7}, 2)}}, 1e-14);
  EXPECT_EQ(std::ranges::count(ran, "vector.double_product"), 0);
}
}  // namespace
}  // namespace asc
