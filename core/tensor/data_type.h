// Element types. The numbers are ONNX's (TensorProto.DataType) and part of the ABI.
#ifndef ASC_CORE_TENSOR_DATA_TYPE_H_
#define ASC_CORE_TENSOR_DATA_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asc {

enum class DataType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};
inline constexpr int kDataTypeCount = 29;

// NumPy's or ml_dtypes' name: "float32", "bfloat16", "int4", "float8_e4m3fn", "string".
std::string_view DataTypeName(DataType type);
// Reads DataTypeName's names; nullopt for others.
std::optional<DataType> ParseDataType(std::string_view name);
// nullopt when the number is no known type (hostile files).
std::optional<DataType> DataTypeFromOnnx(int64_t number);

// Bits that one element takes in a dense tensor: 4- and 2-bit types are packed, low bits first; 6-bit floats take a byte;
// strings are std::string objects.
int BitWidth(DataType type);
// Bytes of one element; 0 for packed (sub-byte) types.
inline size_t ElementSize(DataType type) { return static_cast<size_t>(BitWidth(type)) / 8; }
// Bytes of a dense tensor of `count` elements; nullopt when it does not fit (hostile sizes).
std::optional<size_t> ByteSize(DataType type, int64_t count);

bool IsFloat(DataType type);           // all floating types, 4 bits to 64
bool IsInteger(DataType type);         // signed and unsigned, without bool
bool IsSignedInteger(DataType type);
bool IsComplex(DataType type);
inline bool IsSubByte(DataType type) { return BitWidth(type) < 8; }

// A set of types, for operator schemas.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DataType> types) {
    for (DataType type : types) bits_ |= Bit(type);
  }
  constexpr bool Contains(DataType type) const { return (bits_ & Bit(type)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr TypeSet operator|(TypeSet other) const { return FromBits(bits_ | other.bits_); }
  constexpr TypeSet operator-(TypeSet other) const { return FromBits(bits_ & ~other.bits_); }
  constexpr bool operator==(const TypeSet&) const = default;
  std::vector<DataType> Types() const;
  std::string ToString() const;  // "float32, int64"

 private:
  static constexpr uint64_t Bit(DataType type) { return uint64_t{1} << static_cast<int>(type); }
  static constexpr TypeSet FromBits(uint64_t bits) {
    TypeSet set;
    set.bits_ = bits;
    return set;
  }
  uint64_t bits_ = 0;
};

namespace types {
inline constexpr TypeSet kFloats = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16};
inline constexpr TypeSet kSigned = {DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64};
inline constexpr TypeSet kUnsigned = {DataType::kUInt8, DataType::kUInt16, DataType::kUInt32, DataType::kUInt64};
inline constexpr TypeSet kIntegers = kSigned | kUnsigned;
inline constexpr TypeSet kNumeric = kFloats | kIntegers;
inline constexpr TypeSet kBool = {DataType::kBool};
inline constexpr TypeSet kString = {DataType::kString};
inline constexpr TypeSet kComplex = {DataType::kComplex64, DataType::kComplex128};
inline constexpr TypeSet kIndex = {DataType::kInt32, DataType::kInt64};
inline constexpr TypeSet kInt64 = {DataType::kInt64};
inline constexpr TypeSet kNarrowFloats = {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2,
                                          DataType::kFloat8E5M2FNUZ, DataType::kFloat8E8M0, DataType::kFloat4E2M1,
                                          DataType::kFloat6E2M3, DataType::kFloat6E3M2};
inline constexpr TypeSet kNarrowIntegers = {DataType::kUInt4, DataType::kInt4, DataType::kUInt2, DataType::kInt2};
inline constexpr TypeSet kAll = kNumeric | kBool | kString | kComplex | kNarrowFloats | kNarrowIntegers;
}  // namespace types

}  // namespace asc

#endif  // ASC_CORE_TENSOR_DATA_TYPE_H_
