#include "core/tensor/element.h"

namespace asc {

uint8_t ReadPacked(DataType type, const void* data, int64_t i) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const int bits = BitWidth(type);
  if (bits == 8) return bytes[i];
  const int per_byte = 8 / bits;
  return static_cast<uint8_t>((bytes[i / per_byte] >> (i % per_byte * bits)) & ((1 << bits) - 1));
}

void WritePacked(DataType type, void* data, int64_t i, uint8_t value) {
  auto* bytes = static_cast<uint8_t*>(data);
  const int bits = BitWidth(type);
  if (bits == 8) {
    bytes[i] = value;
    return;
  }
  const int per_byte = 8 / bits;
  const int shift = static_cast<int>(i % per_byte) * bits;
  const int mask = ((1 << bits) - 1) << shift;
  uint8_t& byte = bytes[i / per_byte];
  byte = static_cast<uint8_t>((byte & ~mask) | ((value << shift) & mask));
}

int64_t ReadAsInt64(DataType type, const void* data, int64_t i) {
  int64_t out = 0;
  if (VisitIntegers(type, [&](auto zero) { out = static_cast<int64_t>(static_cast<const decltype(zero)*>(data)[i]); })) {
    return out;
  }
  if (type == DataType::kBool) return static_cast<const uint8_t*>(data)[i] != 0;
  const int64_t bits = ReadPacked(type, data, i);
  if (type == DataType::kInt4) return bits >= 8 ? bits - 16 : bits;
  if (type == DataType::kInt2) return bits >= 2 ? bits - 4 : bits;
  return bits;
}

double ReadAsDouble(DataType type, const void* data, int64_t i) {
  double out = 0;
  if (VisitFloats(type, [&](auto zero) { out = static_cast<double>(static_cast<const decltype(zero)*>(data)[i]); })) {
    return out;
  }
  if (types::kNarrowFloats.Contains(type)) return NarrowToFloat(type, ReadPacked(type, data, i));
  if (type == DataType::kUInt64) return static_cast<double>(static_cast<const uint64_t*>(data)[i]);
  return static_cast<double>(ReadAsInt64(type, data, i));
}

}  // namespace asc
