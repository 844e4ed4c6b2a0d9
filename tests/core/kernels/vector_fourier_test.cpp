// DFT and STFT against the reference kernels, and their transforms against the definition.
#include <cmath>
#include <numbers>

#include "core/kernels/vector/fourier.h"
#include "tests/core/kernels/kernel_test.h"

namespace asc::testing {
namespace {
using Names = std::vector<std::string>;

Tensor As(DataType type, const Tensor& x) {
  if (type == DataType::kFloat32) return x;
  Tensor out = Tensor::Allocate(type, x.dims()).value();
  for (int64_t i = 0; i < x.size(); ++i) {
    const float value = x.data<float>()[i];
    if (type == DataType::kFloat64) out.data<double>()[i] = static_cast<double>(value) / 3;
    if (type == DataType::kFloat16) out.data<Half>()[i] = Half(value);
    if (type == DataType::kBFloat16) out.data<BFloat16>()[i] = BFloat16(value);
  }
  return out;
}

double Tolerance(DataType type) {
  if (type == DataType::kFloat64) return 1e-13;
  return type == DataType::kFloat32 ? 3e-6 : type == DataType::kFloat16 ? 2e-3 : 1e-2;
}

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16,
                               DataType::kBFloat16};

struct Kind {
  bool inverse = false, onesided = false;
};

void ExpectDft(const Tensor& x, Kind kind, std::optional<int64_t> length, int64_t axis,
               double tolerance, int threads = 1) {
  KernelCase test;
  test.op = "DFT";
  test.inputs = {x, length ? std::optional(Tensor::Scalar<int64_t>(*length)) : std::nullopt,
                 Tensor::Scalar<int64_t>(axis)};
  test.attributes.Set("inverse", int64_t{kind.inverse});
  test.attributes.Set("onesided", int64_t{kind.onesided});
  test.threads = threads;
  EXPECT_EQ(ExpectKernelsAgree(test, tolerance), Names{"vector.dft"});
}

TEST(VectorFourier, TransformsEveryLengthAndType) {
  for (const DataType type : kTypes) {
    // Below what is worth it, products of small primes, and lengths that take a chirp.
    for (const int64_t n : {1, 7, 31, 32, 33, 48, 60, 77, 97, 128, 134, 169, 250, 512, 713, 1000}) {
      for (const int64_t width : {1, 2}) {
        const Tensor x = As(type, Noise({2, n, width}));
        ExpectDft(x, {}, std::nullopt, 1, Tolerance(type));
        ExpectDft(x, {.inverse = true}, std::nullopt, 1, Tolerance(type));
      }
      ExpectDft(As(type, Noise({2, n, 1})), {.onesided = true}, std::nullopt, 1, Tolerance(type));
      ExpectDft(As(type, Noise({2, n / 2 + 1, 2})), {.inverse = true, .onesided = true}, n, 1,
                Tolerance(type));
    }
  }
}

TEST(VectorFourier, CutsAndFillsLinesAlongAnyAxis) {
  for (const DataType type : kTypes) {
    for (const int64_t width : {1, 2}) {
      const Tensor x = As(type, Noise({3, 50, 4, width}));
      for (const int64_t length : {40, 64, 97}) ExpectDft(x, {}, length, 1, Tolerance(type));
      ExpectDft(x, {}, 36, 0, Tolerance(type));
      ExpectDft(x, {}, 36, 2, Tolerance(type));
    }
  }
}

TEST(VectorFourier, SharesLinesOut) {
  ExpectDft(Noise({40, 1024, 1}), {}, std::nullopt, 1, 3e-6, 3);
  ExpectDft(Noise({40, 1024, 2}), {.inverse = true}, std::nullopt, 1, 3e-6, 3);
}

TEST(VectorFourier, TransformsFrames) {
  for (const DataType type : kTypes) {
    for (const int64_t frame : {16, 64, 75, 97, 400}) {
      for (const bool windowed : {false, true}) {
        for (const int64_t width : {1, 2}) {
          KernelCase test;
          test.op = "STFT";
          test.inputs = {As(type, Noise({2, 1000, width})), Tensor::Scalar<int64_t>(37),
                         windowed ? std::optional(As(type, Noise({frame}, 2))) : std::nullopt,
                         Tensor::Scalar<int64_t>(frame)};
          test.attributes.Set("onesided", int64_t{width == 1});
          EXPECT_EQ(ExpectKernelsAgree(test, Tolerance(type)), Names{"vector.stft"});
        }
      }
    }
  }
}

// The largest difference from the definition, summed in long double, beside the largest element.
template <typename R>
double ErrorOf(int64_t n) {
  const simd::Fourier<R> fourier(n);
  const Tensor noise = Noise({2, n});
  simd::ComplexVector<R> x(fourier.size()), work(fourier.size());
  for (int64_t i = 0; i < n; ++i) {
    x.view().re[i] = static_cast<R>(noise.data<float>()[i]);
    x.view().im[i] = static_cast<R>(noise.data<float>()[n + i]);
  }
  const auto y = fourier.Transform(x.view(), work.view());
  long double error = 0, largest = 0;
  for (int64_t k = 0; k < n; ++k) {
    long double re = 0, im = 0;
    for (int64_t i = 0; i < n; ++i) {
      const long double angle = -2 * std::numbers::pi_v<long double> *
                                static_cast<long double>(k * i % n) / static_cast<long double>(n);
      const long double a = noise.data<float>()[i], b = noise.data<float>()[n + i];
      re += a * std::cos(angle) - b * std::sin(angle);
      im += a * std::sin(angle) + b * std::cos(angle);
    }
    largest = std::max({largest, std::abs(re), std::abs(im)});
    error = std::max({error, std::abs(re - static_cast<long double>(y.re[k])),
                      std::abs(im - static_cast<long double>(y.im[k]))});
  }
  return static_cast<double>(error / largest);
}

TEST(VectorFourier, FollowsTheDefinition) {
  for (const int64_t n :
       {1, 2, 3, 4, 5, 6, 8, 12, 16, 29, 30, 31, 37, 64, 210, 256, 361, 405, 502}) {
    EXPECT_LT(ErrorOf<float>(n), 5e-7) << n;
    EXPECT_LT(ErrorOf<double>(n), 2e-15) << n;
  }
}
}  // namespace
}  // namespace asc::testing
