// DFT, STFT, windows, MelWeightMatrix.
#include <cmath>
#include <complex>
#include <numbers>

#include "core/ops/fft.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using Line = std::vector<std::complex<double>>;

Line Signal(int64_t n) {
  const Tensor noise = Pseudo({2 * n}, static_cast<uint32_t>(n));
  Line x;
  for (int64_t i = 0; i < n; ++i)
    x.emplace_back(noise.data<float>()[2 * i], noise.data<float>()[2 * i + 1]);
  return x;
}

Line ByDefinition(const Line& x) {
  const auto n = static_cast<int64_t>(x.size());
  Line y(x.size());
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < n; ++i) {
      y[static_cast<size_t>(k)] +=
          x[static_cast<size_t>(i)] *
          std::polar(
              1.0, -2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n));
    }
  }
  return y;
}

TEST(Fft, FollowsTheDefinitionForAnyLength) {
  for (const int64_t n : {1, 2, 3, 4, 5, 8, 12, 31, 37, 60, 74, 101, 128, 240, 331}) {
    const Line x = Signal(n), want = ByDefinition(x);
    const Fft fft(n);
    Fft::Workspace work;
    Line y = x;
    fft.Transform(y.data(), false, work);
    for (size_t k = 0; k < y.size(); ++k)
      EXPECT_LT(std::abs(y[k] - want[k]), 1e-10) << n << " at " << k;
    fft.Transform(y.data(), true, work);
    for (size_t k = 0; k < y.size(); ++k)
      EXPECT_LT(std::abs(y[k] - x[k]), 1e-12) << n << " at " << k;
  }
}

TEST(Fft, KeepsSinglePrecision) {
  for (const int64_t n : {10, 31, 37, 240, 1024}) {
    const Line x = Signal(n), want = ByDefinition(x);
    const BasicFft<float> fft(n);
    BasicFft<float>::Workspace work;
    std::vector<std::complex<float>> y(x.begin(), x.end());
    fft.Transform(y.data(), false, work);
    double largest = 0, error = 0;
    for (size_t k = 0; k < y.size(); ++k) {
      largest = std::max(largest, std::abs(want[k]));
      error = std::max(error, std::abs(std::complex<double>(y[k]) - want[k]));
    }
    EXPECT_LT(error, 2e-6 * largest) << n;
  }
}

TEST(Dft, GivesRealNumbersWhereRealInputMustHaveThem) {
  const Tensor x = F32({1, 10, 1}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3});
  const auto y = ValuesOf<float>(RunOp1("DFT", {x}));
  ASSERT_EQ(y.size(), 20u);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[11], 0.0f);
}

TEST(Dft, TransformsAlongAnAxis) {
  ExpectTensor(RunOp1("DFT", {F32({1, 4, 1}, {1, 2, 3, 4})}), {1, 4, 2},
               {10, 0, -2, 2, -2, 0, -2, -2});
  ExpectTensor(RunOp1("DFT", {F32({1, 4, 1}, {1, 2, 3, 4})}, {{"onesided", int64_t{1}}}), {1, 3, 2},
               {10, 0, -2, 2, -2, 0});
  ExpectTensor(
      RunOp1("DFT", {F32({2, 2, 1}, {1, 2, 3, 4}), std::nullopt, Tensor::Scalar<int64_t>(0)}),
      {2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0});
  // Cut to two, padded to three.
  ExpectTensor(RunOp1("DFT", {F32({1, 4, 1}, {1, 2, 3, 4}), Tensor::Scalar<int64_t>(2)}), {1, 2, 2},
               {3, 0, -1, 0});
  ExpectTensor(RunOp1("DFT", {F32({1, 1, 1}, {5}), Tensor::Scalar<int32_t>(3)}), {1, 3, 2},
               {5, 0, 5, 0, 5, 0});
}

TEST(Dft, Inverts) {
  const Tensor x = Pseudo({3, 10, 1});
  const Tensor spectrum = RunOp1("DFT", {x}), half = RunOp1("DFT", {x}, {{"onesided", int64_t{1}}});
  const Tensor back = RunOp1("DFT", {spectrum}, {{"inverse", int64_t{1}}});
  const Tensor real = RunOp1("DFT", {half}, {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}});
  EXPECT_EQ(real.TypeString(), "float32[3, 10, 1]");
  for (int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(back.data<float>()[2 * i], x.data<float>()[i], 1e-6);
    EXPECT_NEAR(real.data<float>()[i], x.data<float>()[i], 1e-6);
  }
  const Tensor odd = RunOp1("DFT",
                            {RunOp1("DFT", {F32({1, 3, 1}, {1, 5, 2})}, {{"onesided", int64_t{1}}}),
                             Tensor::Scalar<int64_t>(3)},
                            {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}});
  ExpectTensor(odd, {1, 3, 1}, {1, 5, 2});
}

TEST(Dft, RefusesBadArguments) {
  const auto code = [](const OpInputs& inputs, OpAttributes attributes = {}) {
    return RunOp("DFT", inputs, attributes).status().code();
  };
  EXPECT_EQ(code({Pseudo({1, 4, 3})}), Code::kShapeMismatch);
  EXPECT_EQ(code({Pseudo({1, 4, 2})}, {{"onesided", int64_t{1}}}), Code::kShapeMismatch);
  EXPECT_EQ(code({Pseudo({1, 4, 1}), Tensor::Scalar<int64_t>(0)}), Code::kInvalidArgument);
  EXPECT_EQ(code({Pseudo({1, 4, 1}), Tensor::Scalar<int64_t>(INT64_MAX)}), Code::kInvalidArgument);
  EXPECT_EQ(code({Pseudo({1, 4, 1}), std::nullopt, Tensor::Scalar<int64_t>(-1)}),
            Code::kInvalidArgument);
  EXPECT_EQ(
      InferText("DFT", {TypedInput(DataType::kFloat32, "[N, T, 1]")}, {{"onesided", int64_t{1}}}),
      "float32[N, floordiv(T, 2) + 1, 2]");
}

TEST(Stft, TransformsFrames) {
  const Tensor x = F32({1, 6, 1}, {1, 2, 3, 4, 5, 6}), step = Tensor::Scalar<int64_t>(2);
  ExpectTensor(RunOp1("STFT", {x, step, F32({4}, {1, 1, 0, 0})}), {1, 2, 3, 2},
               {3, 0, 1, -2, -1, 0, 7, 0, 3, -4, -1, 0});
  EXPECT_EQ(RunOp1("STFT", {x, step, std::nullopt, Tensor::Scalar<int64_t>(3)},
                   {{"onesided", int64_t{0}}})
                .TypeString(),
            "float32[1, 2, 3, 2]");
  EXPECT_EQ(RunOp1("STFT", {x, step}).TypeString(), "float32[1, 1, 4, 2]");
  EXPECT_EQ(RunOp("STFT", {x, Tensor::Scalar<int64_t>(0)}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunOp("STFT", {x, step, std::nullopt, Tensor::Scalar<int64_t>(7)}).status().code(),
            Code::kShapeMismatch);
}

TEST(Windows, HaveTheirFormulae) {
  ExpectTensor(RunOp1("HannWindow", {Tensor::Scalar<int64_t>(4)}), {4}, {0, 0.5, 1, 0.5});
  ExpectTensor(RunOp1("HannWindow", {Tensor::Scalar<int64_t>(3)}, {{"periodic", int64_t{0}}}), {3},
               {0, 1, 0});
  ExpectTensor(RunOp1("HammingWindow", {Tensor::Scalar<int32_t>(2)}), {2}, {4.0 / 46, 1});
  ExpectTensor(
      RunOp1("BlackmanWindow", {Tensor::Scalar<int64_t>(2)}, {{"output_datatype", int64_t{11}}}),
      {2}, {0, 1});
  ExpectTensor(RunOp1("HannWindow", {Tensor::Scalar<int64_t>(1)}, {{"periodic", int64_t{0}}}), {1},
               {1});
  EXPECT_EQ(RunOp1("HannWindow", {Tensor::Scalar<int64_t>(0)}).size(), 0);
  EXPECT_EQ(RunOp("HannWindow", {Tensor::Scalar<int64_t>(-1)}).status().code(),
            Code::kInvalidArgument);
}

TEST(MelWeightMatrix, MakesTriangles) {
  const auto scalar = [](int64_t value) { return Tensor::Scalar<int64_t>(value); };
  const Tensor mel = RunOp1("MelWeightMatrix",
                            {scalar(2), scalar(16), scalar(8192), F32({}, {0}), F32({}, {4096})});
  EXPECT_EQ(mel.TypeString(), "float32[9, 2]");
  EXPECT_EQ(RunOp("MelWeightMatrix",
                  {scalar(2), scalar(16), scalar(8192), F32({}, {0}), F32({}, {40960})})
                .status()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("MelWeightMatrix", {scalar(2), scalar(16), scalar(0), F32({}, {0}), F32({}, {1})})
                .status()
                .code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc::testing
