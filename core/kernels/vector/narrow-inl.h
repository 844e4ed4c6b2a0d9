// float16 and bfloat16 as vectors of float32, rounded to nearest even, for any Highway target.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_NARROW_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_NARROW_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_NARROW_INL_H_
#endif

#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

// Whether the instruction set converts float16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
constexpr bool kHasHalves = true;
#else
constexpr bool kHasHalves = false;
#endif

HWY_INLINE Vec LoadHalves([[maybe_unused]] Floats d, const uint16_t* x) {
#if HWY_TARGET == HWY_AVX3
  return Vec{_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)))};
#elif HWY_TARGET == HWY_AVX2
  return Vec{_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)))};
#else
  (void)x;
  return hn::Zero(d);
#endif
}
HWY_INLINE void StoreHalves([[maybe_unused]] Floats d, Vec v, uint16_t* y) {
#if HWY_TARGET == HWY_AVX3
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y),
                      _mm512_cvtps_ph(v.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif HWY_TARGET == HWY_AVX2
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                   _mm256_cvtps_ph(v.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  (void)v;
  (void)y;
#endif
}

HWY_INLINE Vec LoadBFloats(Floats d, const uint16_t* x) {
  const Ints<Floats> di;
  const auto bits = hn::PromoteTo(di, hn::LoadU(hn::Rebind<uint16_t, Floats>(), x));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

// As bfloat16 has it, in the upper half of the bits; NaN stays NaN.
HWY_INLINE Vec RoundToBFloat16(Floats d, Vec x) {
  const Ints<Floats> di;
  const auto bits = hn::BitCast(di, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(di, 0x7FFF)));
  const auto nan = hn::Or(bits, hn::Set(di, 0x400000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(di, hn::IsNaN(x)), nan, rounded);
  return hn::BitCast(d, hn::And(chosen, hn::Set(di, static_cast<int32_t>(0xFFFF0000u))));
}
HWY_INLINE void StoreBFloats(Floats d, Vec v, uint16_t* y) {
  const Ints<Floats> di;
  const hn::Rebind<uint16_t, Floats> du16;
  const hn::RebindToUnsigned<Floats> du;
  const auto high = hn::ShiftRight<16>(hn::BitCast(du, RoundToBFloat16(d, v)));
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, high)), du16, y);
}

// As float16 has it.
HWY_INLINE Vec RoundToHalf(Floats d, Vec x) {
#if HWY_TARGET == HWY_AVX3
  (void)d;
  return Vec{
      _mm512_cvtph_ps(_mm512_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))};
#elif HWY_TARGET == HWY_AVX2
  (void)d;
  return Vec{
      _mm256_cvtph_ps(_mm256_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))};
#else
  const Ints<Floats> di;
  const Vec size = hn::Abs(x);
  const auto bits = hn::BitCast(di, size);
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(di, 1));
  const auto rounded = hn::And(hn::Add(bits, hn::Add(odd, hn::Set(di, 0xFFF))),
                               hn::Set(di, static_cast<int32_t>(0xFFFFE000u)));
  // Below 2^-14 the last place is 2^-24, that of numbers from 1/2 to 1.
  const Vec half = hn::Set(d, 0.5f);
  Vec y = hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-14f)), hn::Sub(hn::Add(size, half), half),
                         hn::BitCast(d, rounded));
  y = hn::IfThenElse(hn::Ge(size, hn::Set(d, 65520.0f)), hn::Inf(d), y);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySignToAbs(y, x));
#endif
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_NARROW_INL_H_
