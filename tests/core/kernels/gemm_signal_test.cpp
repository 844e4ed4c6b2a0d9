// Convolutions of a signal by long windows, as products, against the reference kernel.
#include <cmath>

#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
KernelCase Signal(int64_t images, int64_t length, int64_t outputs, int64_t window, int64_t stride) {
  KernelCase test{.op = "Conv",
                  .inputs = {Noise({images, 1, length}, 1), Noise({outputs, 1, window}, 2)},
                  .constants = {1}};
  test.attributes.Set("strides", std::vector<int64_t>{stride});
  return test;
}

TEST(GemmSignal, AgreesWithReference) {
  // Several short signals a panel, long ones in pieces, one window, windows that overlap or leave gaps.
  ExpectVectorKernel(Signal(32, 832, 258, 256, 128), "gemm.signal", 4e-6);
  ExpectVectorKernel(Signal(3, 832, 30, 256, 128), "gemm.signal", 4e-6);
  ExpectVectorKernel(Signal(2, 2000, 7, 100, 3), "gemm.signal", 4e-6);
  ExpectVectorKernel(Signal(5, 64, 3, 64, 1), "gemm.signal", 4e-6);
  ExpectVectorKernel(Signal(1, 500, 20, 70, 90), "gemm.signal", 4e-6);
  KernelCase biased = Signal(4, 400, 33, 80, 40);
  biased.inputs.push_back(Noise({33}, 3));
  biased.attributes.Set("pads", std::vector<int64_t>{0, 0});
  ExpectVectorKernel(biased, "gemm.signal", 4e-6);
  KernelCase wild = Signal(4, 400, 33, 80, 40);
  wild.inputs[0]->data<float>()[70] = NAN;
  wild.inputs[0]->data<float>()[900] = INFINITY;
  ExpectVectorKernel(wild, "gemm.signal", 4e-6);
}

TEST(GemmSignal, OtherConvolutionsAreLeft) {
  const auto runs = [](const KernelCase& test) {
    const auto ran = ExpectKernelsAgree(test, 1e-5);
    return std::find(ran.begin(), ran.end(), "gemm.signal") != ran.end();
  };
  EXPECT_TRUE(runs(Signal(2, 300, 5, 64, 10)));
  KernelCase padded = Signal(2, 300, 5, 64, 10);
  padded.attributes.Set("pads", std::vector<int64_t>{3, 0});
  EXPECT_FALSE(runs(padded));
  KernelCase behind = Signal(2, 300, 5, 64, 10);
  behind.attributes.Set("pads", std::vector<int64_t>{0, 40});
  EXPECT_FALSE(runs(behind));
  KernelCase dilated = Signal(2, 300, 5, 64, 10);
  dilated.attributes.Set("dilations", std::vector<int64_t>{2});
  EXPECT_FALSE(runs(dilated));
  EXPECT_FALSE(runs(Signal(2, 300, 5, 20, 10)));
}
}  // namespace
}  // namespace asc::testing
