// The loops are plain on purpose: the compiler makes vector code of them for each instruction set.
#include <algorithm>
#include <limits>

#include "core/kernels/vector/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/quantize_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
template <typename Y>
void QuantizeLoop(const float* x, float scale, float zero, int64_t count, Y* y) {
  // To clamp before rounding gives the same, as the ends are whole. What is added leaves no room for a fraction.
  constexpr float kWhole = 0x1.8p23f;
  const float low = static_cast<float>(std::numeric_limits<Y>::min()) - zero,
              high = static_cast<float>(std::numeric_limits<Y>::max()) - zero;
  for (int64_t i = 0; i < count; ++i) {
    float v = x[i] / scale;
    v = v > low ? v : low;
    v = v < high ? v : high;
    y[i] = static_cast<Y>(static_cast<int32_t>(((v + kWhole) - kWhole) + zero));
  }
}

void QuantizeAny(const float* x, float scale, float zero, int64_t count, DataType type, void* y) {
  switch (type) {
    case DataType::kInt8:
      return QuantizeLoop(x, scale, zero, count, static_cast<int8_t*>(y));
    case DataType::kUInt8:
      return QuantizeLoop(x, scale, zero, count, static_cast<uint8_t*>(y));
    case DataType::kInt16:
      return QuantizeLoop(x, scale, zero, count, static_cast<int16_t*>(y));
    default:
      return QuantizeLoop(x, scale, zero, count, static_cast<uint16_t*>(y));
  }
}

Extremes ExtremesLoop(const float* x, int64_t count) {
  // Enough partial results side by side for four vectors of the widest unit.
  constexpr int64_t kLanes = 64;
  float lows[kLanes] = {}, highs[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      const float value = x[i + k];
      lows[k] = value < lows[k] ? value : lows[k];
      highs[k] = value > highs[k] ? value : highs[k];
    }
  }
  for (; i < count; ++i) {
    lows[0] = x[i] < lows[0] ? x[i] : lows[0];
    highs[0] = x[i] > highs[0] ? x[i] : highs[0];
  }
  return {*std::min_element(lows, lows + kLanes), *std::max_element(highs, highs + kLanes)};
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(QuantizeAny);
HWY_EXPORT(ExtremesLoop);

void QuantizeRow(const float* x, float scale, float zero, int64_t count, DataType type, void* y) {
  HWY_DYNAMIC_DISPATCH(QuantizeAny)(x, scale, zero, count, type, y);
}
Extremes ExtremesOf(const float* x, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(ExtremesLoop)(x, count);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
