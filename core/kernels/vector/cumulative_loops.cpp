#include "core/kernels/vector/cumulative.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/cumulative_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As float32, infinity where that is too small for it.
template <class N, class V>
HWY_INLINE hn::Vec<N> Narrow(N narrow, V v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(narrow, static_cast<float>(hn::GetLane(v)));  // DemoteTo gives the largest number
#else
  return hn::DemoteTo(narrow, v);
#endif
}

// kVectors vectors of neighbouring columns, whose running values stay in registers.
template <bool kProduct, bool kExclusive, int kVectors, class D>
HWY_INLINE void Columns(D d, const float* x, float* y, int64_t n, int64_t step) {
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> running[kVectors];
  for (int v = 0; v < kVectors; ++v) running[v] = hn::Set(d, kProduct ? 1.0 : 0.0);
  for (int64_t i = 0; i < n; ++i, x += step, y += step) {
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * lanes;
      const auto before = running[v];
      const auto next = hn::PromoteTo(d, hn::LoadU(narrow, x + at));
      running[v] = kProduct ? hn::Mul(before, next) : hn::Add(before, next);
      hn::StoreU(Narrow(narrow, kExclusive ? before : running[v]), narrow, y + at);
    }
  }
}

template <bool kProduct, bool kExclusive>
HWY_INLINE void AllColumns(const float* x, float* y, int64_t n, int64_t step, int64_t columns) {
  constexpr int kMany = 8;
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + kMany * lanes <= columns; c += kMany * lanes)
    Columns<kProduct, kExclusive, kMany>(d, x + c, y + c, n, step);
  for (; c + lanes <= columns; c += lanes)
    Columns<kProduct, kExclusive, 1>(d, x + c, y + c, n, step);
  for (; c < columns; ++c) Columns<kProduct, kExclusive, 1>(one, x + c, y + c, n, step);
}

void CumulateLoop(bool product, bool exclusive, const float* x, float* y, int64_t n, int64_t step,
                  int64_t columns) {
  if (product) {
    exclusive ? AllColumns<true, true>(x, y, n, step, columns)
              : AllColumns<true, false>(x, y, n, step, columns);
  } else {
    exclusive ? AllColumns<false, true>(x, y, n, step, columns)
              : AllColumns<false, false>(x, y, n, step, columns);
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(CumulateLoop);

void CumulateColumns(bool product, bool exclusive, const float* x, float* y, int64_t n,
                     int64_t step, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(CumulateLoop)(product, exclusive, x, y, n, step, columns);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
