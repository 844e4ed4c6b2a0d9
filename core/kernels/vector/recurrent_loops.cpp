#include <algorithm>

#include "core/kernels/vector/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/recurrent_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// kRows rows of y in kVectors vectors from column `at` on: as many sums as there are registers for.
template <int kRows, int kVectors>
HWY_INLINE void MultiplyTile(const SmallProduct& p, int64_t row, size_t at) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const float* x = p.x + row * p.x_row;
  Vec sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] =
          hn::LoadU(d, p.start + (row + r) * p.start_row + at + static_cast<size_t>(v) * lanes);
    }
  }
  const float* w = p.w + at;
  for (int64_t k = 0; k < p.k; ++k, w += p.n) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const Vec weight = hn::LoadU(d, w + static_cast<size_t>(v) * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
        sum[r][v] = hn::MulAdd(hn::Set(d, x[r * p.x_row + k]), weight, sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], d, p.y + (row + r) * p.y_row + at + static_cast<size_t>(v) * lanes);
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void MultiplyRows(const SmallProduct& p, int64_t row) {
  const size_t lanes = hn::Lanes(Floats()), n = static_cast<size_t>(p.n);
  size_t at = 0;
  for (; at + kVectors * lanes <= n; at += kVectors * lanes)
    MultiplyTile<kRows, kVectors>(p, row, at);
  for (; at + lanes <= n; at += lanes) MultiplyTile<kRows, 1>(p, row, at);
  for (; at < n; ++at) {
    for (int r = 0; r < kRows; ++r) {
      float sum = p.start[(row + r) * p.start_row + static_cast<int64_t>(at)];
      for (int64_t k = 0; k < p.k; ++k)
        sum += p.x[(row + r) * p.x_row + k] * p.w[k * p.n + static_cast<int64_t>(at)];
      p.y[(row + r) * p.y_row + static_cast<int64_t>(at)] = sum;
    }
  }
}

void MultiplySmallLoop(const SmallProduct& p) {
#if HWY_TARGET == HWY_AVX3
  constexpr int kVectors = 4;
#else
  constexpr int kVectors = 2;
#endif
  int64_t row = 0;
  for (; row + 4 <= p.m; row += 4) MultiplyRows<4, kVectors>(p, row);
  for (; row < p.m; ++row) MultiplyRows<1, 8>(p, row);
}

void AddScaledSumsLoop(const ScaledSums& from, float* y, int64_t count) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  const Vec scale = hn::Set(d, from.scale),
            whole = hn::Mul(scale, hn::Set(d, from.column_scales[0]));
  ForVectors(d, static_cast<size_t>(count), [&](auto at) ASC_INLINE_LAMBDA {
    const Vec sums =
        hn::ConvertTo(d, hn::BitCast(integers, at.Load(reinterpret_cast<const float*>(from.sums))));
    const Vec scales = from.column_step == 0 ? whole : hn::Mul(scale, at.Load(from.column_scales));
    at.Store(hn::MulAdd(sums, scales, at.Load(from.start)), y);
  });
}

void UpdateLstmCellLoop(const float* gates, float* c, float* h, int64_t hidden) {
  const Floats d;
  ForVectors(d, static_cast<size_t>(hidden), [&](auto at) ASC_INLINE_LAMBDA {
    const Vec input = Sigmoid(d, at.Load(gates)), output = Sigmoid(d, at.Load(gates + hidden));
    const Vec forget = Sigmoid(d, at.Load(gates + 2 * hidden)),
              fresh = Tanh(d, at.Load(gates + 3 * hidden));
    const Vec state = hn::MulAdd(forget, at.Load(c), hn::Mul(input, fresh));
    at.Store(state, c);
    at.Store(hn::Mul(output, Tanh(d, state)), h);
  });
}

// update * h + (1 - update) * fresh
HWY_INLINE Vec BlendState(Vec update, Vec h, Vec fresh) {
  return hn::MulAdd(update, hn::Sub(h, fresh), fresh);
}

void UpdateGruCellLoop(const float* gates, const float* products, float* h, int64_t hidden) {
  const Floats d;
  ForVectors(d, static_cast<size_t>(hidden), [&](auto at) ASC_INLINE_LAMBDA {
    const Vec update = Sigmoid(d, hn::Add(at.Load(gates), at.Load(products)));
    const Vec reset = Sigmoid(d, hn::Add(at.Load(gates + hidden), at.Load(products + hidden)));
    const Vec fresh =
        Tanh(d, hn::MulAdd(reset, at.Load(products + 2 * hidden), at.Load(gates + 2 * hidden)));
    at.Store(BlendState(update, at.Load(h), fresh), h);
  });
}

void ResetGruStateLoop(const float* gates, const float* h, float* reset_h, int64_t hidden) {
  const Floats d;
  ForVectors(d, static_cast<size_t>(hidden), [&](auto at) ASC_INLINE_LAMBDA {
    at.Store(hn::Mul(Sigmoid(d, at.Load(gates + hidden)), at.Load(h)), reset_h);
  });
}

void FinishGruCellLoop(const float* gates, float* h, int64_t hidden) {
  const Floats d;
  ForVectors(d, static_cast<size_t>(hidden), [&](auto at) ASC_INLINE_LAMBDA {
    const Vec fresh = Tanh(d, at.Load(gates + 2 * hidden));
    at.Store(BlendState(Sigmoid(d, at.Load(gates)), at.Load(h), fresh), h);
  });
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(MultiplySmallLoop);
HWY_EXPORT(AddScaledSumsLoop);
HWY_EXPORT(UpdateLstmCellLoop);
HWY_EXPORT(UpdateGruCellLoop);
HWY_EXPORT(ResetGruStateLoop);
HWY_EXPORT(FinishGruCellLoop);

void MultiplySmall(const SmallProduct& product) {
  HWY_DYNAMIC_DISPATCH(MultiplySmallLoop)(product);
}
void AddScaledSums(const ScaledSums& from, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(AddScaledSumsLoop)(from, y, count);
}
void UpdateLstmCell(const float* gates, float* c, float* h, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(UpdateLstmCellLoop)(gates, c, h, hidden);
}
void UpdateGruCell(const float* gates, const float* products, float* h, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(UpdateGruCellLoop)(gates, products, h, hidden);
}
void ResetGruState(const float* gates, const float* h, float* reset_h, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(ResetGruStateLoop)(gates, h, reset_h, hidden);
}
void FinishGruCell(const float* gates, float* h, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(FinishGruCellLoop)(gates, h, hidden);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
