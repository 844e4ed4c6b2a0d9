#include "core/kernels/vector/fourier_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/fourier_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct Complex {
  hn::Vec<D> re, im;
};

template <class D, typename R>
HWY_INLINE Complex<D> LoadAt(D d, ComplexArray<R> x, int64_t i) {
  return {hn::LoadU(d, x.re + i), hn::LoadU(d, x.im + i)};
}
template <class D, typename R>
HWY_INLINE void StoreAt(D d, Complex<D> v, ComplexArray<R> x, int64_t i) {
  hn::StoreU(v.re, d, x.re + i);
  hn::StoreU(v.im, d, x.im + i);
}
template <class D>
HWY_INLINE Complex<D> Plus(Complex<D> a, Complex<D> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> Minus(Complex<D> a, Complex<D> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> Times(Complex<D> a, Complex<D> b) {
  return {hn::MulSub(a.re, b.re, hn::Mul(a.im, b.im)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}

// The transform of t over kFactor numbers, in place; kFactor 0: over `factor`, odd.
template <int kFactor, class D, typename R>
HWY_INLINE void Butterfly(D d, Complex<D>* t, int64_t factor, ComplexArray<const R> roots) {
  if constexpr (kFactor == 2) {
    const Complex<D> a = t[0], b = t[1];
    t[0] = Plus<D>(a, b);
    t[1] = Minus<D>(a, b);
  } else if constexpr (kFactor == 4) {
    const Complex<D> a = Plus<D>(t[0], t[2]), b = Minus<D>(t[0], t[2]), c = Plus<D>(t[1], t[3]),
                     e = Minus<D>(t[1], t[3]);
    t[0] = Plus<D>(a, c);
    t[1] = {hn::Add(b.re, e.im), hn::Sub(b.im, e.re)};
    t[2] = Minus<D>(a, c);
    t[3] = {hn::Sub(b.re, e.im), hn::Add(b.im, e.re)};
  } else {
    // Elements q and p - q meet conjugate roots: sums take the cosines, differences the sines.
    constexpr int64_t kMostHalf = (kFactor == 0 ? kLargestFourierFactor : kFactor) / 2;
    const int64_t p = kFactor == 0 ? factor : kFactor, half = p / 2;
    Complex<D> sums[kMostHalf], differences[kMostHalf];
    const Complex<D> first = t[0];
    Complex<D> total = first;
    for (int64_t q = 1; q <= half; ++q) {
      sums[q - 1] = Plus<D>(t[q], t[p - q]);
      differences[q - 1] = Minus<D>(t[q], t[p - q]);
      total = Plus<D>(total, sums[q - 1]);
    }
    t[0] = total;
    for (int64_t r = 1; r <= half; ++r) {
      Complex<D> even = first, odd = {hn::Zero(d), hn::Zero(d)};
      for (int64_t q = 1; q <= half; ++q) {
        const auto cosine = hn::Set(d, roots.re[q * r % p]), sine = hn::Set(d, roots.im[q * r % p]);
        even = {hn::MulAdd(cosine, sums[q - 1].re, even.re),
                hn::MulAdd(cosine, sums[q - 1].im, even.im)};
        odd = {hn::MulAdd(sine, differences[q - 1].re, odd.re),
               hn::MulAdd(sine, differences[q - 1].im, odd.im)};
      }
      t[r] = {hn::Sub(even.re, odd.im), hn::Add(even.im, odd.re)};
      t[p - r] = {hn::Add(even.re, odd.im), hn::Sub(even.im, odd.re)};
    }
  }
}

// Calls body(i) so that vectors of `lanes` from each i on cover [0, n), n >= lanes; the last two may
// overlap.
template <class Body>
HWY_INLINE void ForStarts(int64_t n, int64_t lanes, Body body) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i);
  if (i < n) body(n - lanes);
}

// Vectors run along `rest`, which holds one at least.
template <int kFactor, class D, typename R>
HWY_NOINLINE void PassAlongRest(D d, const FourierPass<R>& pass, ComplexArray<const R> in,
                                ComplexArray<R> out) {
  constexpr int64_t kMost = kFactor == 0 ? kLargestFourierFactor : kFactor;
  const int64_t factor = kFactor == 0 ? pass.factor : kFactor, rest = pass.rest, done = pass.done;
  const ComplexArray<const R> twiddles = pass.twiddles, roots = pass.roots;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = 0; k < done; ++k) {
    ForStarts(rest, lanes, [&](int64_t i) HWY_ATTR {
      Complex<D> t[kMost];
      t[0] = LoadAt(d, in, i + rest * factor * k);
      for (int64_t q = 1; q < factor; ++q) t[q] = LoadAt(d, in, i + rest * (q + factor * k));
      Butterfly<kFactor>(d, t, factor, roots);
      StoreAt(d, t[0], out, i + rest * k);
      for (int64_t q = 1; q < factor; ++q) {
        const Complex<D> turned = Times<D>(t[q], LoadAt(d, twiddles, (q - 1) * rest + i));
        StoreAt(d, turned, out, i + rest * (k + done * q));
      }
    });
  }
}

// The last pass, which has no twiddles: vectors run along `done`, which holds one at least.
template <int kFactor, class D, typename R>
HWY_NOINLINE void PassAlongDone(D d, const FourierPass<R>& pass, ComplexArray<const R> in,
                                ComplexArray<R> out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  ForStarts(pass.done, lanes, [&](int64_t k) HWY_ATTR {
    Complex<D> t[kFactor];
    if constexpr (kFactor == 2) {
      hn::LoadInterleaved2(d, in.re + 2 * k, t[0].re, t[1].re);
      hn::LoadInterleaved2(d, in.im + 2 * k, t[0].im, t[1].im);
    } else if constexpr (kFactor == 3) {
      hn::LoadInterleaved3(d, in.re + 3 * k, t[0].re, t[1].re, t[2].re);
      hn::LoadInterleaved3(d, in.im + 3 * k, t[0].im, t[1].im, t[2].im);
    } else {
      hn::LoadInterleaved4(d, in.re + 4 * k, t[0].re, t[1].re, t[2].re, t[3].re);
      hn::LoadInterleaved4(d, in.im + 4 * k, t[0].im, t[1].im, t[2].im, t[3].im);
    }
    Butterfly<kFactor>(d, t, kFactor, pass.roots);
    for (int64_t q = 0; q < kFactor; ++q) StoreAt(d, t[q], out, k + pass.done * q);
  });
}

template <int kFactor, typename R>
HWY_INLINE void PassOf(const FourierPass<R>& pass, ComplexArray<const R> in, ComplexArray<R> out) {
  const hn::ScalableTag<R> d;
  const hn::CappedTag<R, 4> few;
  const hn::CappedTag<R, 1> one;
  if constexpr (kFactor == 2 || kFactor == 3 || kFactor == 4) {
    if (pass.rest == 1 && pass.done >= static_cast<int64_t>(hn::Lanes(d)))
      return PassAlongDone<kFactor>(d, pass, in, out);
  }
  if (pass.rest >= static_cast<int64_t>(hn::Lanes(d)))
    return PassAlongRest<kFactor>(d, pass, in, out);
  if (pass.rest >= static_cast<int64_t>(hn::Lanes(few)))
    return PassAlongRest<kFactor>(few, pass, in, out);
  PassAlongRest<kFactor>(one, pass, in, out);
}

template <typename R>
HWY_INLINE void PassLoop(const FourierPass<R>& pass, ComplexArray<const R> in,
                         ComplexArray<R> out) {
  switch (pass.factor) {
    case 2:
      return PassOf<2>(pass, in, out);
    case 3:
      return PassOf<3>(pass, in, out);
    case 4:
      return PassOf<4>(pass, in, out);
    case 5:
      return PassOf<5>(pass, in, out);
    default:
      return PassOf<0>(pass, in, out);
  }
}

// x[k] = even + turn * odd, where even = (z[k] + conj(z[m - k])) / 2 and odd = (z[k] - conj(z[m -
// k])) / 2i.
template <typename R>
HWY_INLINE void JoinRealLoop(ComplexArray<const R> z, ComplexArray<const R> turns, int64_t m,
                             ComplexArray<R> x) {
  const auto join = [&](auto d, int64_t k) HWY_ATTR {
    using D = decltype(d);
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto half = hn::Set(d, R(0.5));
    const Complex<D> a = LoadAt(d, z, k);
    Complex<D> b = LoadAt(d, z, m - k - lanes + 1);
    b = {hn::Reverse(d, b.re), hn::Reverse(d, b.im)};
    const Complex<D> even = {hn::Mul(half, hn::Add(a.re, b.re)),
                             hn::Mul(half, hn::Sub(a.im, b.im))},
                     odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
    StoreAt(d, Plus<D>(even, Times<D>(odd, LoadAt(d, turns, k))), x, k);
  };
  // From 1 to m - 1; the two ends need no turn.
  const hn::ScalableTag<R> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (m - 1 >= lanes) {
    ForStarts(m - 1, lanes, [&](int64_t i) HWY_ATTR { join(d, i + 1); });
  } else {
    for (int64_t k = 1; k < m; ++k) join(hn::CappedTag<R, 1>(), k);
  }
  x.re[0] = z.re[0] + z.im[0];
  x.re[m] = z.re[0] - z.im[0];
  x.im[0] = x.im[m] = 0;
}

template <typename R>
HWY_INLINE void MultiplyLoop(ComplexArray<R> x, ComplexArray<const R> by, R scale, int64_t n) {
  const hn::ScalableTag<R> d;
  const auto factor = hn::Set(d, scale);
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(d))) {
    const Complex<hn::ScalableTag<R>> v =
        Times<hn::ScalableTag<R>>(LoadAt(d, x, i), LoadAt(d, by, i));
    StoreAt(d, {hn::Mul(v.re, factor), hn::Mul(v.im, factor)}, x, i);
  }
}

template <typename R>
HWY_INLINE void SplitLoop(const R* x, const R* w, int64_t n, ComplexArray<R> z) {
  const hn::ScalableTag<R> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Complex<hn::ScalableTag<R>> v;
    hn::LoadInterleaved2(d, x + 2 * i, v.re, v.im);
    if (w != nullptr) {
      Complex<hn::ScalableTag<R>> by;
      hn::LoadInterleaved2(d, w + 2 * i, by.re, by.im);
      v = {hn::Mul(v.re, by.re), hn::Mul(v.im, by.im)};
    }
    StoreAt(d, v, z, i);
  }
  for (; i < n; ++i) {
    z.re[i] = w != nullptr ? x[2 * i] * w[2 * i] : x[2 * i];
    z.im[i] = w != nullptr ? x[2 * i + 1] * w[2 * i + 1] : x[2 * i + 1];
  }
}

template <typename R>
HWY_INLINE void JoinLoop(ComplexArray<const R> z, R scale, int64_t n, R* y) {
  const hn::ScalableTag<R> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = LoadAt(d, z, i);
    hn::StoreInterleaved2(hn::Mul(v.re, factor), hn::Mul(v.im, factor), d, y + 2 * i);
  }
  for (; i < n; ++i) {
    y[2 * i] = z.re[i] * scale;
    y[2 * i + 1] = z.im[i] * scale;
  }
}

#define ASC_FOURIER_LOOPS(R)                                                                      \
  void Pass_##R(const FourierPass<R>& pass, ComplexArray<const R> in, ComplexArray<R> out) {      \
    PassLoop(pass, in, out);                                                                      \
  }                                                                                               \
  void JoinReal_##R(ComplexArray<const R> z, ComplexArray<const R> turns, int64_t m,              \
                    ComplexArray<R> x) {                                                          \
    JoinRealLoop(z, turns, m, x);                                                                 \
  }                                                                                               \
  void Multiply_##R(ComplexArray<R> x, ComplexArray<const R> by, R scale, int64_t n) {            \
    MultiplyLoop(x, by, scale, n);                                                                \
  }                                                                                               \
  void Split_##R(const R* x, const R* w, int64_t n, ComplexArray<R> z) { SplitLoop(x, w, n, z); } \
  void Join_##R(ComplexArray<const R> z, R scale, int64_t n, R* y) { JoinLoop(z, scale, n, y); }
ASC_FOURIER_LOOPS(float)
ASC_FOURIER_LOOPS(double)
#undef ASC_FOURIER_LOOPS
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
#define ASC_FOURIER_LOOPS(R)                                                                \
  HWY_EXPORT(Pass_##R);                                                                     \
  HWY_EXPORT(JoinReal_##R);                                                                 \
  HWY_EXPORT(Multiply_##R);                                                                 \
  HWY_EXPORT(Split_##R);                                                                    \
  HWY_EXPORT(Join_##R);                                                                     \
  void RunPass(const FourierPass<R>& pass, ComplexArray<const R> in, ComplexArray<R> out) { \
    HWY_DYNAMIC_DISPATCH(Pass_##R)(pass, in, out);                                          \
  }                                                                                         \
  void JoinReal(ComplexArray<const R> z, ComplexArray<const R> turns, int64_t m,            \
                ComplexArray<R> x) {                                                        \
    HWY_DYNAMIC_DISPATCH(JoinReal_##R)(z, turns, m, x);                                     \
  }                                                                                         \
  void MultiplyComplex(ComplexArray<R> x, ComplexArray<const R> by, R scale, int64_t n) {   \
    HWY_DYNAMIC_DISPATCH(Multiply_##R)(x, by, scale, n);                                    \
  }                                                                                         \
  void SplitPairs(const R* x, const R* w, int64_t n, ComplexArray<R> z) {                   \
    HWY_DYNAMIC_DISPATCH(Split_##R)(x, w, n, z);                                            \
  }                                                                                         \
  void JoinPairs(ComplexArray<const R> z, R scale, int64_t n, R* y) {                       \
    HWY_DYNAMIC_DISPATCH(Join_##R)(z, scale, n, y);                                         \
  }
ASC_FOURIER_LOOPS(float)
ASC_FOURIER_LOOPS(double)
#undef ASC_FOURIER_LOOPS
}  // namespace asc::simd
#endif  // HWY_ONCE
