#include "core/onnx/type_writer.h"

#include "core/onnx/onnx_fields.h"

namespace asc::onnx {
namespace {
using protozero::pbf_writer;

void WriteShape(const Shape& shape, pbf_writer& tensor) {
  // The writer drops a message that stays empty, and an empty shape is rank 0.
  if (shape.rank() == 0) return tensor.add_message(TensorTypeField::kShape, "", 0);
  pbf_writer out(tensor, TensorTypeField::kShape);
  for (const Dim& dim : shape.dims()) {
    if (dim.is_unknown()) {
      out.add_message(ShapeField::kDim, "", 0);
      continue;
    }
    pbf_writer dimension(out, ShapeField::kDim);
    if (dim.is_constant()) {
      dimension.add_int64(DimensionField::kValue, dim.value());
    } else {
      dimension.add_string(DimensionField::kParam, dim.ToString());
    }
  }
}
}  // namespace

bool IsWritable(const ValueType& type) {
  if (type.is_tensor()) return type.dtype != DataType::kUndefined;
  if (type.kind == ValueKind::kMap && type.dtype == DataType::kUndefined) return false;
  return type.element != nullptr && IsWritable(*type.element);
}

void WriteType(const ValueType& type, pbf_writer& out) {
  switch (type.kind) {
    case ValueKind::kTensor: {
      pbf_writer tensor(out, TypeField::kTensor);
      tensor.add_int32(TensorTypeField::kElemType, static_cast<int32_t>(type.dtype));
      if (type.shape.has_rank()) WriteShape(type.shape, tensor);
      return;
    }
    case ValueKind::kSequence:
    case ValueKind::kOptional: {
      pbf_writer holder(
          out, type.kind == ValueKind::kSequence ? TypeField::kSequence : TypeField::kOptional);
      pbf_writer element(holder, SequenceTypeField::kElemType);
      return WriteType(*type.element, element);
    }
    case ValueKind::kMap: {
      pbf_writer map(out, TypeField::kMap);
      map.add_int32(MapTypeField::kKeyType, static_cast<int32_t>(type.dtype));
      pbf_writer element(map, MapTypeField::kValueType);
      return WriteType(*type.element, element);
    }
  }
}

void WriteValueInfo(const std::string& name, const ValueType& type, pbf_writer out) {
  out.add_string(ValueInfoField::kName, name);
  if (!IsWritable(type)) return;
  pbf_writer message(out, ValueInfoField::kType);
  WriteType(type, message);
}

}  // namespace asc::onnx
