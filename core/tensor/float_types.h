// Floating types that C++ lacks, as bits with conversions to and from float (round to nearest even).
//
// Half and BFloat16 follow IEEE 754 binary16 and the upper half of binary32. The 8-, 6- and 4-bit types follow the OCP
// microscaling and FP8 papers as ONNX names them; conversion into them saturates when asked, as ONNX Cast does by default.
#ifndef ASC_CORE_TENSOR_FLOAT_TYPES_H_
#define ASC_CORE_TENSOR_FLOAT_TYPES_H_

#include <bit>
#include <cstdint>

#include "core/tensor/data_type.h"

namespace asc {

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(FromFloat(value)) {}
  operator float() const { return ToFloat(bits); }  // NOLINT: implicit widening is exact

  static float ToFloat(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1f;
    const uint32_t mantissa = h & 0x3ff;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal, exact
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }

  static uint16_t FromFloat(float value) {
    const uint32_t bits32 = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((bits32 >> 16) & 0x8000u);
    const uint32_t magnitude = bits32 & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;          // NaN stays NaN
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;         // rounds to infinity from 65520 up
    if (magnitude < 0x38800000u) {                               // below 2^-14: subnormal
      // Adding 0.5 aligns the wanted bits with the float's last place, so that the addition itself rounds to even.
      const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
      return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(aligned) - 0x3f000000u);
    }
    const uint32_t odd = (magnitude >> 13) & 1;
    return sign | static_cast<uint16_t>((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
  }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(FromFloat(value)) {}
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }  // NOLINT: exact

  static uint16_t FromFloat(float value) {
    const uint32_t bits32 = std::bit_cast<uint32_t>(value);
    if ((bits32 & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits32 >> 16) | 0x40u);
    return static_cast<uint16_t>((bits32 + 0x7fffu + ((bits32 >> 16) & 1)) >> 16);
  }
};

// Any of kNarrowFloats, one per byte (kFloat4E2M1 in the low nibble).
float NarrowToFloat(DataType type, uint8_t bits);
// `saturate`: out-of-range values become the largest finite one rather than infinity or NaN.
uint8_t FloatToNarrow(DataType type, float value, bool saturate);

// Into kFloat8E8M0, which holds the powers of two from 2^-127 to 2^127 and NaN: NaN for negatives. Values below the range become
// 2^-127, those above 2^127, if `saturate`, else NaN.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };  // kNearest: halves up
uint8_t FloatToE8M0(float value, bool saturate, PowerRounding rounding);

}  // namespace asc

#endif  // ASC_CORE_TENSOR_FLOAT_TYPES_H_
