// AnyValue: what runs take and give. A tensor, a sequence, an optional or a map.
#ifndef ASC_CORE_TENSOR_ANY_VALUE_H_
#define ASC_CORE_TENSOR_ANY_VALUE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace asc {

enum class ValueKind : uint8_t { kTensor = 0, kSequence = 1, kOptional = 2, kMap = 3 };
std::string_view ValueKindName(ValueKind kind);

// The static type of a value: what a graph says of it, and what a run checks.
struct ValueType {
  ValueKind kind = ValueKind::kTensor;
  DataType dtype = DataType::kUndefined;     // tensors: element type; maps: type of the keys (integers or string)
  Shape shape;                               // tensors only
  std::shared_ptr<const ValueType> element;  // of a sequence, an optional or a map's values

  static ValueType Tensor(DataType dtype, Shape shape = Shape());
  static ValueType Sequence(ValueType element);
  static ValueType Optional(ValueType element);
  static ValueType Map(DataType key, ValueType value);
  bool is_tensor() const { return kind == ValueKind::kTensor; }
  bool operator==(const ValueType& other) const;
  // "float32[N, 3]", "sequence(float32[*])", "optional(...)", "map(string, float32[*])"
  std::string ToString() const;
};

// A handle: copies share their contents, which are immutable once shared.
class AnyValue {
 public:
  using Sequence = std::vector<AnyValue>;
  using IntMap = std::map<int64_t, AnyValue>;
  using StringMap = std::map<std::string, AnyValue>;

  AnyValue() = default;  // an optional that holds nothing
  AnyValue(Tensor tensor) : kind_(ValueKind::kTensor), data_(std::move(tensor)) {}  // NOLINT: tensors are values
  // `element_type` matters for empty sequences (SequenceEmpty's dtype).
  static AnyValue MakeSequence(Sequence items, DataType element_type = DataType::kUndefined);
  static AnyValue MakeMap(IntMap entries);
  static AnyValue MakeMap(StringMap entries);
  // An optional that holds `value`. None() is the one that holds nothing.
  static AnyValue MakeOptional(AnyValue value);
  static AnyValue None() { return AnyValue(); }

  ValueKind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == ValueKind::kTensor; }
  bool is_none() const { return kind_ == ValueKind::kOptional && std::holds_alternative<std::monostate>(data_); }
  // Only for the kind that each names.
  const asc::Tensor& tensor() const { return std::get<asc::Tensor>(data_); }
  asc::Tensor& tensor() { return std::get<asc::Tensor>(data_); }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data_); }
  DataType sequence_element_type() const { return element_type_; }
  const AnyValue& optional_value() const { return (*std::get<std::shared_ptr<const Sequence>>(data_))[0]; }
  bool has_string_keys() const { return std::holds_alternative<std::shared_ptr<const StringMap>>(data_); }
  const IntMap& int_map() const { return *std::get<std::shared_ptr<const IntMap>>(data_); }
  const StringMap& string_map() const { return *std::get<std::shared_ptr<const StringMap>>(data_); }

  // The type of this very value, with static shapes.
  ValueType Type() const;
  // Calls `visit` with every tensor in it, at any depth.
  void VisitTensors(const std::function<void(const asc::Tensor&)>& visit) const;
  // Replaces its items, entries or held value by what `transform` makes of a copy of each, in order; other holders of the old
  // contents keep them. Stops at the first error, unchanged. Nothing to do for a tensor.
  Status TransformParts(const std::function<Status(AnyValue& part)>& transform);

 private:
  ValueKind kind_ = ValueKind::kOptional;
  DataType element_type_ = DataType::kUndefined;
  // A sequence of one stands for a full optional.
  std::variant<std::monostate, asc::Tensor, std::shared_ptr<const Sequence>, std::shared_ptr<const IntMap>,
               std::shared_ptr<const StringMap>>
      data_;
};

}  // namespace asc

#endif  // ASC_CORE_TENSOR_ANY_VALUE_H_
