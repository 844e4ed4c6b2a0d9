// Ranges of integer types, for saturation.
#ifndef ASC_CORE_OPS_QUANTIZE_RANGE_H_
#define ASC_CORE_OPS_QUANTIZE_RANGE_H_

#include <optional>

#include "core/tensor/data_type.h"

namespace asc {

struct ValueRange {
  double low, high;
  // NaN becomes the low end.
  double Clamp(double x) const { return !(x > low) ? low : x > high ? high : x; }
};

// Of integer types up to 32 bits; nullopt for others.
inline std::optional<ValueRange> IntegerRange(DataType type) {
  const int bits = BitWidth(type);
  if (!IsInteger(type) || bits > 32) return std::nullopt;
  const auto span = static_cast<double>(uint64_t{1} << bits);
  if (IsSignedInteger(type)) return ValueRange{-span / 2, span / 2 - 1};
  return ValueRange{0, span - 1};
}

}  // namespace asc

#endif  // ASC_CORE_OPS_QUANTIZE_RANGE_H_
