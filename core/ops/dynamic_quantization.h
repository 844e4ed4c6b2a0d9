// The scale and the zero point with which DynamicQuantizeLinear and its relatives make values uint8.
#ifndef ASC_CORE_OPS_DYNAMIC_QUANTIZATION_H_
#define ASC_CORE_OPS_DYNAMIC_QUANTIZATION_H_

#include <cmath>
#include <cstdint>

#include "core/ops/quantize_range.h"

namespace asc {

struct DynamicQuantization {
  float scale;
  uint8_t zero;
};

// For values of [low, high], which contains 0.
inline DynamicQuantization FitRange(float low, float high) {
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const double zero = std::nearbyint(IntegerRange(DataType::kUInt8)->Clamp(-low / scale));
  return {scale, static_cast<uint8_t>(zero)};
}

}  // namespace asc

#endif  // ASC_CORE_OPS_DYNAMIC_QUANTIZATION_H_
