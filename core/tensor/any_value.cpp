#include "core/tensor/any_value.h"

namespace asc {

std::string_view ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTensor: return "tensor";
    case ValueKind::kSequence: return "sequence";
    case ValueKind::kOptional: return "optional";
    case ValueKind::kMap: return "map";
  }
  return "unknown";
}

ValueType ValueType::Tensor(DataType dtype, Shape shape) { return {ValueKind::kTensor, dtype, std::move(shape), nullptr}; }

ValueType ValueType::Sequence(ValueType element) {
  return {ValueKind::kSequence, DataType::kUndefined, Shape(), std::make_shared<ValueType>(std::move(element))};
}

ValueType ValueType::Optional(ValueType element) {
  return {ValueKind::kOptional, DataType::kUndefined, Shape(), std::make_shared<ValueType>(std::move(element))};
}

ValueType ValueType::Map(DataType key, ValueType value) {
  return {ValueKind::kMap, key, Shape(), std::make_shared<ValueType>(std::move(value))};
}

bool ValueType::operator==(const ValueType& other) const {
  if (kind != other.kind || dtype != other.dtype || !(shape == other.shape)) return false;
  if (!element || !other.element) return element == other.element;
  return *element == *other.element;
}

std::string ValueType::ToString() const {
  switch (kind) {
    case ValueKind::kTensor: return Cat(DataTypeName(dtype), shape);
    case ValueKind::kMap: return Cat("map(", DataTypeName(dtype), ", ", element ? element->ToString() : "?", ")");
    default: return Cat(ValueKindName(kind), "(", element ? element->ToString() : "?", ")");
  }
}

AnyValue AnyValue::MakeSequence(Sequence items, DataType element_type) {
  AnyValue value;
  value.kind_ = ValueKind::kSequence;
  value.element_type_ = element_type;
  if (element_type == DataType::kUndefined && !items.empty() && items[0].is_tensor()) {
    value.element_type_ = items[0].tensor().dtype();
  }
  value.data_ = std::make_shared<const Sequence>(std::move(items));
  return value;
}

AnyValue AnyValue::MakeMap(IntMap entries) {
  AnyValue value;
  value.kind_ = ValueKind::kMap;
  value.data_ = std::make_shared<const IntMap>(std::move(entries));
  return value;
}

AnyValue AnyValue::MakeMap(StringMap entries) {
  AnyValue value;
  value.kind_ = ValueKind::kMap;
  value.data_ = std::make_shared<const StringMap>(std::move(entries));
  return value;
}

AnyValue AnyValue::MakeOptional(AnyValue held) {
  AnyValue value;
  value.data_ = std::make_shared<const Sequence>(Sequence{std::move(held)});
  return value;
}

void AnyValue::VisitTensors(const std::function<void(const asc::Tensor&)>& visit) const {
  if (is_tensor()) return visit(tensor());
  if (is_none()) return;
  if (kind_ != ValueKind::kMap) {  // the value of an optional is stored as a sequence of one
    for (const AnyValue& item : sequence()) item.VisitTensors(visit);
  } else if (has_string_keys()) {
    for (const auto& entry : string_map()) entry.second.VisitTensors(visit);
  } else {
    for (const auto& entry : int_map()) entry.second.VisitTensors(visit);
  }
}

Status AnyValue::TransformParts(const std::function<Status(AnyValue& part)>& transform) {
  const auto transform_map = [&](auto map) -> Status {
    for (auto& [key, part] : map) ASC_RETURN_IF_ERROR(transform(part));
    data_ = std::make_shared<const decltype(map)>(std::move(map));
    return Ok();
  };
  if (is_tensor() || is_none()) return Ok();
  if (kind_ == ValueKind::kMap) return has_string_keys() ? transform_map(string_map()) : transform_map(int_map());
  Sequence parts = sequence();
  for (AnyValue& part : parts) ASC_RETURN_IF_ERROR(transform(part));
  data_ = std::make_shared<const Sequence>(std::move(parts));
  return Ok();
}

ValueType AnyValue::Type() const {
  switch (kind_) {
    case ValueKind::kTensor: return ValueType::Tensor(tensor().dtype(), Shape(tensor().dims()));
    case ValueKind::kSequence:
      if (sequence().size() == 1) return ValueType::Sequence(sequence()[0].Type());
      return ValueType::Sequence(ValueType::Tensor(element_type_));
    case ValueKind::kOptional:
      return ValueType::Optional(is_none() ? ValueType() : optional_value().Type());
    case ValueKind::kMap: {
      if (has_string_keys()) {
        return ValueType::Map(DataType::kString,
                              string_map().empty() ? ValueType() : string_map().begin()->second.Type());
      }
      return ValueType::Map(DataType::kInt64, int_map().empty() ? ValueType() : int_map().begin()->second.Type());
    }
  }
  return ValueType();
}

}  // namespace asc
