#include "core/tensor/data_type.h"

#include <limits>

#include "core/base/strings.h"

namespace asc {
namespace {
struct Row {
  const char* name;
  int bits;
};
// Indexed by the ONNX number.
constexpr Row kRows[kDataTypeCount] = {
    {"undefined", 0},
    {"float32", 32},
    {"uint8", 8},
    {"int8", 8},
    {"uint16", 16},
    {"int16", 16},
    {"int32", 32},
    {"int64", 64},
    {"string", 8 * sizeof(std::string)},
    {"bool", 8},
    {"float16", 16},
    {"float64", 64},
    {"uint32", 32},
    {"uint64", 64},
    {"complex64", 64},
    {"complex128", 128},
    {"bfloat16", 16},
    {"float8_e4m3fn", 8},
    {"float8_e4m3fnuz", 8},
    {"float8_e5m2", 8},
    {"float8_e5m2fnuz", 8},
    {"uint4", 4},
    {"int4", 4},
    {"float4_e2m1fn", 4},
    {"float8_e8m0fnu", 8},
    {"uint2", 2},
    {"int2", 2},
    {"float6_e2m3fn", 8},
    {"float6_e3m2fn", 8},
};
}  // namespace

std::string_view DataTypeName(DataType type) { return kRows[static_cast<int>(type)].name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (int i = 1; i < kDataTypeCount; ++i) {
    if (name == kRows[i].name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

std::optional<DataType> DataTypeFromOnnx(int64_t number) {
  if (number <= 0 || number >= kDataTypeCount) return std::nullopt;
  return static_cast<DataType>(number);
}

int BitWidth(DataType type) { return kRows[static_cast<int>(type)].bits; }

std::optional<size_t> ByteSize(DataType type, int64_t count) {
  int64_t bits = 0;
  if (count < 0 || __builtin_mul_overflow(count, static_cast<int64_t>(BitWidth(type)), &bits)) return std::nullopt;
  return static_cast<size_t>(bits / 8 + (bits % 8 != 0));
}

bool IsFloat(DataType type) { return (types::kFloats | types::kNarrowFloats).Contains(type); }
bool IsInteger(DataType type) { return (types::kIntegers | types::kNarrowIntegers).Contains(type); }
bool IsSignedInteger(DataType type) {
  return types::kSigned.Contains(type) || type == DataType::kInt4 || type == DataType::kInt2;
}
bool IsComplex(DataType type) { return types::kComplex.Contains(type); }

std::vector<DataType> TypeSet::Types() const {
  std::vector<DataType> out;
  for (int i = 1; i < kDataTypeCount; ++i) {
    if (Contains(static_cast<DataType>(i))) out.push_back(static_cast<DataType>(i));
  }
  return out;
}

std::string TypeSet::ToString() const {
  std::string out;
  for (DataType type : Types()) {
    if (!out.empty()) out += ", ";
    out += DataTypeName(type);
  }
  return out;
}

}  // namespace asc
