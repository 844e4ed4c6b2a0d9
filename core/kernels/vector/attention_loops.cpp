#include <algorithm>
#include <cmath>

#include "core/kernels/vector/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/attention_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// A vector of `v` where the condition does not ask for the fill.
template <class Place>
HWY_INLINE Vec Fill(const AttentionScores& s, const bool* condition, Place at, Vec v) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> bytes;
  const hn::RebindToSigned<Floats> ints;
  if (s.condition_step == 0) return *condition == s.fill_where ? hn::Set(d, s.fill) : v;
  hn::Vec<decltype(bytes)> truth;
  if (at.Count() == hn::Lanes(d)) {
    truth = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(condition) + at.i);
  } else {
    HWY_ALIGN uint8_t tail[hn::MaxLanes(d)] = {};
    std::memcpy(tail, condition + at.i, at.Count());
    truth = hn::Load(bytes, tail);
  }
  const auto fill = hn::Eq(hn::PromoteTo(ints, truth), hn::Set(ints, s.fill_where ? 1 : 0));
  return hn::IfThenElse(hn::RebindMask(d, fill), hn::Set(d, s.fill), v);
}

// Caps and masks a row of n elements and gives its largest one; where there is a NaN, any number or
// NaN.
HWY_INLINE Vec MaskRow(const AttentionScores& s, float* x, size_t n, const float* mask,
                       const bool* condition) {
  const Floats d;
  Vec largest = hn::Neg(hn::Inf(d));
  const Vec cap = hn::Set(d, s.softcap);
  ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
    Vec v = at.Load(x);
    if (s.softcap > 0) v = hn::Mul(cap, Tanh(d, hn::Div(v, cap)));
    if (condition != nullptr) v = Fill(s, condition, at, v);
    if (mask != nullptr) v = hn::Add(v, s.mask_step == 0 ? hn::Set(d, *mask) : at.Load(mask));
    at.Store(v, x);
    largest = MaxKeep(largest, at.Keep(v, hn::Neg(hn::Inf(d))));
  });
  return hn::MaxOfLanes(d, largest);
}

HWY_INLINE Vec LargestOfRow(const float* x, size_t n) {
  const Floats d;
  const auto larger = [](auto p, auto q) ASC_INLINE_LAMBDA { return MaxKeep(p, q); };
  const auto same = [](auto v) ASC_INLINE_LAMBDA { return v; };
  return hn::MaxOfLanes(d, ReduceVectors(d, x, n, hn::Neg(hn::Inf(d)), same, larger));
}

// The scores become powers, of which it gives the sum.
HWY_INLINE double RaiseRow(float* x, size_t n, float largest) {
  const Floats d;
  const Vec shift = hn::Set(d, largest);
  double sum = 0;
  for (size_t i = 0; i < n; i += SumChunk(d)) {
    Vec part = hn::Zero(d);
    ForVectors(d, std::min(SumChunk(d), n - i), [&](auto at) ASC_INLINE_LAMBDA {
      const Vec power = ExpNotPositive(d, hn::Sub(at.Load(x + i), shift));
      at.Store(power, x + i);
      part = hn::Add(part, at.Keep(power, hn::Zero(d)));
    });
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  return sum;
}

// The largest of n scores from key `begin` of row `i` on, capped and masked.
HWY_INLINE float PrepareRow(const AttentionScores& s, int64_t i, int64_t begin, float* x,
                            size_t n) {
  const float* mask = s.mask == nullptr ? nullptr : s.mask + i * s.mask_row + begin * s.mask_step;
  const bool* condition = s.condition == nullptr
                              ? nullptr
                              : s.condition + i * s.condition_row + begin * s.condition_step;
  const bool plain = mask == nullptr && condition == nullptr && !(s.softcap > 0);
  return hn::GetLane(plain ? LargestOfRow(x, n) : MaskRow(s, x, n, mask, condition));
}

// Of numbers that are all minus infinity or NaN: whether there is a NaN.
HWY_INLINE bool AnyNan(const float* x, size_t n) {
  const Floats d;
  const auto add = [](auto p, auto q) ASC_INLINE_LAMBDA { return hn::Add(p, q); };
  const auto same = [](auto v) ASC_INLINE_LAMBDA { return v; };
  return !hn::AllFalse(d, hn::IsNaN(ReduceVectors(d, x, n, hn::Zero(d), same, add)));
}

void WeightScoresLoop(const AttentionScores& s) {
  const Floats d;
  // One pass over several rows after the other: the reduction of a row ends while the next is read.
  constexpr int64_t kRows = 8;
  struct Row {
    float* x;
    size_t n;
    float largest;
    double sum;
  };
  for (int64_t first = 0; first < s.rows; first += kRows) {
    const int64_t count = std::min(kRows, s.rows - first);
    Row rows[kRows];
    for (int64_t i = 0; i < count; ++i) {
      float* const keys = s.scores + (first + i) * s.row;
      const int64_t begin = std::clamp(s.seen.Begin(first + i), s.first_key, s.last_key),
                    end = std::clamp(s.seen.End(first + i), begin, s.last_key);
      std::fill(keys + s.first_key, keys + begin, 0.0f);
      std::fill(keys + end, keys + s.last_key, 0.0f);
      Row& row = rows[i];
      row = {keys + begin, static_cast<size_t>(end - begin), 0, 0};
      row.largest = PrepareRow(s, first + i, begin, row.x, row.n);
      if (s.clear_hidden && row.largest == -HUGE_VALF && !AnyNan(row.x, row.n)) {
        std::fill_n(row.x, row.n, 0.0f);
        row.n = 0;
      }
    }
    for (int64_t i = 0; i < count; ++i)
      rows[i].sum = RaiseRow(rows[i].x, rows[i].n, rows[i].largest);
    for (int64_t i = 0; i < count; ++i) {
      const Row& row = rows[i];
      // A sum that is NaN makes all of the row NaN.
      if (s.clear_nan && row.sum != row.sum) {
        std::fill_n(row.x, row.n, 0.0f);
        continue;
      }
      const Vec factor = hn::Set(d, static_cast<float>(1.0 / row.sum));
      ForVectors(d, row.n, [&](auto at) ASC_INLINE_LAMBDA {
        at.Store(hn::Mul(at.Load(row.x), factor), row.x);
      });
    }
  }
}

// Dot products of x with kRows rows.
template <int kRows>
HWY_INLINE void DotRows(const float* x, const float* rows, int64_t row, size_t n, float scale,
                        float* y) {
  const Floats d;
  Vec sums[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
    const Vec factor = at.Load(x);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(factor, at.Load(rows + r * row), sums[r]);
  });
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) y[r] = scale * hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

void MultiplyByRowsLoop(const float* x, const float* rows, int64_t row, int64_t count, size_t n,
                        float scale, float* y) {
  constexpr int kRows = 8;
  int64_t i = 0;
  for (; i + kRows <= count; i += kRows) DotRows<kRows>(x, rows + i * row, row, n, scale, y + i);
  for (; i < count; ++i) DotRows<1>(x, rows + i * row, row, n, scale, y + i);
}

// kVectors vectors of columns; two sums each hide the latency of additions.
template <int kVectors>
HWY_INLINE void AddUpColumns(const float* x, const float* rows, int64_t row, int64_t count,
                             float scale, float* y) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  Vec even[kVectors], odd[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 <= count; i += 2, rows += 2 * row) {
    const Vec first = hn::Set(d, x[i]), second = hn::Set(d, x[i + 1]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) {
      even[v] = hn::MulAdd(first, hn::LoadU(d, rows + v * lanes), even[v]);
      odd[v] = hn::MulAdd(second, hn::LoadU(d, rows + row + v * lanes), odd[v]);
    }
  }
  if (i < count) {
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v)
      even[v] = hn::MulAdd(hn::Set(d, x[i]), hn::LoadU(d, rows + v * lanes), even[v]);
  }
#pragma GCC unroll 8
  for (size_t v = 0; v < kVectors; ++v)
    hn::StoreU(hn::Mul(hn::Add(even[v], odd[v]), hn::Set(d, scale)), d, y + v * lanes);
}

void AddUpRowsLoop(const float* x, const float* rows, int64_t row, int64_t count, size_t n,
                   float scale, float* y) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) AddUpColumns<4>(x, rows + j, row, count, scale, y + j);
  for (; j + lanes <= n; j += lanes) AddUpColumns<1>(x, rows + j, row, count, scale, y + j);
  if (j == n) return;
  Vec sum = hn::Zero(d);
  for (int64_t i = 0; i < count; ++i)
    sum = hn::MulAdd(hn::Set(d, x[i]), LoadTail(d, rows + i * row + j, n - j), sum);
  StoreTail(d, hn::Mul(sum, hn::Set(d, scale)), y + j, n - j);
}

bool AreFiniteLoop(const float* rows, int64_t row, int64_t count, size_t n) {
  if (row == static_cast<int64_t>(n)) return AllFinite(rows, static_cast<size_t>(count) * n);
  for (int64_t i = 0; i < count; ++i) {
    if (!AllFinite(rows + i * row, n)) return false;
  }
  return true;
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(WeightScoresLoop);
HWY_EXPORT(MultiplyByRowsLoop);
HWY_EXPORT(AddUpRowsLoop);
HWY_EXPORT(AreFiniteLoop);

void WeightScores(const AttentionScores& scores) { HWY_DYNAMIC_DISPATCH(WeightScoresLoop)(scores); }
void MultiplyByRows(const float* x, const float* rows, int64_t row, int64_t count, int64_t n,
                    float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(MultiplyByRowsLoop)
  (x, rows, row, count, static_cast<size_t>(n), scale, y);
}
void AddUpRows(const float* x, const float* rows, int64_t row, int64_t count, int64_t n,
               float scale, float* y) {
  HWY_DYNAMIC_DISPATCH(AddUpRowsLoop)(x, rows, row, count, static_cast<size_t>(n), scale, y);
}
bool AreFinite(const float* rows, int64_t row, int64_t count, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(AreFiniteLoop)(rows, row, count, static_cast<size_t>(n));
}
}  // namespace asc::simd
#endif  // HWY_ONCE
