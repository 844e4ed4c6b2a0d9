#include <algorithm>

#include "tests/core/kernels/kernel_test.h"

namespace asc {
namespace {
using testing::ExpectKernelsAgree;
using testing::KernelCase;
using testing::Noise;

bool RunsOnOneDnn(const KernelCase& test) {
  return std::ranges::count(ExpectKernelsAgree(test), "onednn.matmul") == 1;
}

TEST(OneDnnMatMul, AgreesWithTheReference) {
  const std::pair<Dims, Dims> shapes[] = {{{5, 7}, {7, 3}},       {{2, 5, 7}, {7, 3}},    {{2, 5, 7}, {2, 7, 3}}, {{7}, {7, 3}},
                                          {{5, 7}, {7}},          {{7}, {7}},             {{2, 1, 5, 7}, {3, 7, 4}}, {{1, 64}, {64, 33}}};
  for (const auto& [a, b] : shapes) {
    for (const bool constant : {false, true}) {
      KernelCase test{"MatMul", "", {Noise(a), Noise(b, 2)}, {}, {}};
      if (constant) test.constants = {1};
      EXPECT_TRUE(RunsOnOneDnn(test)) << Cat(a, b);
    }
  }
}

TEST(OneDnnMatMul, Gemm) {
  for (const int64_t transpose_a : {0, 1}) {
    for (const int64_t transpose_b : {0, 1}) {
      for (const Dims& c : {Dims{6}, Dims{1, 6}, Dims{5, 1}, Dims{5, 6}, Dims{}}) {
        for (const float alpha : {1.0f, 0.5f}) {
          AttributeMap attributes;
          attributes.Set("transA", transpose_a);
          attributes.Set("transB", transpose_b);
          attributes.Set("alpha", alpha);
          EXPECT_TRUE(RunsOnOneDnn({"Gemm", "", {Noise(transpose_a ? Dims{7, 5} : Dims{5, 7}),
                                                     Noise(transpose_b ? Dims{6, 7} : Dims{7, 6}, 2), Noise(c, 3)}, {1, 2}, attributes}));
        }
      }
    }
  }
}
}  // namespace
}  // namespace asc
