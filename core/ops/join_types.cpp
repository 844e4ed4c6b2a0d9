#include "core/ops/join_types.h"

namespace asc {
namespace {
// Nothing is known of the value yet.
bool IsOpen(const ValueType& type) {
  return type.is_tensor() && type.dtype == DataType::kUndefined && !type.shape.has_rank();
}
}  // namespace

Result<ValueType> TypeJoin::operator()(const ValueType& a, const ValueType& b) {
  if (IsOpen(a)) return b;
  if (IsOpen(b)) return a;
  if (a.kind == ValueKind::kOptional && b.kind != ValueKind::kOptional && a.element) {
    ASC_ASSIGN_OR_RETURN(ValueType held, (*this)(*a.element, b));
    return ValueType::Optional(std::move(held));
  }
  if (a.kind != b.kind ||
      (a.dtype != b.dtype && a.dtype != DataType::kUndefined && b.dtype != DataType::kUndefined)) {
    return TypeError(op_, " needs one type for a value on all ways: given ", a, " and ", b)
        .WithHint("insert a Cast");
  }
  ValueType out = a;
  if (out.dtype == DataType::kUndefined) out.dtype = b.dtype;
  out.shape = JoinShapes(a.shape, b.shape);
  if (a.element && b.element) {
    ASC_ASSIGN_OR_RETURN(ValueType element, (*this)(*a.element, *b.element));
    out.element = std::make_shared<ValueType>(std::move(element));
  } else if (!a.element) {
    out.element = b.element;
  }
  return out;
}

Shape TypeJoin::JoinShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape();
  Shape out = a;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (a[i] == b[i] || open_.contains(a[i].ToString())) continue;
    out[i] = Dim::Unknown();
    open_.insert(out[i].ToString());
  }
  return out;
}

}  // namespace asc
