// TypeProto to ValueType.
#ifndef ASC_CORE_ONNX_TYPE_READER_H_
#define ASC_CORE_ONNX_TYPE_READER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/tensor/any_value.h"

namespace asc::onnx {

class TypeReader {
 public:
  // nullopt for a TypeProto that says nothing. An element type of 0 gives DataType::kUndefined;
  // unknown numbers and the types that pyasc has not (sparse tensors, opaque) are E5006.
  Result<std::optional<ValueType>> Read(std::string_view message) { return Read(message, 0); }

 private:
  Result<std::optional<ValueType>> Read(std::string_view message, int depth);
  Result<std::optional<ValueType>> ReadElement(std::string_view message, int depth);
  Result<ValueType> ReadTensor(std::string_view message);
  Result<ValueType> ReadMap(std::string_view message, int depth);
  Result<Shape> ReadShape(std::string_view message);
  Result<Dim> ReadDim(std::string_view message);
  Dim SymbolFor(const std::string& param);

  std::map<std::string, std::string, std::less<>> symbols_;  // dim_param -> symbol
  std::set<std::string, std::less<>> taken_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_TYPE_READER_H_
