#include <algorithm>
#include <cmath>

#include "core/kernels/vector/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/rows_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// The largest element; where there is a NaN, any number or NaN.
HWY_INLINE Vec LargestOf(Floats d, const float* x, size_t n) {
  const auto larger = [](auto p, auto q) ASC_INLINE_LAMBDA { return MaxKeep(p, q); };
  const auto same = [](auto v) ASC_INLINE_LAMBDA { return v; };
  return hn::MaxOfLanes(d, ReduceVectors(d, x, n, hn::Neg(hn::Inf(d)), same, larger));
}

// The sum of exp(x - largest); the powers go to y where it is not null.
template <bool kStore>
HWY_INLINE double SumOfPowers(Floats d, const float* x, float* y, size_t n, Vec largest) {
  double sum = 0;
  for (size_t i = 0; i < n; i += SumChunk(d)) {
    Vec part = hn::Zero(d);
    ForVectors(d, std::min(SumChunk(d), n - i), [&](auto at) ASC_INLINE_LAMBDA {
      const Vec power = ExpNotPositive(d, hn::Sub(at.Load(x + i), largest));
      if constexpr (kStore) at.Store(power, y + i);
      part = hn::Add(part, at.Keep(power, hn::Zero(d)));
    });
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  return sum;
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Joins the n lanes of each row (2, 4 or 8) in all lanes of the row.
template <class Join>
HWY_INLINE Vec AcrossRow(Floats d, Vec v, size_t n, Join join) {
  v = join(v, hn::Reverse2(d, v));
  if (n > 2) v = join(v, hn::Reverse4(d, v));
  if (n > 4) v = join(v, hn::Reverse8(d, v));
  return v;
}

// Several short rows in a vector.
void SoftmaxShortRows(const float* x, float* y, size_t count, size_t n) {
  const Floats d;
  const auto larger = [](auto p, auto q) ASC_INLINE_LAMBDA { return MaxKeep(p, q); };
  const auto sum = [](auto p, auto q) ASC_INLINE_LAMBDA { return hn::Add(p, q); };
  ForVectors(d, count, [&](auto at) ASC_INLINE_LAMBDA {
    const Vec v = at.Load(x);
    const Vec power = ExpNotPositive(d, hn::Sub(v, AcrossRow(d, v, n, larger)));
    at.Store(hn::Div(power, AcrossRow(d, power, n, sum)), y);
  });
}
#endif

void SoftmaxRowsLoop(bool log, const float* x, float* y, int64_t rows, size_t n) {
  const Floats d;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if (!log && (n == 2 || n == 4 || n == 8))
    return SoftmaxShortRows(x, y, static_cast<size_t>(rows) * n, n);
#endif
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    const Vec largest = LargestOf(d, x, n);
    if (log) {
      const Vec shift =
          hn::Set(d, static_cast<float>(std::log(SumOfPowers<false>(d, x, y, n, largest))));
      ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
        at.Store(hn::Sub(hn::Sub(at.Load(x), largest), shift), y);
      });
    } else {
      const Vec factor =
          hn::Set(d, static_cast<float>(1.0 / SumOfPowers<true>(d, x, y, n, largest)));
      ForVectors(d, n,
                 [&](auto at) ASC_INLINE_LAMBDA { at.Store(hn::Mul(at.Load(y), factor), y); });
    }
  }
}

void SoftmaxColumnsLoop(bool log, const float* x, float* y, int64_t n, int64_t stride,
                        size_t columns) {
  const Floats d;
  ForVectors(d, columns, [&](auto at) ASC_INLINE_LAMBDA {
    Vec largest = hn::Neg(hn::Inf(d));
    for (int64_t i = 0; i < n; ++i) largest = MaxKeep(largest, at.Load(x + i * stride));
    Vec sum = hn::Zero(d), part = hn::Zero(d);
    for (int64_t i = 0; i < n; ++i) {
      const Vec shifted = hn::Sub(at.Load(x + i * stride), largest);
      const Vec power = ExpNotPositive(d, shifted);
      at.Store(log ? shifted : power, y + i * stride);
      part = hn::Add(part, power);
      // Partial sums keep rounding errors from growing with n.
      if (i % 64 == 63) {
        sum = hn::Add(sum, part);
        part = hn::Zero(d);
      }
    }
    sum = hn::Add(sum, part);
    const Vec change = log ? Log(d, sum) : hn::Div(hn::Set(d, 1.0f), sum);
    for (int64_t i = 0; i < n; ++i) {
      const Vec v = at.Load(y + i * stride);
      at.Store(log ? hn::Sub(v, change) : hn::Mul(v, change), y + i * stride);
    }
  });
}

HWY_INLINE Moments RowMoments(Floats d, const float* x, size_t n) {
  const auto count = static_cast<double>(n);
  const auto same = [](auto v) ASC_INLINE_LAMBDA { return v; };
  const auto mean = static_cast<float>(SumOf(d, x, n, same) / count);
  const Vec centre = hn::Set(d, mean);
  const auto square = [&](auto v) ASC_INLINE_LAMBDA {
    const Vec off = hn::Sub(v, centre);
    return hn::Mul(off, off);
  };
  return {mean, static_cast<float>(SumOf(d, x, n, square) / count)};
}

Moments MomentsLoop(const float* x, size_t n) { return RowMoments(Floats(), x, n); }

void NormaliseRowsLoop(const NormRows& norm) {
  const Floats d;
  const auto n = static_cast<size_t>(norm.n);
  for (int64_t row = 0; row < norm.rows; ++row) {
    const float* x = norm.x + row * norm.n;
    float* y = norm.y + row * norm.n;
    Moments moments{0, 0};
    if (norm.centred) {
      moments = RowMoments(d, x, n);
    } else {
      const auto square = [](auto v) ASC_INLINE_LAMBDA { return hn::Mul(v, v); };
      moments.variance = static_cast<float>(SumOf(d, x, n, square) / static_cast<double>(n));
    }
    const float inverse = 1.0f / std::sqrt(moments.variance + norm.epsilon);
    if (norm.means != nullptr) norm.means[row] = moments.mean;
    if (norm.inverses != nullptr) norm.inverses[row] = inverse;
    const Vec mean = hn::Set(d, moments.mean), factor = hn::Set(d, inverse);
    if (norm.bias != nullptr) {
      ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
        const Vec v = hn::Mul(hn::Sub(at.Load(x), mean), factor);
        at.Store(hn::MulAdd(v, at.Load(norm.scale), at.Load(norm.bias)), y);
      });
    } else {
      ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
        at.Store(hn::Mul(hn::Mul(hn::Sub(at.Load(x), mean), factor), at.Load(norm.scale)), y);
      });
    }
  }
}

void CenterScaleRowsLoop(const float* x, float* y, int64_t rows, size_t n, const float* mean,
                         const float* scale, const float* bias) {
  const Floats d;
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    const Vec m = hn::Set(d, mean[row]), s = hn::Set(d, scale[row]), b = hn::Set(d, bias[row]);
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      at.Store(hn::MulAdd(hn::Sub(at.Load(x), m), s, b), y);
    });
  }
}

void CenterScaleColumnsLoop(const float* x, float* y, int64_t rows, size_t n, const float* mean,
                            const float* scale, const float* bias) {
  const Floats d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      const Vec off = hn::Sub(at.Load(x), at.Load(mean));
      at.Store(hn::MulAdd(off, at.Load(scale), at.Load(bias)), y);
    });
  }
}

void CenterScalePixelsLoop(const float* x, float* y, size_t pixels, size_t c0, const float* mean,
                           const float* scale, const float* bias) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kMost = 64;
  // The parameters repeated until they fill whole vectors.
  HWY_ALIGN float pattern[3][kMost];
  const size_t period = std::max(lanes, c0);
  for (size_t i = 0; i < period; ++i) {
    pattern[0][i] = mean[i % c0];
    pattern[1][i] = scale[i % c0];
    pattern[2][i] = bias[i % c0];
  }
  size_t phase = 0;
  ForVectors(d, pixels * c0, [&](auto at) ASC_INLINE_LAMBDA {
    const Vec off = hn::Sub(at.Load(x), hn::Load(d, pattern[0] + phase));
    at.Store(hn::MulAdd(off, hn::Load(d, pattern[1] + phase), hn::Load(d, pattern[2] + phase)), y);
    phase = (phase + lanes) & (period - 1);
  });
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(SoftmaxRowsLoop);
HWY_EXPORT(SoftmaxColumnsLoop);
HWY_EXPORT(MomentsLoop);
HWY_EXPORT(NormaliseRowsLoop);
HWY_EXPORT(CenterScaleRowsLoop);
HWY_EXPORT(CenterScaleColumnsLoop);
HWY_EXPORT(CenterScalePixelsLoop);

void SoftmaxRows(bool log, const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRowsLoop)(log, x, y, rows, static_cast<size_t>(n));
}
void SoftmaxColumns(bool log, const float* x, float* y, int64_t n, int64_t stride,
                    int64_t columns) {
  HWY_DYNAMIC_DISPATCH(SoftmaxColumnsLoop)(log, x, y, n, stride, static_cast<size_t>(columns));
}
void NormaliseRows(const NormRows& norm) { HWY_DYNAMIC_DISPATCH(NormaliseRowsLoop)(norm); }
Moments MomentsOf(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(MomentsLoop)(x, static_cast<size_t>(n));
}
void CenterScaleRows(const float* x, float* y, int64_t rows, int64_t n, const float* mean,
                     const float* scale, const float* bias) {
  HWY_DYNAMIC_DISPATCH(CenterScaleRowsLoop)(x, y, rows, static_cast<size_t>(n), mean, scale, bias);
}
void CenterScaleColumns(const float* x, float* y, int64_t rows, int64_t n, const float* mean,
                        const float* scale, const float* bias) {
  HWY_DYNAMIC_DISPATCH(CenterScaleColumnsLoop)
  (x, y, rows, static_cast<size_t>(n), mean, scale, bias);
}
void CenterScalePixels(const float* x, float* y, int64_t pixels, int64_t c0, const float* mean,
                       const float* scale, const float* bias) {
  HWY_DYNAMIC_DISPATCH(CenterScalePixelsLoop)
  (x, y, static_cast<size_t>(pixels), static_cast<size_t>(c0), mean, scale, bias);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
