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

TEST(OneDnnConvolution, KeepsNaN) {
  Tensor x = Noise({1, 8, 5, 5});
  x.data<float>()[7] = std::nanf("");
  x.data<float>()[60] = INFINITY;
  EXPECT_EQ(ExpectKernelsAgree({"Conv", "", {x, Noise({8, 8, 3, 3})}, {1}, ConvAttributes({1, 1}, {1, 1, 1, 1})}),
            Names{"onednn.convolution"});
}

}  // namespace
}  // namespace asc
