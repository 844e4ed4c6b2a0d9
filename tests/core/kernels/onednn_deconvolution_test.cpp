#include <algorithm>

#include "tests/core/kernels/kernel_test.h"

namespace asc {
namespace {
using testing::Noise;

struct Case {
  Dims x, w;
  std::vector<int64_t> pads, strides, dilations, output_padding;
  int64_t group;
};

TEST(OneDnnDeconvolution, AgreesWithTheReference) {
  const Case cases[] = {
      {{2, 6, 7, 9}, {6, 5, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0}, 1},
      {{1, 8, 7, 9}, {8, 5, 3, 4}, {1, 1, 1, 1}, {2, 2}, {1, 1}, {1, 0}, 1},
      {{1, 8, 6, 6}, {8, 3, 3, 2}, {0, 1, 1, 0}, {2, 1}, {1, 2}, {0, 0}, 2},
      {{1, 4, 12}, {4, 7, 5}, {2, 1}, {3}, {1}, {0}, 1},
      {{1, 4, 3, 4, 5}, {4, 2, 2, 3, 2}, {0, 1, 0, 0, 1, 0}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, 1},
  };
  for (const Case& c : cases) {
    for (const bool constant : {false, true}) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(Cat(c.x, c.w, constant, bias));
        testing::KernelCase test{"ConvTranspose", "", {Noise(c.x), Noise(c.w, 2)}};
        if (bias) test.inputs.push_back(Noise({c.w[1] * c.group}, 3));
        if (constant) test.constants = {1};
        test.attributes.Set("pads", c.pads);
        test.attributes.Set("strides", c.strides);
        test.attributes.Set("dilations", c.dilations);
        test.attributes.Set("output_padding", c.output_padding);
        test.attributes.Set("group", c.group);
        const auto ran = testing::ExpectKernelsAgree(test, 1e-5);
        EXPECT_EQ(std::ranges::count(ran, "onednn.deconvolution"), 1);
      }
    }
  }
}
}  // namespace
}  // namespace asc
