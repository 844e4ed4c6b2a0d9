#include <cmath>

#include "core/kernels/gemm/micro_kernel.h"
#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::KernelCase;
using testing::Noise;

struct Extents {
  int64_t images, channels, outputs, height, width;
};

KernelCase CaseOf(const Extents& e, int c0, const char* activation = "", bool residual = false) {
  AttributeMap attributes;
  attributes.Set("activation", activation);
  if (std::string_view(activation) == "Clip") {
    attributes.Set("activation_params", std::vector<float>{0, 1});
  }
  KernelCase test{"FusedConv",
                  "asc",
                  {Noise({e.images, e.channels, e.height, e.width}),
                   Noise({e.outputs, e.channels, 1, 1}, 2), Noise({e.outputs}, 3)},
                  {1},
                  attributes};
  if (residual) test.inputs.push_back(Noise({e.images, e.outputs, e.height, e.width}, 4));
  test.c0 = c0;
  test.plain_inputs = {1};
  return test;
}

// How many instruction sets with vectors took the case to the kernel, and agreed with the reference.
int RunsPointwise(KernelCase test) {
  int runs = 0;
  testing::ForEachTarget([&] {
    for (const int threads : {1, 2}) {
      test.threads = threads;
      const auto ran = testing::ExpectKernelsAgree(test, 2e-6);
      if (gemm::Tiles().lanes < 4) continue;
      runs += std::ranges::count(ran, "gemm.pointwise") == 1 ? 1 : -100;
    }
  });
  return runs;
}

TEST(GemmPointwise, AgreesWithTheReference) {
  for (const int c0 : {8, 16}) {
    for (const Extents& e :
         {Extents{1, 16, 16, 7, 7}, Extents{2, 32, 20, 5, 3}, Extents{1, 48, 70, 1, 1},
          Extents{1, 64, 33, 20, 20}, Extents{3, 16, 3, 2, 9}, Extents{1, 800, 24, 3, 4},
          // Last blocks that are not full, alone, behind others, of one pixel, of sums in parts.
          Extents{2, 5, 16, 7, 7}, Extents{2, 24, 20, 5, 3}, Extents{1, 47, 70, 1, 1},
          Extents{1, 1541, 24, 3, 4}}) {
      EXPECT_GE(RunsPointwise(CaseOf(e, c0)), 0) << e.outputs;
      KernelCase plain = CaseOf(e, c0);
      plain.op = "Conv";
      plain.domain = "";
      plain.attributes = {};
      EXPECT_GE(RunsPointwise(plain), 0) << e.outputs;
    }
  }
}

TEST(GemmPointwise, AddsAndActivates) {
  for (const int c0 : {8, 16}) {
    for (const char* activation : {"", "Relu", "Clip", "HardSwish", "Sigmoid", "Gelu"}) {
      // 20 channels: the padding stays zero whatever the activation of zero is.
      EXPECT_GE(RunsPointwise(CaseOf({2, 16, 20, 6, 5}, c0, activation, true)), 0) << activation;
    }
  }
}

TEST(GemmPointwise, NanAndInfinityGoThrough) {
  for (const int c0 : {8, 16}) {
    KernelCase test = CaseOf({1, 16, 20, 4, 4}, c0, "Relu");
    test.inputs[0]->data<float>()[3] = NAN;
    test.inputs[0]->data<float>()[21] = INFINITY;
    EXPECT_GE(RunsPointwise(test), 0);
  }
}

TEST(GemmPointwise, OthersGoElsewhere) {
  const auto elsewhere = [](const KernelCase& test) {
    return std::ranges::count(testing::ExpectKernelsAgree(test), "gemm.pointwise") == 0;
  };
  KernelCase strided = CaseOf({1, 16, 16, 8, 8}, 8);
  strided.attributes.Set("strides", std::vector<int64_t>{2, 2});
  EXPECT_TRUE(elsewhere(strided));
  KernelCase padded = CaseOf({1, 16, 16, 8, 8}, 8);
  padded.attributes.Set("pads", std::vector<int64_t>{1, 1, 1, 1});
  EXPECT_TRUE(elsewhere(padded));
  KernelCase changing = CaseOf({1, 16, 16, 8, 8}, 8);
  changing.constants = {};
  EXPECT_TRUE(elsewhere(changing));
  KernelCase plain = CaseOf({1, 16, 16, 8, 8}, 0);
  EXPECT_TRUE(elsewhere(plain));
  KernelCase wide = CaseOf({1, 16, 16, 8, 8}, 8);
  wide.inputs[1] = Noise({16, 16, 3, 3}, 2);
  EXPECT_TRUE(elsewhere(wide));
}
}  // namespace
}  // namespace asc
