// The one-dimensional transforms of F(2, 3) and F(4, 3), by interpolation at the points 0, +-1,
// infinity and 0, +-3/4, +-3/2, infinity. Points near 1 keep rounding errors small: a third of
// those of the usual 0, +-1, +-2. Both sets and the products of their members that the transforms
// need are exact in float.
//
// With f(x) the product of all (x - point): inputs are multiplied by the coefficients of f(x) / (x
// - point), weights by the powers of the point over f'(point), products by the powers of the point.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_WINOGRAD_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#undef ASC_CORE_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#else
#define ASC_CORE_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::winograd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kTile>
struct Transform;

template <>
struct Transform<2> {
  template <class D, class V>
  static HWY_INLINE void Input(D /*d*/, const V (&x)[4], V (&y)[4]) {
    y[0] = hn::Sub(x[0], x[2]);
    y[1] = hn::Add(x[2], x[1]);
    y[2] = hn::Sub(x[2], x[1]);
    y[3] = hn::Sub(x[3], x[1]);
  }
  template <class D, class V>
  static HWY_INLINE void Weight(D d, const V (&g)[3], V (&y)[4]) {
    const V half = hn::Set(d, 0.5), even = hn::Mul(half, hn::Add(g[0], g[2])),
            odd = hn::Mul(half, g[1]);
    y[0] = g[0];
    y[1] = hn::Add(even, odd);
    y[2] = hn::Sub(even, odd);
    y[3] = g[2];
  }
  template <class D, class V>
  static HWY_INLINE void Output(D /*d*/, const V (&m)[4], V (&y)[2]) {
    y[0] = hn::Add(hn::Add(m[1], m[2]), m[0]);
    y[1] = hn::Add(hn::Sub(m[1], m[2]), m[3]);
  }
};

template <>
struct Transform<4> {
  static constexpr double kA = 0.75, kB = 1.5, kA2 = kA * kA, kB2 = kB * kB;

  template <class D>
  static HWY_INLINE hn::Vec<D> Set(D d, double value) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(value));
  }
  template <class D, class V>
  static HWY_INLINE void Input(D d, const V (&x)[6], V (&y)[6]) {
    const V a = Set(d, kA), b = Set(d, kB), a2 = Set(d, kA2), b2 = Set(d, kB2);
    const V product = Set(d, kA2 * kB2), sum = Set(d, kA2 + kB2);
    const V even_a = hn::NegMulAdd(b2, x[2], x[4]), odd_a = hn::NegMulAdd(b2, x[1], x[3]);
    const V even_b = hn::NegMulAdd(a2, x[2], x[4]), odd_b = hn::NegMulAdd(a2, x[1], x[3]);
    y[0] = hn::MulAdd(product, x[0], hn::NegMulAdd(sum, x[2], x[4]));
    y[1] = hn::MulAdd(a, odd_a, even_a);
    y[2] = hn::NegMulAdd(a, odd_a, even_a);
    y[3] = hn::MulAdd(b, odd_b, even_b);
    y[4] = hn::NegMulAdd(b, odd_b, even_b);
    y[5] = hn::MulAdd(product, x[1], hn::NegMulAdd(sum, x[3], x[5]));
  }
  template <class D, class V>
  static HWY_INLINE void Weight(D d, const V (&g)[3], V (&y)[6]) {
    const V at_a = Set(d, 1 / (2 * kA2 * (kA2 - kB2))), at_b = Set(d, 1 / (2 * kB2 * (kB2 - kA2)));
    const V even_a = hn::Mul(at_a, hn::MulAdd(Set(d, kA2), g[2], g[0])),
            odd_a = hn::Mul(at_a, hn::Mul(Set(d, kA), g[1]));
    const V even_b = hn::Mul(at_b, hn::MulAdd(Set(d, kB2), g[2], g[0])),
            odd_b = hn::Mul(at_b, hn::Mul(Set(d, kB), g[1]));
    y[0] = hn::Mul(Set(d, 1 / (kA2 * kB2)), g[0]);
    y[1] = hn::Add(even_a, odd_a);
    y[2] = hn::Sub(even_a, odd_a);
    y[3] = hn::Add(even_b, odd_b);
    y[4] = hn::Sub(even_b, odd_b);
    y[5] = g[2];
  }
  template <class D, class V>
  static HWY_INLINE void Output(D d, const V (&m)[6], V (&y)[4]) {
    const V even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const V even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(hn::Add(even_a, even_b), m[0]);
    y[1] = hn::MulAdd(Set(d, kB), odd_b, hn::Mul(Set(d, kA), odd_a));
    y[2] = hn::MulAdd(Set(d, kB2), even_b, hn::Mul(Set(d, kA2), even_a));
    y[3] = hn::MulAdd(Set(d, kB2 * kB), odd_b, hn::MulAdd(Set(d, kA2 * kA), odd_a, m[5]));
  }
};

}  // namespace asc::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_WINOGRAD_TRANSFORMS_INL_H_
