// Writes small ONNX messages for tests, with the field numbers that the importer reads.
#ifndef ASC_TESTS_CORE_ONNX_ONNX_BYTES_H_
#define ASC_TESTS_CORE_ONNX_ONNX_BYTES_H_

#include <cstring>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/onnx/import.h"
#include "core/onnx/onnx_fields.h"

namespace asc::onnx {

using Message = std::string;  // an encoded message
using Names = std::vector<std::string>;

template <typename F>
Message Write(F&& fill) {
  Message message;
  protozero::pbf_writer writer(message);
  fill(writer);
  return message;
}

// ---- types: a dimension is a number, or a name when it is not one; "" says nothing ----
inline Message TensorType(DataType dtype, const Names& dims) {
  const Message shape = Write([&](auto& w) {
    for (const std::string& dim : dims) {
      w.add_message(ShapeField::kDim, Write([&](auto& d) {
                      if (dim.empty()) return;
                      if (dim.find_first_not_of("-0123456789") == std::string::npos) {
                        d.add_int64(DimensionField::kValue, std::stoll(dim));
                      } else {
                        d.add_string(DimensionField::kParam, dim);
                      }
                    }));
    }
  });
  return Write([&](auto& w) {
    w.add_message(TypeField::kTensor, Write([&](auto& t) {
                    t.add_int32(TensorTypeField::kElemType, static_cast<int>(dtype));
                    t.add_message(TensorTypeField::kShape, shape);
                  }));
  });
}

// Without a shape.
inline Message TensorType(DataType dtype) {
  return Write([&](auto& w) {
    w.add_message(TypeField::kTensor, Write([&](auto& t) {
                    t.add_int32(TensorTypeField::kElemType, static_cast<int>(dtype));
                  }));
  });
}

inline Message ElementType(uint32_t kind,
                           const Message& element) {  // TypeField::kSequence or kOptional
  return Write([&](auto& w) {
    w.add_message(kind,
                  Write([&](auto& s) { s.add_message(SequenceTypeField::kElemType, element); }));
  });
}

inline Message ValueInfo(std::string_view name, const Message& type) {
  return Write([&](auto& w) {
    w.add_string(ValueInfoField::kName, name.data(), name.size());
    if (!type.empty()) w.add_message(ValueInfoField::kType, type);
  });
}
inline Message Float(std::string_view name, const Names& dims) {
  return ValueInfo(name, TensorType(DataType::kFloat32, dims));
}

// ---- tensors ----
inline Message RawTensor(std::string_view name, DataType dtype, const std::vector<int64_t>& dims,
                         std::string_view raw) {
  return Write([&](auto& w) {
    w.add_packed_int64(TensorField::kDims, dims.begin(), dims.end());
    w.add_int32(TensorField::kDataType, static_cast<int>(dtype));
    w.add_string(TensorField::kName, name.data(), name.size());
    w.add_bytes(TensorField::kRawData, raw.data(), raw.size());
  });
}
template <typename T>
Message RawTensor(std::string_view name, const std::vector<int64_t>& dims,
                  const std::vector<T>& values) {
  return RawTensor(name, DataTypeOf<T>::value, dims,
                   {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
// `fill` writes the data.
template <typename F>
Message TypedTensor(std::string_view name, DataType dtype, const std::vector<int64_t>& dims,
                    F&& fill) {
  return Write([&](auto& w) {
    w.add_packed_int64(TensorField::kDims, dims.begin(), dims.end());
    w.add_int32(TensorField::kDataType, static_cast<int>(dtype));
    w.add_string(TensorField::kName, name.data(), name.size());
    fill(w);
  });
}
inline Message ExternalTensor(std::string_view name, DataType dtype,
                              const std::vector<int64_t>& dims,
                              const std::vector<std::pair<std::string, std::string>>& entries) {
  return TypedTensor(name, dtype, dims, [&](auto& w) {
    for (const auto& [key, value] : entries) {
      w.add_message(TensorField::kExternalData, Write([&](auto& e) {
                      e.add_string(EntryField::kKey, key);
                      e.add_string(EntryField::kValue, value);
                    }));
    }
    w.add_int32(TensorField::kDataLocation, static_cast<int>(kDataLocationExternal));
  });
}

// ---- attributes ----
template <typename F>
Message Attribute(std::string_view name, AttributeKind kind, F&& fill) {
  return Write([&](auto& w) {
    w.add_string(AttributeField::kName, name.data(), name.size());
    fill(w);
    if (kind != AttributeKind::kUndefined)
      w.add_int64(AttributeField::kKind, static_cast<int64_t>(kind));
  });
}
inline Message Attr(std::string_view name, int64_t value) {
  return Attribute(name, AttributeKind::kInt,
                   [&](auto& w) { w.add_int64(AttributeField::kInt, value); });
}
inline Message Attr(std::string_view name, int value) { return Attr(name, int64_t{value}); }
inline Message Attr(std::string_view name, float value) {
  return Attribute(name, AttributeKind::kFloat,
                   [&](auto& w) { w.add_float(AttributeField::kFloat, value); });
}
inline Message Attr(std::string_view name, std::string_view value) {
  return Attribute(name, AttributeKind::kString, [&](auto& w) {
    w.add_bytes(AttributeField::kString, value.data(), value.size());
  });
}
inline Message Attr(std::string_view name, const char* value) {
  return Attr(name, std::string_view(value));
}
inline Message Attr(std::string_view name, const std::vector<int64_t>& values) {
  return Attribute(name, AttributeKind::kInts, [&](auto& w) {
    w.add_packed_int64(AttributeField::kInts, values.begin(), values.end());
  });
}
inline Message Attr(std::string_view name, const std::vector<float>& values) {
  return Attribute(name, AttributeKind::kFloats, [&](auto& w) {
    w.add_packed_float(AttributeField::kFloats, values.begin(), values.end());
  });
}
inline Message Attr(std::string_view name, const Names& values) {
  return Attribute(name, AttributeKind::kStrings, [&](auto& w) {
    for (const std::string& value : values) w.add_bytes(AttributeField::kStrings, value);
  });
}
inline Message TensorAttr(std::string_view name, const Message& tensor) {
  return Attribute(name, AttributeKind::kTensor,
                   [&](auto& w) { w.add_message(AttributeField::kTensor, tensor); });
}
inline Message GraphAttr(std::string_view name, const Message& graph) {
  return Attribute(name, AttributeKind::kGraph,
                   [&](auto& w) { w.add_message(AttributeField::kGraph, graph); });
}
inline Message ReferenceAttr(std::string_view name, std::string_view parameter,
                             AttributeKind kind) {
  return Attribute(name, kind, [&](auto& w) {
    w.add_string(AttributeField::kRefAttrName, parameter.data(), parameter.size());
  });
}

// ---- nodes, graphs, functions, models ----
inline Message Node(std::string_view op, const Names& inputs, const Names& outputs,
                    const std::vector<Message>& attributes = {}, std::string_view name = "",
                    std::string_view domain = "", std::string_view overload = "") {
  return Write([&](auto& w) {
    for (const std::string& input : inputs) w.add_string(NodeField::kInput, input);
    for (const std::string& output : outputs) w.add_string(NodeField::kOutput, output);
    if (!name.empty()) w.add_string(NodeField::kName, name.data(), name.size());
    w.add_string(NodeField::kOpType, op.data(), op.size());
    for (const Message& attribute : attributes) w.add_message(NodeField::kAttribute, attribute);
    if (!domain.empty()) w.add_string(NodeField::kDomain, domain.data(), domain.size());
    if (!overload.empty()) w.add_string(NodeField::kOverload, overload.data(), overload.size());
  });
}

struct GraphParts {
  std::vector<Message> nodes, inputs, outputs, initializers = {}, value_info = {},
                                               sparse_initializers = {};
  std::string name = "g";
};
inline Message GraphMessage(const GraphParts& parts) {
  return Write([&](auto& w) {
    for (const Message& node : parts.nodes) w.add_message(GraphField::kNode, node);
    w.add_string(GraphField::kName, parts.name);
    for (const Message& tensor : parts.initializers)
      w.add_message(GraphField::kInitializer, tensor);
    for (const Message& value : parts.inputs) w.add_message(GraphField::kInput, value);
    for (const Message& value : parts.outputs) w.add_message(GraphField::kOutput, value);
    for (const Message& value : parts.value_info) w.add_message(GraphField::kValueInfo, value);
    for (const Message& tensor : parts.sparse_initializers)
      w.add_message(GraphField::kSparseInitializer, tensor);
  });
}

inline Message Opset(std::string_view domain, int64_t version) {
  return Write([&](auto& w) {
    w.add_string(OpsetField::kDomain, domain.data(), domain.size());
    w.add_int64(OpsetField::kVersion, version);
  });
}

struct FunctionParts {
  std::string domain, name;
  Names inputs, outputs;
  std::vector<Message> nodes;
  Names attributes = {};
  std::vector<Message> defaults = {};
  std::string overload = "";
  int64_t opset = 18;
};
inline Message Function(const FunctionParts& parts) {
  return Write([&](auto& w) {
    w.add_string(FunctionField::kName, parts.name);
    for (const std::string& input : parts.inputs) w.add_string(FunctionField::kInput, input);
    for (const std::string& output : parts.outputs) w.add_string(FunctionField::kOutput, output);
    for (const std::string& attribute : parts.attributes)
      w.add_string(FunctionField::kAttribute, attribute);
    for (const Message& node : parts.nodes) w.add_message(FunctionField::kNode, node);
    w.add_message(FunctionField::kOpsetImport, Opset("", parts.opset));
    w.add_string(FunctionField::kDomain, parts.domain);
    for (const Message& attribute : parts.defaults)
      w.add_message(FunctionField::kAttributeProto, attribute);
    if (!parts.overload.empty()) w.add_string(FunctionField::kOverload, parts.overload);
  });
}

struct ModelParts {
  int64_t opset = 18;
  int64_t ir_version = 8;
  std::vector<Message> functions = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::vector<std::pair<std::string, int64_t>> domains = {};
};
inline Message ModelMessage(const Message& graph, const ModelParts& parts = {}) {
  return Write([&](auto& w) {
    w.add_int64(ModelField::kIrVersion, parts.ir_version);
    w.add_string(ModelField::kProducerName, "onnx_bytes");
    w.add_message(ModelField::kGraph, graph);
    if (parts.opset > 0) w.add_message(ModelField::kOpsetImport, Opset("", parts.opset));
    for (const auto& [domain, version] : parts.domains)
      w.add_message(ModelField::kOpsetImport, Opset(domain, version));
    for (const auto& [key, value] : parts.metadata) {
      w.add_message(ModelField::kMetadataProps, Write([&](auto& e) {
                      e.add_string(EntryField::kKey, key);
                      e.add_string(EntryField::kValue, value);
                    }));
    }
    for (const Message& function : parts.functions) w.add_message(ModelField::kFunctions, function);
  });
}

// The bytes at an address that is `shift` past a multiple of 64.
inline std::shared_ptr<Buffer> AsBuffer(std::string_view bytes, size_t shift = 0) {
  auto whole =
      Buffer::Allocate(HostAllocator(), MemoryUse::kConstant, bytes.size() + shift).value();
  std::byte* const at = whole->data() + shift;
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return Buffer::Wrap(
      at, bytes.size(), [whole] {}, /*read_only=*/true);
}

inline Result<std::unique_ptr<Graph>> Import(const Message& model,
                                             const std::string& base_directory = "") {
  return ImportOnnxBytes(AsBuffer(model), {base_directory});
}
inline Result<std::unique_ptr<Graph>> Import(const GraphParts& graph,
                                             const ModelParts& model = {}) {
  return Import(ModelMessage(GraphMessage(graph), model));
}

}  // namespace asc::onnx

#endif  // ASC_TESTS_CORE_ONNX_ONNX_BYTES_H_
