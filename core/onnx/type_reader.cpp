#include "core/onnx/type_reader.h"

#include <cctype>

#include "core/onnx/onnx_fields.h"
#include "core/onnx/wire_reader.h"

namespace asc::onnx {
namespace {
constexpr int kDeepestType = 16;

Result<DataType> ElementType(int64_t number) {
  if (number == 0) return DataType::kUndefined;
  if (const auto type = DataTypeFromOnnx(number)) return *type;
  return Error(Code::kInvalidModel, "element type ", number, " is not one of ONNX");
}
}  // namespace

Result<std::optional<ValueType>> TypeReader::Read(std::string_view message, int depth) {
  if (depth > kDeepestType)
    return Error(Code::kInvalidModel, "types are nested deeper than ", kDeepestType);
  std::optional<ValueType> type;
  WireReader reader(message, "TypeProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case TypeField::kTensor: {
        ASC_ASSIGN_OR_RETURN(type, ReadTensor(reader.Bytes()));
        break;
      }
      case TypeField::kSequence: {
        ASC_ASSIGN_OR_RETURN(auto element, ReadElement(reader.Bytes(), depth));
        if (element) type = ValueType::Sequence(*std::move(element));
        break;
      }
      case TypeField::kOptional: {
        ASC_ASSIGN_OR_RETURN(auto element, ReadElement(reader.Bytes(), depth));
        if (element) type = ValueType::Optional(*std::move(element));
        break;
      }
      case TypeField::kMap: {
        ASC_ASSIGN_OR_RETURN(type, ReadMap(reader.Bytes(), depth));
        break;
      }
      case TypeField::kSparseTensor:
        return Error(Code::kInvalidModel, "values of type sparse_tensor are not supported");
      case TypeField::kOpaque:
        return Error(Code::kInvalidModel, "values of opaque types are not supported");
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return type;
}

// Nothing where the element's type is missing: ONNX's own shape inference writes such types, which say nothing.
Result<std::optional<ValueType>> TypeReader::ReadElement(std::string_view message, int depth) {
  std::optional<ValueType> element;
  WireReader reader(message, "TypeProto");
  while (reader.Next()) {
    if (reader.field() == SequenceTypeField::kElemType) {
      ASC_ASSIGN_OR_RETURN(element, Read(reader.Bytes(), depth + 1));
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return element;
}

Result<ValueType> TypeReader::ReadMap(std::string_view message, int depth) {
  DataType key = DataType::kUndefined;
  std::optional<ValueType> value;
  WireReader reader(message, "TypeProto of a map");
  while (reader.Next()) {
    switch (reader.field()) {
      case MapTypeField::kKeyType: {
        ASC_ASSIGN_OR_RETURN(key, ElementType(reader.Int()));
        break;
      }
      case MapTypeField::kValueType: {
        ASC_ASSIGN_OR_RETURN(value, Read(reader.Bytes(), depth + 1));
        break;
      }
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  if (!types::kIntegers.Contains(key) && key != DataType::kString) {
    return Error(Code::kInvalidModel, "keys of a map must be integers or strings, given ",
                 DataTypeName(key));
  }
  if (!value) return Error(Code::kInvalidModel, "a map type without a type of its values");
  return ValueType::Map(key, *std::move(value));
}

Result<ValueType> TypeReader::ReadTensor(std::string_view message) {
  ValueType type;
  WireReader reader(message, "TypeProto of a tensor");
  while (reader.Next()) {
    switch (reader.field()) {
      case TensorTypeField::kElemType: {
        ASC_ASSIGN_OR_RETURN(type.dtype, ElementType(reader.Int()));
        break;
      }
      case TensorTypeField::kShape: {
        ASC_ASSIGN_OR_RETURN(type.shape, ReadShape(reader.Bytes()));
        break;
      }
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return type;
}

Result<Shape> TypeReader::ReadShape(std::string_view message) {
  std::vector<Dim> dims;
  WireReader reader(message, "TensorShapeProto");
  while (reader.Next()) {
    if (reader.field() == ShapeField::kDim) {
      ASC_ASSIGN_OR_RETURN(Dim dim, ReadDim(reader.Bytes()));
      dims.push_back(std::move(dim));
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return Shape(std::move(dims));
}

Result<Dim> TypeReader::ReadDim(std::string_view message) {
  std::optional<Dim> dim;
  WireReader reader(message, "TensorShapeProto.Dimension");
  while (reader.Next()) {
    switch (reader.field()) {
      case DimensionField::kValue: {
        // Exporters write -1 for "not known".
        const int64_t value = reader.Int();
        dim = value < 0 ? Dim::Unknown() : Dim(value);
        break;
      }
      case DimensionField::kParam: {
        const std::string param = reader.String();
        dim = param.empty() || param == "?" ? Dim::Unknown() : SymbolFor(param);
        break;
      }
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return dim ? *dim : Dim::Unknown();
}

// A dim_param may be any text; a symbol must read back from a graph's text form. Different texts
// stay different symbols.
Dim TypeReader::SymbolFor(const std::string& param) {
  if (const auto it = symbols_.find(param); it != symbols_.end()) return Dim::Symbol(it->second);
  std::string symbol;
  for (const char c : param) {
    symbol += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == ':' ? c : '_';
  }
  const auto is_free = [&](const std::string& name) {
    const auto parsed = Dim::Parse(name);
    return parsed && parsed->is_symbol() && !parsed->is_unknown() && !taken_.contains(name);
  };
  for (int i = 0; !is_free(symbol); ++i) symbol = i == 0 ? "_" + symbol : Cat(symbol, "_", i);
  symbols_.emplace(param, symbol);
  taken_.insert(symbol);
  return Dim::Symbol(symbol);
}

}  // namespace asc::onnx
