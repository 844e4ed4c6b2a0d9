#include <cmath>

#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::ExpectVectorKernel;
using testing::KernelCase;
using testing::Noise;

constexpr std::string_view kName = "vector.depthwise";

struct Extents {
  int64_t images, channels, rows, columns;
};

KernelCase Case(const Extents& e, int c0, int64_t kernel, int64_t stride = 1) {
  KernelCase test{"FusedConv",
                  "asc",
                  {Noise({e.images, e.channels, e.rows, e.columns}),
                   Noise({e.channels, 1, kernel, kernel}, 2), Noise({e.channels}, 3)},
                  {1}};
  test.attributes.Set("group", e.channels);
  test.attributes.Set("pads", std::vector<int64_t>(4, kernel / 2));
  test.attributes.Set("strides", std::vector<int64_t>{stride, stride});
  test.c0 = c0;
  test.plain_inputs = {1};
  return test;
}

TEST(VectorDepthwise, WindowsThatReachOverTheEdge) {
  for (const int c0 : {8, 16}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t kernel : {3, 5, 7}) {
        for (const int64_t extent : {1, 2, 7, 12, 14, 29})
          ExpectVectorKernel(Case({1, 16, 30 - extent, extent}, c0, kernel, stride), kName);
      }
      for (const int64_t kernel : {1, 4, 6})
        ExpectVectorKernel(Case({1, 16, 3, 21}, c0, kernel, stride), kName);
    }
  }
}

TEST(VectorDepthwise, PadsOfAnySize) {
  for (const int64_t kernel : {3, 5}) {
    for (const int64_t stride : {1, 2}) {
      for (const auto& pads : {std::vector<int64_t>{0, 0, 0, 0},
                               {1, 0, 2, 1},
                               {0, 2, 1, 0},
                               {5, 7, 6, 5},
                               {0, 1, 0, 4}}) {
        KernelCase test = Case({2, 8, 9, 13}, 8, kernel, stride);
        test.attributes.Set("pads", pads);
        ExpectVectorKernel(test, kName);
      }
    }
  }
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    KernelCase test = Case({1, 8, 11, 14}, 8, 3, 2);
    test.attributes.Set("auto_pad", std::string(pad));
    ExpectVectorKernel(test, kName);
  }
}

TEST(VectorDepthwise, WindowsAndStridesThatDifferByAxis) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 3}, {3, 1}, {5, 3}, {3, 5}, {2, 7}}) {
    for (const auto& strides : {std::vector<int64_t>{1, 2}, {2, 1}, {3, 1}, {1, 3}}) {
      KernelCase test = Case({1, 16, 10, 19}, 16, 3);
      test.inputs[1] = Noise({16, 1, rows, columns}, 2);
      test.attributes.Set("strides", strides);
      ExpectVectorKernel(test, kName);
    }
  }
}

TEST(VectorDepthwise, ChannelsThatDoNotFillBlocks) {
  for (const int c0 : {8, 16}) {
    for (const int64_t channels : {2, 5, 8, 12, 21, 40}) {
      for (const char* activation : {"", "Relu", "Sigmoid", "Clip"}) {
        KernelCase test = Case({2, channels, 6, 9}, c0, 3);
        test.attributes.Set("activation", std::string(activation));
        // Zero is outside of these bounds.
        if (activation == std::string("Clip"))
          test.attributes.Set("activation_params", std::vector<float>{0.5f, 2.0f});
        ExpectVectorKernel(test, kName);
      }
    }
  }
}

TEST(VectorDepthwise, BiasResidualAndActivation) {
  for (const bool bias : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "Relu", "Sigmoid", "HardSwish", "Silu", "LeakyRelu",
                                     "Clip", "Tanh", "Gelu", "Elu", "Softplus"}) {
        KernelCase test = Case({1, 20, 9, 11}, 8, 3);
        if (!bias) test.inputs[2] = std::nullopt;
        if (residual) test.inputs.emplace_back(Noise({1, 20, 9, 11}, 4));
        test.attributes.Set("activation", std::string(activation));
        if (activation == std::string("Clip"))
          test.attributes.Set("activation_params", std::vector<float>{0.0f, 1.0f});
        // Some of these functions are never larger than 1.
        ExpectVectorKernel(test, kName, 2e-6);
      }
    }
  }
  KernelCase plain = Case({1, 20, 9, 11}, 8, 3);
  plain.op = "Conv";
  plain.domain = "";
  ExpectVectorKernel(plain, kName);
}

TEST(VectorDepthwise, NanAndInfinityGoThrough) {
  for (const int64_t kernel : {3, 5, 7}) {
    for (const int64_t stride : {1, 2}) {
      for (const char* activation : {"", "Relu", "Clip", "HardSwish"}) {
        KernelCase test = Case({1, 20, 9, 15}, 8, kernel, stride);
        float* x = test.inputs[0]->data<float>();
        x[3] = NAN;
        x[135 + 60] = INFINITY;
        x[5 * 135 + 134] = -INFINITY;
        x[19 * 135] = NAN;
        test.attributes.Set("activation", std::string(activation));
        if (activation == std::string("Clip"))
          test.attributes.Set("activation_params", std::vector<float>{0.0f, 6.0f});
        ExpectVectorKernel(test, kName);
      }
    }
  }
}

TEST(VectorDepthwise, AnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7, 8}) {
    for (const Extents& e : {Extents{1, 16, 90, 90}, {2, 40, 33, 60}, {3, 8, 4, 4}}) {
      KernelCase test = Case(e, 8, 3);
      test.threads = threads;
      const auto ran = testing::ExpectKernelsAgree(test, 1e-6);
      EXPECT_EQ(std::ranges::count(ran, kName), 1);
    }
  }
}

TEST(VectorDepthwise, OthersGoElsewhere) {
  const auto elsewhere = [](const KernelCase& test) {
    return std::ranges::count(testing::ExpectKernelsAgree(test), kName) == 0;
  };
  KernelCase dilated = Case({1, 16, 8, 8}, 8, 3);
  dilated.attributes.Set("dilations", std::vector<int64_t>{2, 2});
  EXPECT_TRUE(elsewhere(dilated));
  KernelCase grouped = Case({1, 16, 8, 8}, 8, 3);
  grouped.inputs[1] = Noise({16, 8, 3, 3}, 2);
  grouped.attributes.Set("group", int64_t{2});
  EXPECT_TRUE(elsewhere(grouped));
  KernelCase multiplied = Case({1, 16, 8, 8}, 8, 3);
  multiplied.inputs[1] = Noise({32, 1, 3, 3}, 2);
  multiplied.inputs[2] = Noise({32}, 3);
  EXPECT_TRUE(elsewhere(multiplied)) << "two outputs a channel";
  KernelCase changing = Case({1, 16, 8, 8}, 8, 3);
  changing.constants = {};
  EXPECT_TRUE(elsewhere(changing));
  EXPECT_TRUE(elsewhere(Case({1, 16, 8, 8}, 0, 3))) << "plain images";
  // It multiplies the zeros of the padding.
  KernelCase infinite = Case({1, 16, 8, 8}, 8, 3);
  infinite.inputs[1]->data<float>()[4] = INFINITY;
  EXPECT_TRUE(elsewhere(infinite));
}
}  // namespace
}  // namespace asc
