// AttributeProto, its parts still encoded.
#ifndef ASC_CORE_ONNX_ATTRIBUTE_PROTO_H_
#define ASC_CORE_ONNX_ATTRIBUTE_PROTO_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/onnx/onnx_fields.h"

namespace asc::onnx {

// Everything that an AttributeProto may hold.
struct AttributeProto {
  std::string name, reference;
  AttributeKind kind = AttributeKind::kUndefined;
  float number = 0;
  int64_t integer = 0;
  std::string_view text, tensor, graph, sparse_tensor, type;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;

  Status Parse(std::string_view message);
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_ATTRIBUTE_PROTO_H_
