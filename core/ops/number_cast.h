// Conversions between numbers with an answer for every input.
#ifndef ASC_CORE_OPS_NUMBER_CAST_H_
#define ASC_CORE_OPS_NUMBER_CAST_H_

#include <bit>
#include <cstdint>
#include <type_traits>

namespace asc {

inline int64_t TruncateToInt64(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : INT64_MIN;
}

inline int32_t TruncateToInt32(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? static_cast<int32_t>(x) : INT32_MIN;
}

// Truncation of a real number to an integer. Out of range it gives what x86-64's instructions give,
// and so NumPy and ONNX Runtime there: a signed conversion answers its smallest number to what does
// not fit, NaN too; narrower types take its low bits, and unsigned ones put together two halves.
template <typename T>
T TruncateTo(double x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (x >= 0x1p63)
      return static_cast<uint64_t>(TruncateToInt64(x - 0x1p63)) ^ (uint64_t{1} << 63);
    return static_cast<uint64_t>(TruncateToInt64(x));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    if (x >= 0x1p31)
      return static_cast<uint32_t>(TruncateToInt32(x - 0x1p31)) ^ (uint32_t{1} << 31);
    return static_cast<uint32_t>(TruncateToInt32(x));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return TruncateToInt64(x);
  } else {
    return static_cast<T>(TruncateToInt32(x));
  }
}

// The float nearest to `x` among those with an odd last bit, or x itself where float holds it.
// Rounding that to a type with at least two bits less gives what rounding x at once would.
inline float RoundToOdd(double x) {
  const auto nearest = static_cast<float>(x);
  const auto back = static_cast<double>(nearest);
  if (back == x || x != x) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1) == 0) bits += ((back < x) == (back > 0 || (back == 0 && x > 0))) ? 1u : ~0u;
  return std::bit_cast<float>(bits);
}

}  // namespace asc

#endif  // ASC_CORE_OPS_NUMBER_CAST_H_
