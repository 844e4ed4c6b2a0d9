#include <cstring>

#include "core/kernels/vector/program.h"
#include "core/ops/cast_elements.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/program_convert.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// How many elements, in whole vectors, were converted.
size_t ToFloatsLoop(DataType type, const std::byte* from, float* to, size_t count) {
  const Floats d;
  const Ints<Floats> di;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  const auto loop = [&](auto element, auto convert) ASC_INLINE_LAMBDA {
    const auto* x = reinterpret_cast<const decltype(element)*>(from);
    for (; i + lanes <= count; i += lanes) hn::StoreU(convert(x + i), d, to + i);
  };
  switch (type) {
    case DataType::kFloat16:
      if constexpr (kHasHalves)
        loop(uint16_t{}, [&](const uint16_t* x) ASC_INLINE_LAMBDA { return LoadHalves(d, x); });
      break;
    case DataType::kBFloat16:
      loop(uint16_t{}, [&](const uint16_t* x) ASC_INLINE_LAMBDA { return LoadBFloats(d, x); });
      break;
    case DataType::kInt32:
      loop(int32_t{},
           [&](const int32_t* x) ASC_INLINE_LAMBDA { return hn::ConvertTo(d, hn::LoadU(di, x)); });
      break;
    case DataType::kUInt8:
    case DataType::kBool:
      loop(uint8_t{}, [&](const uint8_t* x) ASC_INLINE_LAMBDA {
        return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<uint8_t, Floats>(), x)));
      });
      break;
    case DataType::kInt8:
      loop(int8_t{}, [&](const int8_t* x) ASC_INLINE_LAMBDA {
        return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<int8_t, Floats>(), x)));
      });
      break;
    default:
      break;
  }
  return i;
}

size_t FromFloatsLoop(const float* from, DataType type, std::byte* to, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  const auto loop = [&](auto element, auto store) ASC_INLINE_LAMBDA {
    auto* y = reinterpret_cast<decltype(element)*>(to);
    for (; i + lanes <= count; i += lanes) store(hn::LoadU(d, from + i), y + i);
  };
  switch (type) {
    case DataType::kFloat16:
      if constexpr (kHasHalves)
        loop(uint16_t{}, [&](Vec v, uint16_t* y) ASC_INLINE_LAMBDA { StoreHalves(d, v, y); });
      break;
    case DataType::kBFloat16:
      loop(uint16_t{}, [&](Vec v, uint16_t* y) ASC_INLINE_LAMBDA { StoreBFloats(d, v, y); });
      break;
    case DataType::kInt32:
      loop(int32_t{}, [&](Vec v, int32_t* y) ASC_INLINE_LAMBDA {
        // What does not fit, NaN too, gives the least integer.
        const Ints<Floats> di;
        const auto fits = hn::And(hn::Ge(v, hn::Set(d, -0x1p31f)), hn::Lt(v, hn::Set(d, 0x1p31f)));
        hn::StoreU(
            hn::IfThenElse(hn::RebindMask(di, fits), hn::ConvertTo(di, hn::IfThenElseZero(fits, v)),
                           hn::Set(di, INT32_MIN)),
            di, y);
      });
      break;
    case DataType::kBool:
      loop(uint8_t{}, [&](Vec v, uint8_t* y) ASC_INLINE_LAMBDA {
        const Ints<Floats> di;
        const auto one =
            hn::IfThenZeroElse(hn::RebindMask(di, hn::Eq(v, hn::Zero(d))), hn::Set(di, 1));
        const hn::Rebind<uint8_t, Floats> du8;
        hn::StoreU(hn::DemoteTo(du8, one), du8, y);
      });
      break;
    default:
      break;
  }
  return i;
}

void RepeatLoop(const float* from, size_t count, size_t times, float* to) {
  const Floats d;
  for (size_t i = 0; i < count; ++i, to += times) {
    const Vec v = hn::Set(d, from[i]);
    // What is too much is written again by the next one.
    for (size_t k = 0; k < times; k += hn::Lanes(d)) hn::StoreU(v, d, to + k);
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(ToFloatsLoop);
HWY_EXPORT(FromFloatsLoop);
HWY_EXPORT(RepeatLoop);

void RepeatElements(const float* from, size_t count, size_t times, float* to) {
  HWY_DYNAMIC_DISPATCH(RepeatLoop)(from, count, times, to);
}
void ToFloats(DataType type, const std::byte* from, float* to, size_t count) {
  if (type == DataType::kFloat32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  const size_t done = HWY_DYNAMIC_DISPATCH(ToFloatsLoop)(type, from, to, count);
  if (done < count)
    CastElements(type, from + done * ElementSize(type), DataType::kFloat32, to + done,
                 static_cast<int64_t>(count - done));
}
void FromFloats(const float* from, DataType type, std::byte* to, size_t count) {
  const size_t done = HWY_DYNAMIC_DISPATCH(FromFloatsLoop)(from, type, to, count);
  if (done < count)
    CastElements(DataType::kFloat32, from + done, type, to + done * ElementSize(type),
                 static_cast<int64_t>(count - done));
}
}  // namespace asc::simd
#endif  // HWY_ONCE
