// Loops over rows of float32 of any length, tails included, without reading or writing past the
// ends. Outputs may be inputs.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"

// After the parameters of a lambda that is to become part of its caller's loop.
#ifndef ASC_INLINE_LAMBDA
#define ASC_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;

// The first `count` < Lanes elements; zeros after them.
template <class D>
HWY_INLINE hn::Vec<D> LoadTail(D d, const float* x, size_t count) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, count), d, x);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(d)] = {};
  std::memcpy(buffer, x, count * sizeof(float));
  return hn::Load(d, buffer);
#endif
}
template <class D>
HWY_INLINE void StoreTail(D d, hn::Vec<D> v, float* y, size_t count) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, count), d, y);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(d)];
  hn::Store(v, d, buffer);
  std::memcpy(y, buffer, count * sizeof(float));
#endif
}

// Where a vector stands in a row: whole, or the last, partial one.
template <class D>
struct FullPlace {
  D d;
  size_t i;
  HWY_INLINE size_t Count() const { return hn::Lanes(d); }
  HWY_INLINE hn::Vec<D> Load(const float* row) const { return hn::LoadU(d, row + i); }
  HWY_INLINE void Store(hn::Vec<D> v, float* row) const { hn::StoreU(v, d, row + i); }
  // v, and `otherwise` in the lanes past the end of the row.
  HWY_INLINE hn::Vec<D> Keep(hn::Vec<D> v, hn::Vec<D> /*otherwise*/) const { return v; }
};
template <class D>
struct TailPlace {
  D d;
  size_t i, count;
  HWY_INLINE size_t Count() const { return count; }
  HWY_INLINE hn::Vec<D> Load(const float* row) const { return LoadTail(d, row + i, count); }
  HWY_INLINE void Store(hn::Vec<D> v, float* row) const { StoreTail(d, v, row + i, count); }
  HWY_INLINE hn::Vec<D> Keep(hn::Vec<D> v, hn::Vec<D> otherwise) const {
    return hn::IfThenElse(hn::FirstN(d, count), v, otherwise);
  }
};

// Calls body(place) for each vector of a row of n elements.
template <class D, class Body>
HWY_INLINE void ForVectors(D d, size_t n, Body&& body) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(FullPlace<D>{d, i});
  if (i < n) body(TailPlace<D>{d, i, n - i});
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_LOOPS_INL_H_
