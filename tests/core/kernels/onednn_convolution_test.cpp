#include <cmath>

#include "tests/core/kernels/kernel_test.h"

namespace asc {
namespace {
using testing::ExpectKernelsAgree;
using testing::KernelCase;
using testing::Noise;
using Names = std::vector<std::string>;

AttributeMap ConvAttributes(std::vector<int64_t> strides, std::vector<int64_t> pads, int64_t group = 1,
                            std::vector<int64_t> dilations = {1, 1}) {
  AttributeMap attributes;
  attributes.Set("strides", std::move(strides));
  attributes.Set("pads", std::move(pads));
  attributes.Set("group", group);
  attributes.Set("dilations", std::move(dilations));
  return attributes;
}

TEST(OneDnnConvolution, AgreesWithTheReference) {
  for (const int c0 : {0, 8, 16}) {
    for (const int threads : {1, 2}) {
      for (const int64_t stride : {1, 2}) {
        KernelCase test{"Conv", "", {Noise({2, 16, 9, 7}), Noise({32, 16, 3, 3}, 2), Noise({32}, 3)}, {1, 2},
                        ConvAttributes({stride, stride}, {1, 0, 1, 2})};
        test.threads = threads;
        test.c0 = c0;
        test.plain_inputs = {1};
        EXPECT_EQ(ExpectKernelsAgree(test), Names{"onednn.convolution"});
      }
    }
  }
}

TEST(OneDnnConvolution, ChannelsThatDoNotFillBlocksArePlain) {
  for (const int c0 : {8, 16}) {
    for (const int64_t channels : {3, 22}) {
      KernelCase in{"Conv", "", {Noise({2, channels, 9, 7}), Noise({32, channels, 3, 3}, 2), Noise({32}, 3)}, {1, 2},
                    ConvAttributes({2, 2}, {1, 1, 1, 1})};
      in.c0 = c0;
      in.plain_inputs = {0, 1};
      EXPECT_EQ(ExpectKernelsAgree(in), Names{"onednn.convolution"});
      KernelCase out{"Conv", "", {Noise({2, 32, 5, 4}), Noise({channels, 32, 1, 1}, 2)}, {1}, ConvAttributes({1, 1}, {0, 0, 0, 0})};
      out.c0 = c0;
      out.plain_inputs = {1};
      out.plain_outputs = true;
      EXPECT_EQ(ExpectKernelsAgree(out), Names{"onednn.convolution"});
    }
  }
}

TEST(OneDnnConvolution, GroupsDilationsRanksAndWeightsThatAreNoConstants) {
  EXPECT_EQ(ExpectKernelsAgree({"Conv", "", {Noise({1, 8, 9, 9}), Noise({8, 1, 3, 3})}, {1}, ConvAttributes({1, 1}, {1, 1, 1, 1}, 8)}),
            Names{"onednn.convolution"});
  EXPECT_EQ(ExpectKernelsAgree({"Conv", "", {Noise({1, 6, 9, 9}), Noise({4, 3, 3, 3})}, {},
                                ConvAttributes({1, 1}, {2, 2, 2, 2}, 2, {2, 2})}),
            Names{"onednn.convolution"});
  KernelCase one_d{"Conv", "", {Noise({1, 3, 20}), Noise({5, 3, 4})}, {1}, {}};
  EXPECT_EQ(ExpectKernelsAgree(one_d), Names{"onednn.convolution"});
  KernelCase three_d{"Conv", "", {Noise({1, 3, 5, 6, 7}), Noise({5, 3, 2, 2, 2})}, {1}, {}};
  EXPECT_EQ(ExpectKernelsAgree(three_d), Names{"onednn.convolution"});
}

TEST(OneDnnConvolution, BlocksThatChannelsDoNotFill) {
  for (const int c0 : {8, 16}) {
    for (const bool finite : {false, true}) {
      for (const char* activation : {"", "Relu", "Sigmoid"}) {
        KernelCase test{"FusedConv", "asc", {Noise({2, 12, 6, 5}), Noise({21, 12, 3, 3}, 2), Noise({21}, 3)}, {1, 2},
                        ConvAttributes({1, 1}, {1, 1, 1, 1})};
        if (*activation) test.attributes.Set("activation", std::string(activation));
        test.c0 = c0;
        test.plain_inputs = {1};
        test.assume_finite = finite;
        EXPECT_EQ(ExpectKernelsAgree(test), Names{"onednn.convolution"});
        test.inputs = {Noise({2, 12, 6, 5}), Noise({12, 1, 3, 3}, 2), Noise({12}, 3)};
        test.attributes.Set("group", int64_t{12});
        EXPECT_EQ(ExpectKernelsAgree(test), (Names{"vector.depthwise", "onednn.convolution"}));
      }
    }
  }
}

// A picture comes plain and leaves in blocks.
TEST(OneDnnConvolution, PlainInputAndBlockedResult) {
  KernelCase test{"Conv", "", {Noise({2, 3, 11, 9}), Noise({20, 3, 3, 3}, 2), Noise({20}, 3)}, {1, 2}, ConvAttributes({2, 2}, {1, 1, 1, 1})};
  test.c0 = 8;
  test.plain_inputs = {0, 1};
  EXPECT_EQ(ExpectKernelsAgree(test), Names{"onednn.convolution"});
}

TEST(OneDnnConvolution, ALargeBiasDoesNotCostDigits) {
  Tensor bias = Noise({16}, 3);
  for (int64_t i = 0; i < 16; ++i) bias.data<float>()[i] *= 1000;
  for (const int c0 : {0, 8, 16}) {
    KernelCase test{"FusedConv", "asc", {Noise({1, 64, 6, 5}), Noise({16, 64, 3, 3}, 2), bias}, {1, 2}, ConvAttributes({1, 1}, {1, 1, 1, 1})};
    test.attributes.Set("activation", std::string("Relu"));
    test.c0 = c0;
    test.plain_inputs = {1};
    EXPECT_EQ(ExpectKernelsAgree(test, 2e-7), Names{"onednn.convolution"});
  }
}

TEST(OneDnnConvolution, KeepsNaN) {
  Tensor x = Noise({1, 8, 5, 5});
  x.data<float>()[7] = std::nanf("");
  x.data<float>()[60] = INFINITY;
  EXPECT_EQ(ExpectKernelsAgree({"Conv", "", {x, Noise({8, 8, 3, 3})}, {1}, ConvAttributes({1, 1}, {1, 1, 1, 1})}),
            Names{"onednn.convolution"});
  // Infinity times the padding of the weights must not come out.
  KernelCase padded{"Conv", "", {x, Noise({5, 8, 1, 1})}, {1}, ConvAttributes({2, 2}, {0, 0, 0, 0})};
  padded.c0 = 16;
  padded.plain_inputs = {1};
  EXPECT_EQ(ExpectKernelsAgree(padded), Names{"onednn.convolution"});
}

}  // namespace
}  // namespace asc
