// What the loops of products share: how rows of sums grow in registers, and how they are finished.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_GEMM_TILE_INL_H_
#undef ASC_CORE_KERNELS_GEMM_TILE_INL_H_
#else
#define ASC_CORE_KERNELS_GEMM_TILE_INL_H_
#endif

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;

// A row of sums is up to two vectors; there are as many rows as leave registers for two vectors of
// the right operand and a factor.
constexpr int kVectors = 2;
#ifdef ASC_SMALL_TILES
constexpr int kRows = 3;
#elif HWY_TARGET == HWY_AVX3
constexpr int kRows = 14;
#elif HWY_TARGET == HWY_NEON
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif
// The last vector may be computed as its lower half, which takes half as long where vectors of 512
// bits run as two.
constexpr int kHalves = HWY_TARGET == HWY_AVX3 ? 2 : 1;
// Steps of k in the body of the loop.
#ifdef ASC_SMALL_TILES
constexpr int kUnroll = 1;
#else
constexpr int kUnroll = 4;
#endif
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Floats()));
constexpr int64_t kWidth = kVectors * kLanes;

// Calls f(0) ... f(kCount - 1) with constants.
template <int kCount, class F>
HWY_INLINE void Repeat(F f) {
  [&]<int... I>(std::integer_sequence<int, I...>) ASC_INLINE_LAMBDA {
    (f(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, kCount>());
}

// Where the rows of the left operand stand. Row r is reached from the first or the eighth by one of
// three distances, times 1, 2 or 4, which x86 takes as parts of an address.
struct Rows {
  const float *first, *eighth;
  int64_t step, step3, step5;  // of 1, 3 and 5 rows, in bytes
};
HWY_INLINE Rows RowsAt(const float* a, int64_t row) {
  const int64_t step = row * static_cast<int64_t>(sizeof(float));
  return {a, a + 7 * row, step, 3 * step, 5 * step};
}

// sums[v][kRow] += x[kRow][kAt] * b[v]; kHalf: the upper half of the last one becomes zero.
template <int kRow, int kAt, bool kHalf, int kColumns, int kCount>
HWY_INLINE void MultiplyRow(const Rows& x, const Vec (&b)[kColumns],
                            Vec (&sums)[kColumns][kCount]) {
  constexpr int kAway = kRow % 7;
  [[maybe_unused]] constexpr int kScale = kAway == 6 ? 2 : kAway == 2 || kAway == 4 ? kAway : 1;
  const float* base = kRow < 7 ? x.first : x.eighth;
  const int64_t step = kAway == 3 || kAway == 6 ? x.step3 : kAway == 5 ? x.step5 : x.step;
  // Where gcc may order these instructions itself, it moves sums to memory and back. The memory that
  // they read was written before the function around them was called, so none is named.
#if HWY_TARGET == HWY_AVX3
  Repeat<kColumns>([&](auto v) ASC_INLINE_LAMBDA {
    constexpr bool kLower = kHalf && v == kColumns - 1;
    if constexpr (kAway == 0 && kLower) {
      asm volatile("vfmadd231ps %c[at](%[base])%{1to8%}, %t[b], %t[sum]"
                   : [sum] "+v"(sums[v][kRow].raw)
                   : [b] "v"(b[v].raw), [base] "r"(base), [at] "i"(4 * kAt));
    } else if constexpr (kAway == 0) {
      asm volatile("vfmadd231ps %c[at](%[base])%{1to16%}, %[b], %[sum]"
                   : [sum] "+v"(sums[v][kRow].raw)
                   : [b] "v"(b[v].raw), [base] "r"(base), [at] "i"(4 * kAt));
    } else if constexpr (kLower) {
      asm volatile("vfmadd231ps %c[at](%[base],%[step],%c[scale])%{1to8%}, %t[b], %t[sum]"
                   : [sum] "+v"(sums[v][kRow].raw)
                   : [b] "v"(b[v].raw), [base] "r"(base), [step] "r"(step), [scale] "i"(kScale),
                     [at] "i"(4 * kAt));
    } else {
      asm volatile("vfmadd231ps %c[at](%[base],%[step],%c[scale])%{1to16%}, %[b], %[sum]"
                   : [sum] "+v"(sums[v][kRow].raw)
                   : [b] "v"(b[v].raw), [base] "r"(base), [step] "r"(step), [scale] "i"(kScale),
                     [at] "i"(4 * kAt));
    }
  });
#elif HWY_TARGET == HWY_AVX2
  Vec factor;
  if constexpr (kAway == 0) {
    asm volatile("vbroadcastss %c[at](%[base]), %[factor]"
                 : [factor] "=x"(factor.raw)
                 : [base] "r"(base), [at] "i"(4 * kAt));
  } else {
    asm volatile("vbroadcastss %c[at](%[base],%[step],%c[scale]), %[factor]"
                 : [factor] "=x"(factor.raw)
                 : [base] "r"(base), [step] "r"(step), [scale] "i"(kScale), [at] "i"(4 * kAt));
  }
  Repeat<kColumns>([&](auto v) ASC_INLINE_LAMBDA {
    asm volatile("vfmadd231ps %[factor], %[b], %[sum]"
                 : [sum] "+x"(sums[v][kRow].raw)
                 : [b] "x"(b[v].raw), [factor] "x"(factor.raw));
  });
#else
  const auto* row = reinterpret_cast<const float*>(reinterpret_cast<const char*>(base) +
                                                   kScale * (kAway == 0 ? 0 : step));
  const Vec factor = hn::Set(Floats(), row[kAt]);
  Repeat<kColumns>(
      [&](auto v) ASC_INLINE_LAMBDA { sums[v][kRow] = hn::MulAdd(factor, b[v], sums[v][kRow]); });
#endif
}

// Where one vector of a row of the result goes.
struct Place {
  int64_t offset = 0;      // from the start of the row
  int64_t upper = 0;       // of the upper half, where the halves stand apart; else 0
  int64_t valid = kLanes;  // lanes that are columns
  int64_t stored = kLanes;
  bool whole = true;  // all lanes are columns and stand together
};

HWY_NOINLINE inline Place PlaceOf(const Product& p, int64_t column) {
  Place place;
  place.valid = std::clamp<int64_t>(p.n - column, 0, kLanes);
  if (p.c_width == 0) {
    place.offset = column;
    place.stored = place.valid;
  } else {
    const auto offset = [&](int64_t j) { return j / p.c_width * p.c_block + j % p.c_width; };
    const int64_t columns = (p.n + p.c_width - 1) / p.c_width * p.c_width;
    place.offset = offset(column);
    place.stored = std::min(columns - column, kLanes);
    if (p.c_width < kLanes && place.stored == kLanes) place.upper = offset(column + p.c_width);
  }
  place.whole = place.upper == 0 && place.valid == kLanes;
  return place;
}

HWY_INLINE Vec LoadAt(const Place& place, const float* row) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3
  if (place.upper != 0) {
    const hn::Half<Floats> half;
    return hn::Combine(d, hn::LoadU(half, row + place.upper), hn::LoadU(half, row + place.offset));
  }
#endif
  if (place.stored == kLanes) return hn::LoadU(d, row + place.offset);
  return simd::HWY_NAMESPACE::LoadTail(d, row + place.offset, static_cast<size_t>(place.stored));
}
HWY_INLINE void StoreAt(const Place& place, Vec v, float* row) {
  const Floats d;
  // Infinity times the zeros that fill the panel up is no zero.
  if (place.valid != place.stored) {
    v = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(place.valid)), v);
  }
#if HWY_TARGET == HWY_AVX3
  if (place.upper != 0) {
    const hn::Half<Floats> half;
    hn::StoreU(hn::LowerHalf(half, v), half, row + place.offset);
    hn::StoreU(hn::UpperHalf(half, v), half, row + place.upper);
    return;
  }
#endif
  if (place.stored == kLanes) return hn::StoreU(v, d, row + place.offset);
  simd::HWY_NAMESPACE::StoreTail(d, v, row + place.offset, static_cast<size_t>(place.stored));
}
// sums[r] += the elements at `place` of row r.
template <int kCount>
HWY_INLINE void AddRows(const Place& place, const float* first, int64_t step, Vec* sums) {
  Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
    const float* row = first + r * step;
    sums[r] = hn::Add(sums[r],
                      place.whole ? hn::LoadU(Floats(), row + place.offset) : LoadAt(place, row));
  });
}

// Adds to the sums of one vector of columns what is to be added, and stores them.
template <int kCount>
HWY_INLINE void Finish(const Product& p, int64_t row, int64_t column, Vec (&sums)[kCount]) {
  const Floats d;
  const Place place = PlaceOf(p, column);
  Vec bias = hn::Zero(d);
  if (p.bias != nullptr) {
    bias = place.valid == kLanes ? hn::LoadU(d, p.bias + column)
                                 : simd::HWY_NAMESPACE::LoadTail(d, p.bias + column,
                                                                 static_cast<size_t>(place.valid));
  }
  const Vec alpha = hn::Set(d, p.alpha);
  Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA { sums[r] = hn::MulAdd(sums[r], alpha, bias); });
  if (p.row_bias != nullptr) {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      sums[r] = hn::Add(sums[r], hn::Set(d, p.row_bias[row + r]));
    });
  }
  float* to = p.c + row * p.c_row;
  if (p.accumulate) AddRows<kCount>(place, to, p.c_row, sums);
  if (p.residual != nullptr) {
    AddRows<kCount>(place, p.residual + row * p.residual_row, p.residual_row, sums);
  }
  if (p.clamp) {
    const Vec low = hn::Set(d, p.low), high = hn::Set(d, p.high);
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA {
      sums[r] = simd::HWY_NAMESPACE::MinKeep(high, simd::HWY_NAMESPACE::MaxKeep(low, sums[r]));
    });
  }
  if (place.whole) {
    Repeat<kCount>(
        [&](auto r) ASC_INLINE_LAMBDA { hn::StoreU(sums[r], d, to + r * p.c_row + place.offset); });
  } else {
    Repeat<kCount>([&](auto r) ASC_INLINE_LAMBDA { StoreAt(place, sums[r], to + r * p.c_row); });
  }
}

// kDepth steps of k.
template <int kDepth, bool kHalf, int kChains, int kCount, int kColumns>
HWY_INLINE void MultiplySteps(const Rows& x, const float* b,
                              Vec (&sums)[kChains][kColumns][kCount]) {
  Repeat<kDepth>([&](auto at) ASC_INLINE_LAMBDA {
    Vec right[kColumns];
    Repeat<kColumns>([&](auto v) ASC_INLINE_LAMBDA {
      right[v] = hn::LoadU(Floats(), b + at * kWidth + v * kLanes);
    });
    Repeat<kCount>([&](auto row) ASC_INLINE_LAMBDA {
      MultiplyRow<row, at, kHalf>(x, right, sums[at % kChains]);
    });
  });
}

}  // namespace asc::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_GEMM_TILE_INL_H_
