// Element access for any type, one at a time: for reference kernels, printing and conversions where speed does not matter.
#ifndef ASC_CORE_TENSOR_ELEMENT_H_
#define ASC_CORE_TENSOR_ELEMENT_H_

#include "core/tensor/tensor.h"

namespace asc {

// Unsigned bits of element i of a packed (4- or 2-bit) or byte-sized narrow tensor; integers are not sign-extended.
uint8_t ReadPacked(DataType type, const void* data, int64_t i);
void WritePacked(DataType type, void* data, int64_t i, uint8_t bits);

// Real element i as double (integers above 2^53 round); bool as 0 or 1. Not for complex and strings.
double ReadAsDouble(DataType type, const void* data, int64_t i);
// Integer or bool element i, exact; uint64 wraps. Only for integer types and bool.
int64_t ReadAsInt64(DataType type, const void* data, int64_t i);

// Calls f(T{}) with the C++ element type of `type` if it is one of Ts; false when it is none of them.
//   VisitType<float, double>(t, [&](auto zero) { using T = decltype(zero); ... });
template <typename... Ts, typename F>
bool VisitType(DataType type, F&& f) {
  return ((type == DataTypeOf<Ts>::value ? (f(Ts{}), true) : false) || ...);
}
template <typename F>
bool VisitFloats(DataType type, F&& f) {
  return VisitType<float, double, Half, BFloat16>(type, f);
}
template <typename F>
bool VisitIntegers(DataType type, F&& f) {
  return VisitType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(type, f);
}
template <typename F>
bool VisitNumeric(DataType type, F&& f) {
  return VisitFloats(type, f) || VisitIntegers(type, f);
}

// For kernels that only move elements: calls f with an unsigned type of the element's size (std::string for strings, a
// 16-byte struct for complex128). Packed types are not movable this way: false.
struct Bits128 {
  uint64_t low, high;
};
template <typename F>
bool VisitBySize(DataType type, F&& f) {
  if (type == DataType::kString) return f(std::string()), true;
  switch (BitWidth(type)) {
    case 8: return f(uint8_t{}), true;
    case 16: return f(uint16_t{}), true;
    case 32: return f(uint32_t{}), true;
    case 64: return f(uint64_t{}), true;
    case 128: return f(Bits128{}), true;
    default: return false;
  }
}

}  // namespace asc

#endif  // ASC_CORE_TENSOR_ELEMENT_H_
