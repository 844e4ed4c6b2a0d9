// Mathematical functions on vectors of float32, for any Highway target. NaN gives NaN in all of
// them.
//
// Error bounds are in units of the last place (ULP) against the exact value, over all floats; the
// tests check them. The polynomials and rationals are minimax fits of the project's own.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_MATH_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_MATH_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Ints = hn::RebindToSigned<D>;

// a > x ? a : x, and a < x ? a : x: a NaN in x stays, as does the sign of a zero in x. One
// instruction on x86.
template <class V>
HWY_INLINE V MaxKeep(V a, V x) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Max(a, x);
#else
  return hn::IfThenElse(hn::Gt(a, x), a, x);
#endif
}
template <class V>
HWY_INLINE V MinKeep(V a, V x) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Min(a, x);
#else
  return hn::IfThenElse(hn::Lt(a, x), a, x);
#endif
}
// The larger and the smaller of two where a NaN in either stays.
template <class V>
HWY_INLINE V MaxNan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(a), a, MaxKeep(a, b));
}
template <class V>
HWY_INLINE V MinNan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(a), a, MinKeep(a, b));
}
#if HWY_TARGET == HWY_AVX3
// Two instructions for whole vectors, where compilers make three of it.
HWY_INLINE hn::Vec512<float> MaxNan(hn::Vec512<float> a, hn::Vec512<float> b) {
  return {_mm512_mask_max_ps(a.raw, _mm512_cmp_ps_mask(a.raw, a.raw, _CMP_ORD_Q), a.raw, b.raw)};
}
HWY_INLINE hn::Vec512<float> MinNan(hn::Vec512<float> a, hn::Vec512<float> b) {
  return {_mm512_mask_min_ps(a.raw, _mm512_cmp_ps_mask(a.raw, a.raw, _CMP_ORD_Q), a.raw, b.raw)};
}
#endif

// coefficients[0] + coefficients[1] x + ..., by Horner's rule.
template <class D, class V, size_t N>
HWY_INLINE V Polynomial(D d, V x, const float (&coefficients)[N]) {
  V sum = hn::Set(d, coefficients[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// x = n ln 2 + r with |r| <= ln(2) / 2. `power`: 2^n is made by adding it to the bits of a number
// near 1.
template <class D, class V = hn::Vec<D>>
struct ExpParts {
  V r;
  V n;
  hn::Vec<Ints<D>> power;
};
template <class D, class V>
HWY_INLINE ExpParts<D> SplitExp(D d, V x) {
  const Ints<D> di;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693145752f),
                      x);  // ln 2 in two parts; the first has 9 zero bits at its end
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), r);
  return {r, n, hn::ShiftLeft<23>(hn::BitCast(di, shifted))};
}
// (exp(r) - 1) for |r| <= ln(2) / 2.
template <class D, class V>
HWY_INLINE V SmallExpm1(D d, V r) {
  constexpr float kExp[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f,
                            0.00138144672f};
  return hn::MulAdd(Polynomial(d, r, kExp), hn::Mul(r, r), r);
}

// Within 1 ULP; 0 where the result would be a denormal number (below x = -87.34).
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  const Ints<D> di;
  const ExpParts<D> parts = SplitExp(d, x);
  const V near_one = hn::Add(SmallExpm1(d, parts.r), hn::Set(d, 1.0f));
  const V y = hn::BitCast(d, hn::Add(hn::BitCast(di, near_one), parts.power));
  // Infinity above, NaN for NaN.
  const V outside = hn::Mul(x, hn::Set(d, 3.40282347e38f));
  const V bounded = hn::IfThenElse(hn::Le(x, hn::Set(d, 88.7228317f)), y, outside);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3365402f)), bounded);
}

// Exp for x <= 0 (softmax): one comparison less.
template <class D, class V>
HWY_INLINE V ExpNotPositive(D d, V x) {
  const Ints<D> di;
  const ExpParts<D> parts = SplitExp(d, x);
  const V near_one = hn::Add(SmallExpm1(d, parts.r), hn::Set(d, 1.0f));
  const V y = hn::BitCast(d, hn::Add(hn::BitCast(di, near_one), parts.power));
  const V nan_or_zero = hn::IfThenElseZero(hn::IsNaN(x), x);
  return hn::IfThenElse(hn::Ge(x, hn::Set(d, -87.3365402f)), y, nan_or_zero);
}

// exp(x) - 1 for x <= 0 within 2 ULP; NaN for NaN.
template <class D, class V>
HWY_INLINE V Expm1NotPositive(D d, V x) {
  const Ints<D> di;
  // Below -20 the result is -1.
  const ExpParts<D> parts = SplitExp(d, MaxKeep(hn::Set(d, -20.0f), x));
  const V one = hn::Set(d, 1.0f);
  const V scale = hn::BitCast(d, hn::Add(hn::BitCast(di, one), parts.power));
  const V y = hn::MulAdd(SmallExpm1(d, parts.r), scale, hn::Sub(scale, one));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// Within 1 ULP. -infinity for 0, NaN below 0.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  const Ints<D> di;
  const V one = hn::Set(d, 1.0f);
  // Denormal numbers are made normal first.
  const auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  // scaled = m 2^e with m in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::BitCast(di, scaled);
  const auto shifted = hn::Add(bits, hn::Set(di, 0x3F800000 - 0x3F3504F3));
  const auto exponent = hn::Sub(hn::ShiftRight<23>(shifted), hn::Set(di, 127));
  const V m =
      hn::BitCast(d, hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), hn::Set(di, 0x3F3504F3)));
  const V e = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(tiny, hn::Set(d, 23.0f)));
  const V f = hn::Sub(m, one);
  constexpr float kLog[] = {0.333333135f,  -0.250000089f, 0.200021192f,
                            -0.166679963f, 0.142195508f,  -0.124055862f,
                            0.118881673f,  -0.116756707f, 0.0674665272f};
  // log(m) = f - f^2 / 2 + f^3 p(f); the small terms first.
  const V f2 = hn::Mul(f, f);
  V tail = hn::Mul(hn::Mul(f2, f), Polynomial(d, f, kLog));
  tail = hn::MulAdd(e, hn::Set(d, 1.42860677e-6f), tail);
  tail = hn::NegMulAdd(hn::Set(d, 0.5f), f2, tail);
  const V y = hn::MulAdd(e, hn::Set(d, 0.693145752f), hn::Add(f, tail));
  // Zero, infinity, negative numbers and NaN.
  const V infinity = hn::Inf(d);
  const V zero = hn::Zero(d);
  V result = hn::IfThenElse(hn::Lt(x, infinity), y, x);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
  return hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), result);
}

// log(1 + z) for 0 <= z <= 1, within 2 ULP.
template <class D, class V>
HWY_INLINE V Log1pUnit(D d, V z) {
  constexpr float kLog1p[] = {-0.499999881f, 0.333326906f,  -0.249885798f,  0.198979318f,
                              -0.161293373f, 0.124671265f,  -0.0830741301f, 0.0419814102f,
                              -0.013631504f, 0.00207295222f};
  return hn::MulAdd(hn::Mul(z, z), Polynomial(d, z, kLog1p), z);
}

// min(|x| P(t) / Q(t), 1) with the sign of x, t = min(|x|, bound)^2: at the bound the rational is
// past 1 by more than rounding can take away, so that the result is exactly 1 from there on and
// never above it.
template <class D, class V, size_t N, size_t M>
HWY_INLINE V SaturatingRational(D d, V x, float bound, const float (&p)[N], const float (&q)[M]) {
  const V size = MinKeep(hn::Set(d, bound), hn::Abs(x));
  const V t = hn::Mul(size, size);
  const V y = hn::Div(hn::Mul(size, Polynomial(d, t, p)), Polynomial(d, t, q));
  return hn::CopySignToAbs(MinKeep(hn::Set(d, 1.0f), y), x);
}

// Within 5 ULP (6 on targets without FMA).
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  constexpr float kP[] = {1.0f, 0.133797184f, 0.00349403452f, 2.05834804e-05f, 1.33190703e-08f};
  constexpr float kQ[] = {1.0f, 0.467130333f, 0.0258710738f, 0.000328309281f, 7.76201887e-07f};
  return SaturatingRational(d, x, 9.8f, kP, kQ);
}

// Within 6 ULP.
template <class D, class V>
HWY_INLINE V Erf(D d, V x) {
  constexpr float kP[] = {1.12837911f,    0.191550478f,    0.0528754704f,
                          0.00380816963f, 0.000284688082f, 2.02590877e-06f};
  constexpr float kQ[] = {1.0f,          0.503089845f,   0.114559695f,
                          0.0150551051f, 0.00117072801f, 3.78318291e-05f};
  return SaturatingRational(d, x, 4.25f, kP, kQ);
}

// 1 / (1 + exp(-x)), relative error at most 3e-7; 0 below -88.
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

// log(1 + exp(x)), relative error at most 3e-7.
template <class D, class V>
HWY_INLINE V Softplus(D d, V x) {
  const V z = ExpNotPositive(d, hn::Neg(hn::Abs(x)));
  return hn::Add(Log1pUnit(d, z), MaxKeep(hn::Zero(d), x));
}

// x * tanh(softplus(x)): with e = exp(x), the second factor is (e^2 + 2 e) / (e^2 + 2 e + 2).
template <class D, class V>
HWY_INLINE V Mish(D d, V x) {
  // The factor is 1 from 20 on.
  const V e = Exp(d, MinKeep(hn::Set(d, 20.0f), x));
  const V two = hn::Set(d, 2.0f);
  const V n = hn::Mul(e, hn::Add(e, two));
  return hn::Mul(x, hn::Div(n, hn::Add(n, two)));
}

// x / 2 (1 + erf(x / sqrt 2)).
template <class D, class V>
HWY_INLINE V Gelu(D d, V x) {
  const V half = hn::Mul(hn::Set(d, 0.5f), x);
  return hn::MulAdd(half, Erf(d, hn::Mul(x, hn::Set(d, 0.707106781f))), half);
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class D, class V>
HWY_INLINE V GeluTanh(D d, V x) {
  const V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0356774081f), hn::Set(d, 0.797884561f));
  const V half = hn::Mul(hn::Set(d, 0.5f), x);
  return hn::MulAdd(half, Tanh(d, hn::Mul(x, inner)), half);
}

// sin(|r|) with the sign of r for |r| <= pi / 2.
template <class D, class V>
HWY_INLINE V SmallSin(D d, V r) {
  constexpr float kSin[] = {-0.166666597f, 0.00833306648f, -0.000198095964f, 2.60576553e-06f};
  const V z = hn::Mul(r, r);
  return hn::MulAdd(hn::Mul(z, r), Polynomial(d, z, kSin), r);
}
// x - n pi: pi in four parts, of which the first three have so few bits that their products with n
// (of 13 bits) are exact.
template <class D, class V>
HWY_INLINE V ReducePi(D d, V x, V n) {
  V r = hn::NegMulAdd(n, hn::Set(d, 3.140625f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0.000967502594f), r);
  r = hn::NegMulAdd(n, hn::Set(d, 1.50990672e-07f), r);
  return hn::NegMulAdd(n, hn::Set(d, 5.12668814e-12f), r);
}
// sin(x) where kCosine is false, else cos(x) = sin(x + pi / 2).
template <bool kCosine, class D, class V>
HWY_INLINE V SinOrCos(D d, V x) {
  const Ints<D> di;
  // The bits of n are those of the sum's low end; its parity is the sign.
  const V magic = hn::Set(d, 12582912.0f);
  const V turns = hn::Mul(x, hn::Set(d, 0.318309886f));
  V shifted, n;
  if constexpr (kCosine) {
    const V half = hn::Set(d, 0.5f);
    shifted = hn::Add(hn::Add(turns, half), magic);
    n = hn::Sub(hn::Sub(shifted, magic), half);
  } else {
    shifted = hn::Add(turns, magic);
    n = hn::Sub(shifted, magic);
  }
  const V y = SmallSin(d, ReducePi(d, x, n));
  const auto sign = hn::ShiftLeft<31>(hn::BitCast(di, shifted));
  const V result = hn::Xor(y, hn::BitCast(d, sign));
  // Beyond the bound n has too many bits; infinity and NaN come here too.
  const auto near = hn::Lt(hn::Abs(x), hn::Set(d, 8192.0f));
  if (HWY_LIKELY(hn::AllTrue(d, near))) return result;
  HWY_ALIGN float values[hn::MaxLanes(d)];
  hn::Store(x, d, values);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    values[i] = kCosine ? std::cos(values[i]) : std::sin(values[i]);
  return hn::IfThenElse(near, result, hn::Load(d, values));
}
// Within 3 ULP. Elements of 8192 and more are slow: the library's function, one by one.
template <class D, class V>
HWY_INLINE V Sin(D d, V x) {
  const V y = SinOrCos<false>(d, x);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // keeps -0
}
template <class D, class V>
HWY_INLINE V Cos(D d, V x) {
  return SinOrCos<true>(d, x);
}

// asin(s) for 0 <= s <= 1/2 and z = s^2, or its odd continuation.
template <class D, class V>
HWY_INLINE V SmallAsin(D d, V s, V z) {
  constexpr float kAsin[] = {0.166667521f, 0.0749529749f, 0.0454703756f, 0.0241795182f,
                             0.0421663001f};
  return hn::MulAdd(hn::Mul(z, s), Polynomial(d, z, kAsin), s);
}
// Within 3 ULP; NaN beyond [-1, 1]. Above 1/2: asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
template <class D, class V>
HWY_INLINE V Asin(D d, V x) {
  const V half = hn::Set(d, 0.5f), a = hn::Abs(x);
  const auto large = hn::Gt(a, half);
  const V z = hn::IfThenElse(large, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V y = SmallAsin(d, hn::IfThenElse(large, hn::Sqrt(z), a), z);
  const V pi_half = hn::Set(d, 1.57079633f);
  return hn::CopySign(hn::IfThenElse(large, hn::NegMulAdd(hn::Set(d, 2.0f), y, pi_half), y), x);
}
// Within 3 ULP; NaN beyond [-1, 1].
template <class D, class V>
HWY_INLINE V Acos(D d, V x) {
  const V half = hn::Set(d, 0.5f), a = hn::Abs(x);
  const auto large = hn::Gt(a, half);
  const V z = hn::IfThenElse(large, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V y = SmallAsin(d, hn::IfThenElse(large, hn::Sqrt(z), a), z);
  const V twice = hn::Add(y, y);
  const V outer =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 3.14159265f), twice), twice);
  const V inner =
      hn::Sub(hn::Set(d, 1.57079637f), hn::Add(hn::CopySign(y, x), hn::Set(d, 4.37113883e-8f)));
  return hn::IfThenElse(large, outer, inner);
}
// Within 3 ULP. Above 1: atan(x) = pi / 2 - atan(1 / x).
template <class D, class V>
HWY_INLINE V Atan(D d, V x) {
  constexpr float kAtan[] = {-0.333332986f,  0.199985489f,   -0.142642409f,
                             0.109521843f,   -0.0840344578f, 0.0579575151f,
                             -0.0311777685f, 0.0109145641f,  -0.00179361249f};
  const V one = hn::Set(d, 1.0f), a = hn::Abs(x);
  const auto large = hn::Gt(a, one);
  const V s = hn::IfThenElse(large, hn::Div(one, a), a);
  const V z = hn::Mul(s, s);
  const V y = hn::MulAdd(hn::Mul(z, s), Polynomial(d, z, kAtan), s);
  return hn::CopySign(hn::IfThenElse(large, hn::Sub(hn::Set(d, 1.57079633f), y), y), x);
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_MATH_INL_H_
