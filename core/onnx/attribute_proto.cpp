#include "core/onnx/attribute_proto.h"

#include "core/onnx/wire_reader.h"

namespace asc::onnx {

Status AttributeProto::Parse(std::string_view message) {
  // Files of IR version 1 do not say the kind: the field that is there does.
  AttributeKind seen = AttributeKind::kUndefined;
  WireReader reader(message, "AttributeProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case AttributeField::kName:
        name = reader.String();
        break;
      case AttributeField::kRefAttrName:
        reference = reader.String();
        break;
      case AttributeField::kKind:
        kind = static_cast<AttributeKind>(reader.Int());
        break;
      case AttributeField::kFloat:
        number = reader.Float();
        seen = AttributeKind::kFloat;
        break;
      case AttributeField::kInt:
        integer = reader.Int();
        seen = AttributeKind::kInt;
        break;
      case AttributeField::kString:
        text = reader.Bytes();
        seen = AttributeKind::kString;
        break;
      case AttributeField::kTensor:
        tensor = reader.Bytes();
        seen = AttributeKind::kTensor;
        break;
      case AttributeField::kGraph:
        graph = reader.Bytes();
        seen = AttributeKind::kGraph;
        break;
      case AttributeField::kSparseTensor:
        sparse_tensor = reader.Bytes();
        seen = AttributeKind::kSparseTensor;
        break;
      case AttributeField::kTypeProto:
        type = reader.Bytes();
        seen = AttributeKind::kTypeProto;
        break;
      case AttributeField::kFloats:
        reader.AppendFloats(floats);
        seen = AttributeKind::kFloats;
        break;
      case AttributeField::kInts:
        reader.AppendInts(ints);
        seen = AttributeKind::kInts;
        break;
      case AttributeField::kStrings:
        strings.push_back(reader.String());
        seen = AttributeKind::kStrings;
        break;
    }
  }
  if (kind == AttributeKind::kUndefined) kind = seen;
  return reader.status();
}

}  // namespace asc::onnx
