// The loops of Fourier transforms, vectorised; complex numbers as arrays of real and of imaginary
// parts. All run on the calling thread, for float and double.
#ifndef ASC_CORE_KERNELS_VECTOR_FOURIER_LOOPS_H_
#define ASC_CORE_KERNELS_VECTOR_FOURIER_LOOPS_H_

#include <cstdint>

namespace asc::simd {

constexpr int64_t kLargestFourierFactor = 31;
constexpr int64_t kFourierPadding = 16;  // buffers that are "padded" hold a multiple of as many

template <typename R>
struct ComplexArray {
  R* re;
  R* im;
};

// One pass of Stockham's self-sorting transform, from [done, factor, rest] to [factor, done, rest]:
// transforms over `factor`, multiplied by twiddles[(q - 1) * rest + i], q from 1. `factor` is 2, 4,
// or odd and at most kLargestFourierFactor; roots[k] is exp(-2 pi i k / factor).
template <typename R>
struct FourierPass {
  int64_t factor, done, rest;
  ComplexArray<const R> twiddles, roots;
};
void RunPass(const FourierPass<float>& pass, ComplexArray<const float> in, ComplexArray<float> out);
void RunPass(const FourierPass<double>& pass, ComplexArray<const double> in,
             ComplexArray<double> out);

// Transforms of n = 2 m real numbers from that of their even and odd ones as real and imaginary
// parts, z [m]: x [m + 1], with turns[k] = exp(-2 pi i k / n). z and x are padded and differ.
void JoinReal(ComplexArray<const float> z, ComplexArray<const float> turns, int64_t m,
              ComplexArray<float> x);
void JoinReal(ComplexArray<const double> z, ComplexArray<const double> turns, int64_t m,
              ComplexArray<double> x);

// x[i] *= by[i] * scale, in padded arrays.
void MultiplyComplex(ComplexArray<float> x, ComplexArray<const float> by, float scale, int64_t n);
void MultiplyComplex(ComplexArray<double> x, ComplexArray<const double> by, double scale,
                     int64_t n);

// z[i] = (x[2 i] * w[2 i], x[2 i + 1] * w[2 i + 1]) for i < n; w may be null (ones).
void SplitPairs(const float* x, const float* w, int64_t n, ComplexArray<float> z);
void SplitPairs(const double* x, const double* w, int64_t n, ComplexArray<double> z);
// The other way: y[2 i] = z.re[i] * scale, y[2 i + 1] = z.im[i] * scale.
void JoinPairs(ComplexArray<const float> z, float scale, int64_t n, float* y);
void JoinPairs(ComplexArray<const double> z, double scale, int64_t n, double* y);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_FOURIER_LOOPS_H_
