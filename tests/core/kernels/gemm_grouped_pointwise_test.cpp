#include <cmath>

#include "core/kernels/gemm/micro_kernel.h"
#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::KernelCase;
using testing::Noise;

struct Extents {
  int64_t images, groups, channels, outputs;  // of each group
  Dims pixels;
};

KernelCase CaseOf(const Extents& e, const char* activation = "", bool bias = true,
                  bool residual = false) {
  AttributeMap attributes;
  attributes.Set("group", e.groups);
  attributes.Set("activation", activation);
  if (std::string_view(activation) == "Clip") {
    attributes.Set("activation_params", std::vector<float>{0, 1});
  }
  Dims x{e.images, e.groups * e.channels}, w{e.groups * e.outputs, e.channels}, y{e.images, w[0]};
  x.insert(x.end(), e.pixels.begin(), e.pixels.end());
  y.insert(y.end(), e.pixels.begin(), e.pixels.end());
  w.resize(2 + e.pixels.size(), 1);
  KernelCase test{"FusedConv", "asc", {Noise(x), Noise(w, 2)}, {1}, attributes};
  if (bias) {
    test.inputs.push_back(Noise({y[1]}, 3));
  } else if (residual) {
    test.inputs.push_back(std::nullopt);
  }
  if (residual) test.inputs.push_back(Noise(y, 4));
  return test;
}

// How many runs took the case to the kernel, and agreed with the reference.
int RunsGrouped(KernelCase test) {
  int runs = 0;
  testing::ForEachTarget([&] {
    for (const int threads : {1, 2}) {
      test.threads = threads;
      const auto ran = testing::ExpectKernelsAgree(test, 2e-6);
      runs += static_cast<int>(std::ranges::count(ran, "gemm.grouped_pointwise"));
    }
  });
  return runs;
}

TEST(GemmGroupedPointwise, AgreesWithTheReference) {
  for (const Extents& e :
       {Extents{1, 4, 6, 28, {12, 16}}, Extents{2, 3, 5, 8, {64}}, Extents{1, 2, 1, 9, {8, 8}},
        Extents{3, 2, 34, 40, {14, 14}}, Extents{1, 2, 17, 8, {4, 4, 4}},
        // Pixels in several blocks.
        Extents{1, 2, 600, 8, {11, 17}}}) {
    for (const bool bias : {false, true}) {
      EXPECT_GT(RunsGrouped(CaseOf(e, "", bias)), 0) << e.outputs;
    }
    KernelCase plain = CaseOf(e);
    plain.op = "Conv";
    plain.domain = "";
    plain.attributes = {};
    plain.attributes.Set("group", e.groups);
    EXPECT_GT(RunsGrouped(plain), 0) << e.outputs;
  }
}

TEST(GemmGroupedPointwise, AddsAndActivates) {
  for (const char* activation : {"", "Relu", "Clip", "HardSwish", "Gelu"}) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        EXPECT_GT(RunsGrouped(CaseOf({2, 4, 8, 10, {8, 8}}, activation, bias, residual)), 0)
            << activation;
      }
    }
  }
}

TEST(GemmGroupedPointwise, NanAndInfinityGoThrough) {
  for (const bool bias : {false, true}) {
    KernelCase test = CaseOf({1, 2, 8, 8, {8, 8}}, "Relu", bias);
    test.inputs[0]->data<float>()[3] = NAN;
    test.inputs[0]->data<float>()[21] = INFINITY;
    EXPECT_GT(RunsGrouped(test), 0);
  }
}

TEST(GemmGroupedPointwise, LeavesToOthersWhatItDoesNotDo) {
  // Panels that would be mostly empty, few outputs, windows that skip pixels.
  EXPECT_EQ(RunsGrouped(CaseOf({1, 4, 8, 8, {3, 3}})), 0);
  EXPECT_EQ(RunsGrouped(CaseOf({1, 16, 1, 1, {8, 8}})), 0);
  KernelCase skips = CaseOf({1, 2, 8, 8, {16, 16}});
  skips.attributes.Set("strides", std::vector<int64_t>{2, 2});
  EXPECT_EQ(RunsGrouped(skips), 0);
}
}  // namespace
}  // namespace asc
