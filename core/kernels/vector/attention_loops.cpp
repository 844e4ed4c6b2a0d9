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
    // The bound tells the compiler what holds anyway.
    std::memcpy(tail, condition + at.i, std::min(at.Count(), sizeof tail));
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
      if (s.first_key < begin) std::fill(keys + s.first_key, keys + begin, 0.0f);
      if (end < s.last_key) std::fill(keys + end, keys + s.last_key, 0.0f);
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

// Vectors that are multiplied at once: as many sums as registers hold.
constexpr int kManyVectors = 4;
// Rows of keys, or vectors of columns of values, beside them.
constexpr int kManyRows = hn::MaxLanes(Floats()) > 8 ? 4 : 2;

#if HWY_TARGET != HWY_SCALAR
// The sum of the blocks of four lanes.
template <class D>
HWY_INLINE auto AddBlocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return AddBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// y[r] = scale * the sum of the lanes of sums[r].
template <int kSums>
HWY_INLINE void StoreSums(const Vec (&sums)[kSums], float scale, float* y) {
  const Floats d;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kSums % 4 == 0) {
    const hn::Repartition<uint64_t, Floats> wide;
    const hn::CappedTag<float, 4> four;
    const auto pair = [&](Vec a, Vec b) HWY_ATTR {
      return hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
    };
#pragma GCC unroll 8
    for (int r = 0; r < kSums; r += 4) {
      const auto low = pair(sums[r], sums[r + 1]), high = pair(sums[r + 2], sums[r + 3]);
      const Vec all = hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, low, high)),
                              hn::BitCast(d, hn::InterleaveUpper(wide, low, high)));
      hn::StoreU(hn::Mul(AddBlocks(d, all), hn::Set(four, scale)), four, y + r);
    }
    return;
  }
#endif
#pragma GCC unroll 8
  for (int r = 0; r < kSums; ++r) y[r] = scale * hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

// Dot products of kVectors vectors with kRows rows.
template <int kVectors, int kRows>
HWY_INLINE void DotRows(const RowProduct& p, const float* x, int64_t i, float* y) {
  const Floats d;
  const float* rows = p.rows + i * p.row;
  Vec sums[kVectors][kRows];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[v][r] = hn::Zero(d);
  }
  ForVectors(d, static_cast<size_t>(p.n), [&](auto at) ASC_INLINE_LAMBDA {
    Vec factors[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) factors[v] = at.Load(x + v * p.x_row);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec row = at.Load(rows + r * p.row);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[v][r] = hn::MulAdd(factors[v], row, sums[v][r]);
    }
  });
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) StoreSums(sums[v], p.scale, y + v * p.y_row + i);
}

template <int kVectors, int kRows>
HWY_INLINE void DotAllRows(const RowProduct& p, const float* x, float* y) {
  int64_t i = 0;
  for (; i + kRows <= p.count; i += kRows) DotRows<kVectors, kRows>(p, x, i, y);
  for (; i < p.count; ++i) DotRows<kVectors, 1>(p, x, i, y);
}

void MultiplyByRowsLoop(const RowProduct& p) {
  int64_t v = 0;
  for (; v + kManyVectors <= p.vectors; v += kManyVectors)
    DotAllRows<kManyVectors, kManyRows>(p, p.x + v * p.x_row, p.y + v * p.y_row);
  for (; v < p.vectors; ++v) DotAllRows<1, 8>(p, p.x + v * p.x_row, p.y + v * p.y_row);
}

// kColumns vectors of columns from column j on; kChains sums each hide the latency of additions.
template <int kVectors, int kColumns, int kChains>
HWY_INLINE void AddUpColumns(const RowProduct& p, const float* x, int64_t j, float* y) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* rows = p.rows + j;
  Vec sums[kChains][kVectors][kColumns];
#pragma GCC unroll 8
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < kColumns; ++c) sums[chain][v][c] = hn::Zero(d);
    }
  }
  const auto add = [&](int64_t i, auto& to) ASC_INLINE_LAMBDA {
    Vec factors[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) factors[v] = hn::Set(d, x[v * p.x_row + i]);
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) {
      const Vec row = hn::LoadU(d, rows + i * p.row + c * lanes);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) to[v][c] = hn::MulAdd(factors[v], row, to[v][c]);
    }
  };
  int64_t i = 0;
  for (; i + kChains <= p.count; i += kChains) {
#pragma GCC unroll 8
    for (int chain = 0; chain < kChains; ++chain) add(i + chain, sums[chain]);
  }
  for (; i < p.count; ++i) add(i, sums[0]);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) {
      Vec sum = sums[0][v][c];
#pragma GCC unroll 8
      for (int chain = 1; chain < kChains; ++chain) sum = hn::Add(sum, sums[chain][v][c]);
      hn::StoreU(hn::Mul(sum, hn::Set(d, p.scale)), d, y + v * p.y_row + j + c * lanes);
    }
  }
}

// The columns from j on, less than a vector.
HWY_INLINE void AddUpTail(const RowProduct& p, const float* x, int64_t j, float* y) {
  const Floats d;
  const auto tail = static_cast<size_t>(p.n - j);
  Vec sum = hn::Zero(d);
  for (int64_t i = 0; i < p.count; ++i)
    sum = hn::MulAdd(hn::Set(d, x[i]), LoadTail(d, p.rows + i * p.row + j, tail), sum);
  StoreTail(d, hn::Mul(sum, hn::Set(d, p.scale)), y + j, tail);
}

template <int kVectors, int kColumns, int kChains>
HWY_INLINE void AddUpAllColumns(const RowProduct& p, const float* x, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t j = 0;
  for (; j + kColumns * lanes <= p.n; j += kColumns * lanes)
    AddUpColumns<kVectors, kColumns, kChains>(p, x, j, y);
  for (; j + lanes <= p.n; j += lanes) AddUpColumns<kVectors, 1, 2>(p, x, j, y);
  if (j == p.n) return;
  for (int v = 0; v < kVectors; ++v) AddUpTail(p, x + v * p.x_row, j, y + v * p.y_row);
}

void AddUpRowsLoop(const RowProduct& p) {
  int64_t v = 0;
  for (; v + kManyVectors <= p.vectors; v += kManyVectors)
    AddUpAllColumns<kManyVectors, kManyRows, 1>(p, p.x + v * p.x_row, p.y + v * p.y_row);
  for (; v < p.vectors; ++v) AddUpAllColumns<1, 4, 2>(p, p.x + v * p.x_row, p.y + v * p.y_row);
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
void MultiplyByRows(const RowProduct& product) {
  HWY_DYNAMIC_DISPATCH(MultiplyByRowsLoop)(product);
}
void AddUpRows(const RowProduct& product) { HWY_DYNAMIC_DISPATCH(AddUpRowsLoop)(product); }
bool AreFinite(const float* rows, int64_t row, int64_t count, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(AreFiniteLoop)(rows, row, count, static_cast<size_t>(n));
}
}  // namespace asc::simd
#endif  // HWY_ONCE
