#include "core/tensor/float_types.h"

#include <algorithm>
#include <cmath>

namespace asc {
namespace {
struct Layout {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;       // the all-ones exponent with zero mantissa
  bool negative_zero_nan;  // the *fnuz types: NaN is the pattern of -0, and there is no other
  bool all_ones_nan;       // e4m3fn: NaN is all ones only; e5m2: all-ones exponent
};

Layout LayoutOf(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN: return {4, 3, 7, false, false, true};
    case DataType::kFloat8E4M3FNUZ: return {4, 3, 8, false, true, false};
    case DataType::kFloat8E5M2: return {5, 2, 15, true, false, false};
    case DataType::kFloat8E5M2FNUZ: return {5, 2, 16, false, true, false};
    case DataType::kFloat6E2M3: return {2, 3, 1, false, false, false};
    case DataType::kFloat6E3M2: return {3, 2, 3, false, false, false};
    default: return {2, 1, 1, false, false, false};  // kFloat4E2M1
  }
}

uint8_t LargestFinite(const Layout& layout) {
  const int all = (1 << (layout.exponent_bits + layout.mantissa_bits)) - 1;
  if (layout.has_infinity) return static_cast<uint8_t>(all - (1 << layout.mantissa_bits));
  return static_cast<uint8_t>(layout.all_ones_nan ? all - 1 : all);
}
}  // namespace

float NarrowToFloat(DataType type, uint8_t bits) {
  if (type == DataType::kFloat8E8M0) return bits == 0xff ? NAN : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  const Layout layout = LayoutOf(type);
  const int width = layout.exponent_bits + layout.mantissa_bits;
  const int sign = (bits >> width) & 1;
  const int magnitude = bits & ((1 << width) - 1);
  if (layout.negative_zero_nan && sign && magnitude == 0) return NAN;
  const int exponent = magnitude >> layout.mantissa_bits;
  const int mantissa = magnitude & ((1 << layout.mantissa_bits) - 1);
  if (layout.all_ones_nan && magnitude == (1 << width) - 1) return sign ? -NAN : NAN;
  if (layout.has_infinity && exponent == (1 << layout.exponent_bits) - 1) {
    const float special = mantissa == 0 ? INFINITY : NAN;
    return sign ? -special : special;
  }
  const float value = exponent == 0
                          ? std::ldexp(static_cast<float>(mantissa), 1 - layout.bias - layout.mantissa_bits)
                          : std::ldexp(static_cast<float>(mantissa + (1 << layout.mantissa_bits)),
                                       exponent - layout.bias - layout.mantissa_bits);
  return sign ? -value : value;
}

uint8_t FloatToE8M0(float value, bool saturate, PowerRounding rounding) {
  constexpr uint8_t kNan = 0xff, kLargest = 0xfe;
  if (std::isnan(value) || value < 0) return kNan;
  if (std::isinf(value)) return saturate ? kLargest : kNan;
  if (value < 0x1p-127f) return saturate ? 0 : kNan;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  const float up_from = rounding == PowerRounding::kNearest ? 0.75f : std::nextafter(0.5f, 1.0f);
  const bool up = rounding != PowerRounding::kDown && fraction >= up_from;
  const int bits = exponent - 1 + (up ? 1 : 0) + 127;
  if (bits > kLargest) return saturate ? kLargest : kNan;
  return static_cast<uint8_t>(bits);
}

uint8_t FloatToNarrow(DataType type, float value, bool saturate) {
  if (type == DataType::kFloat8E8M0) return FloatToE8M0(value, saturate, PowerRounding::kNearest);
  const Layout layout = LayoutOf(type);
  const int width = layout.exponent_bits + layout.mantissa_bits;
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 1 << width : 0);
  const bool has_nan = layout.has_infinity || layout.all_ones_nan || layout.negative_zero_nan;
  const auto nan = static_cast<uint8_t>(layout.negative_zero_nan ? 1 << width : sign | ((1 << width) - 1));
  const uint8_t largest = LargestFinite(layout);
  // The types of 4 and 6 bits have no NaN: it becomes negative zero, as in ml_dtypes and the tests of ONNX.
  if (std::isnan(value)) return has_nan ? nan : static_cast<uint8_t>(1 << width);
  const auto overflow = [&]() -> uint8_t {
    if (saturate || !has_nan) return sign | largest;
    if (layout.has_infinity) return static_cast<uint8_t>(sign | (largest + 1));
    return nan;
  };
  if (std::isinf(value)) return overflow();
  if (value == 0) return layout.negative_zero_nan ? 0 : sign;
  const float magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The last place of the result: of the value's own binade, or of the subnormals below the smallest normal.
  const int place = std::max(exponent - 1, 1 - layout.bias) - layout.mantissa_bits;
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -place)));
  // Steps of a normal number include the hidden bit, so adding the binade's offset carries into the exponent by itself.
  const int binade = place + layout.mantissa_bits + layout.bias - 1;
  const int bits = (binade << layout.mantissa_bits) + steps;
  if (bits > largest) return overflow();
  if (bits == 0 && layout.negative_zero_nan) return 0;
  return static_cast<uint8_t>(sign | bits);
}

}  // namespace asc
