// Reductions of one row of float32 on vectors.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_REDUCE_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_REDUCE_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_REDUCE_INL_H_
#endif

#include <algorithm>

#include "core/kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

// join(map(x[0]), map(x[1]), ...), left as one vector of partial results; `start` is the neutral
// element of join.
template <class D, class Map, class Join>
HWY_INLINE hn::Vec<D> ReduceVectors(D d, const float* x, size_t n, hn::Vec<D> start, Map map,
                                    Join join) {
  const size_t lanes = hn::Lanes(d);
  // Four chains hide the latency of join.
  auto a = start, b = start, c = start, e = start;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = join(a, map(hn::LoadU(d, x + i)));
    b = join(b, map(hn::LoadU(d, x + i + lanes)));
    c = join(c, map(hn::LoadU(d, x + i + 2 * lanes)));
    e = join(e, map(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) a = join(a, map(hn::LoadU(d, x + i)));
  if (i < n) {
    const TailPlace<D> tail{d, i, n - i};
    b = join(b, tail.Keep(map(tail.Load(x)), start));
  }
  return join(join(a, b), join(c, e));
}

// How many elements are added up in float32 before the sum goes on in double: few enough that
// rounding stays near 1e-7.
template <class D>
HWY_INLINE size_t SumChunk(D d) {
  return 128 * hn::Lanes(d);
}

// The sum of map(x[i]).
template <class D, class Map>
HWY_INLINE double SumOf(D d, const float* x, size_t n, Map map) {
  const auto add = [](auto p, auto q) ASC_INLINE_LAMBDA { return hn::Add(p, q); };
  double sum = 0;
  for (size_t i = 0; i < n; i += SumChunk(d)) {
    const auto part = ReduceVectors(d, x + i, std::min(SumChunk(d), n - i), hn::Zero(d), map, add);
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  return sum;
}

// Whether there is neither infinity nor NaN: times 0 they give NaN, which stays in sums.
HWY_INLINE bool AllFinite(const float* x, size_t n) {
  const Floats d;
  const Vec zero = hn::Zero(d);
  const auto vanish = [&](auto v) ASC_INLINE_LAMBDA { return hn::Mul(v, zero); };
  const auto add = [](auto p, auto q) ASC_INLINE_LAMBDA { return hn::Add(p, q); };
  return hn::AllFalse(d, hn::IsNaN(ReduceVectors(d, x, n, zero, vanish, add)));
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_REDUCE_INL_H_
