#include "core/onnx/model_reader.h"

#include <algorithm>

#include "core/onnx/attribute_proto.h"
#include "core/onnx/onnx_fields.h"
#include "core/onnx/wire_reader.h"

namespace asc::onnx {
namespace {
// Each is compared with all others by name.
constexpr size_t kMostAttributes = 1000;

std::string CanonicalDomain(std::string domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

Status ReadEntry(std::string_view message, std::map<std::string, std::string>& entries) {
  std::string key, value;
  WireReader reader(message, "StringStringEntryProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case EntryField::kKey:
        key = reader.String();
        break;
      case EntryField::kValue:
        value = reader.String();
        break;
    }
  }
  if (reader.status().ok()) entries[std::move(key)] = std::move(value);
  return reader.status();
}

}  // namespace

Result<ImportedModel> ModelReader::Read() {
  ImportedModel model;
  const std::string_view message(reinterpret_cast<const char*>(model_.bytes->data()),
                                 model_.bytes->size());
  ASC_RETURN_IF_ERROR(ReadModel(message, model));
  return model;
}

Status ModelReader::ReadModel(std::string_view message, ImportedModel& model) {
  int64_t& ir_version = model.ir_version;
  int64_t model_version = 0;
  // Opset imports come after the graph in most files, and nodes need them.
  std::vector<std::string_view> graphs, functions;
  const auto note = [&](std::string_view key, std::string value) {
    if (!value.empty()) model.metadata[Cat("onnx.", key)] = std::move(value);
  };
  WireReader reader(message, "ModelProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case ModelField::kIrVersion:
        ir_version = reader.Int();
        break;
      case ModelField::kProducerName:
        note("producer_name", reader.String());
        break;
      case ModelField::kProducerVersion:
        note("producer_version", reader.String());
        break;
      case ModelField::kDomain:
        note("domain", reader.String());
        break;
      case ModelField::kModelVersion:
        model_version = reader.Int();
        break;
      case ModelField::kDocString:
        note("doc_string", reader.String());
        break;
      case ModelField::kGraph:
        graphs.push_back(reader.Bytes());
        break;
      case ModelField::kOpsetImport:
        ASC_RETURN_IF_ERROR(ReadOpset(reader.Bytes(), model.opsets));
        break;
      case ModelField::kMetadataProps:
        ASC_RETURN_IF_ERROR(ReadEntry(reader.Bytes(), model.metadata));
        break;
      case ModelField::kFunctions:
        functions.push_back(reader.Bytes());
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  if (graphs.size() != 1) {
    return Error(Code::kInvalidModel,
                 graphs.empty() ? "the model has no graph" : "the model has more than one graph")
        .WithHint("is this an ONNX model?");
  }
  if (ir_version > kNewestIrVersion) {
    return Error(Code::kInvalidModel, "IR version ", ir_version, " is newer than ",
                 kNewestIrVersion, ", the newest known")
        .WithHint("save the model with an older version of its exporter's onnx package");
  }
  note("ir_version", Cat(ir_version));
  note("model_version", Cat(model_version));
  // Versioned operator sets came with IR version 3.
  if (model.opsets.empty() && ir_version < 3) model.opsets[""] = 1;
  for (const auto& [domain, version] : model.opsets) {
    note(Cat("opset.", domain.empty() ? std::string_view("ai.onnx") : std::string_view(domain)),
         Cat(version));
  }
  opsets_ = &model.opsets;
  ASC_RETURN_IF_ERROR(ReadGraph(graphs[0], model.graph, 0));
  for (const std::string_view function : functions) {
    opsets_ = &model.opsets;
    ASC_RETURN_IF_ERROR(ReadFunction(function, model.functions.emplace_back()));
  }
  return Ok();
}

Status ModelReader::ReadOpset(std::string_view message, OpsetImports& opsets) {
  std::string domain;
  int64_t version = 0;
  WireReader reader(message, "OperatorSetIdProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case OpsetField::kDomain:
        domain = CanonicalDomain(reader.String());
        break;
      case OpsetField::kVersion:
        version = reader.Int();
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  if (domain.empty() && (version < 1 || version > kNewestOpset)) {
    return Error(Code::kInvalidModel, "opset ", version, " of ai.onnx is not known: expected 1 to ",
                 kNewestOpset)
        .WithHint(version < 1 ? "the model's opset_import is damaged"
                              : "export the model with an older opset");
  }
  const auto [entry, added] = opsets.try_emplace(std::move(domain), version);
  if (!added && entry->second != version) {
    return Error(Code::kInvalidModel, "opset_import gives two versions of '",
                 entry->first.empty() ? "ai.onnx" : entry->first, "': ", entry->second, " and ",
                 version)
        .WithHint("leave the version that the nodes were written for");
  }
  return Ok();
}

Status ModelReader::ReadGraph(std::string_view message, ImportedGraph& graph, int depth) {
  if (depth > kDeepestGraph)
    return Error(Code::kInvalidModel, "graphs are nested deeper than ", kDeepestGraph);
  std::vector<std::string_view> nodes;
  WireReader reader(message, "GraphProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case GraphField::kNode:
        nodes.push_back(reader.Bytes());
        break;
      case GraphField::kName:
        graph.name = reader.String();
        break;
      case GraphField::kInitializer:
      case GraphField::kSparseInitializer: {
        ASC_ASSIGN_OR_RETURN(NamedTensor named, reader.field() == GraphField::kInitializer
                                                    ? tensors_.Read(reader.Bytes())
                                                    : tensors_.ReadSparse(reader.Bytes()));
        if (named.name.empty())
          return Error(Code::kInvalidModel, "an initializer of graph '", graph.name,
                       "' has no name");
        graph.initializers.emplace_back(std::move(named.name), std::move(named.tensor));
        break;
      }
      case GraphField::kInput: {
        ASC_ASSIGN_OR_RETURN(ImportedValue value, ReadValueInfo(reader.Bytes()));
        graph.inputs.push_back(std::move(value));
        break;
      }
      case GraphField::kOutput: {
        ASC_ASSIGN_OR_RETURN(ImportedValue value, ReadValueInfo(reader.Bytes()));
        graph.outputs.push_back(std::move(value));
        break;
      }
      case GraphField::kValueInfo: {
        ASC_ASSIGN_OR_RETURN(ImportedValue value, ReadValueInfo(reader.Bytes()));
        if (value.type)
          graph.value_info.insert_or_assign(std::move(value.name), *std::move(value.type));
        break;
      }
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  return ReadNodes(nodes, graph.nodes, depth);
}

Result<ImportedValue> ModelReader::ReadValueInfo(std::string_view message) {
  ImportedValue value;
  std::string_view type;
  WireReader reader(message, "ValueInfoProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case ValueInfoField::kName:
        value.name = reader.String();
        break;
      case ValueInfoField::kType:
        type = reader.Bytes();
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  auto read = types_.Read(type);
  if (!read.ok()) return std::move(read).status().WithContext(Cat("value '", value.name, "'"));
  value.type = std::move(read).value();
  return value;
}

Status ModelReader::ReadNodes(const std::vector<std::string_view>& messages,
                              std::vector<ImportedNode>& nodes, int depth) {
  nodes.reserve(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    ImportedNode& node = nodes.emplace_back();
    if (Status status = ReadNode(messages[i], node, depth); !status.ok()) {
      return std::move(status).WithNode(node.name.empty() ? Cat(node.op_type, "#", i) : node.name);
    }
    node.origins = {{node.name.empty() ? Cat(node.op_type, "#", i) : node.name, ""}};
  }
  return Ok();
}

Status ModelReader::ReadNode(std::string_view message, ImportedNode& node, int depth) {
  std::vector<std::string_view> attributes;
  WireReader reader(message, "NodeProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case NodeField::kInput:
        node.inputs.push_back(reader.String());
        break;
      case NodeField::kOutput:
        node.outputs.push_back(reader.String());
        break;
      case NodeField::kName:
        node.name = reader.String();
        break;
      case NodeField::kOpType:
        node.op_type = reader.String();
        break;
      case NodeField::kDomain:
        node.domain = CanonicalDomain(reader.String());
        break;
      case NodeField::kOverload:
        node.overload = reader.String();
        break;
      case NodeField::kAttribute:
        attributes.push_back(reader.Bytes());
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  const auto version = opsets_->find(node.domain);
  if (version != opsets_->end()) {
    node.opset = version->second;
  } else if (node.domain.empty()) {
    return Error(Code::kInvalidModel, "operator ", node.op_type,
                 " has no version: the model imports no opset of ai.onnx");
  }
  if (attributes.size() > kMostAttributes) {
    return Error(Code::kInvalidModel, "operator ", node.op_type, " has ", attributes.size(),
                 " attributes, expected at most ", kMostAttributes);
  }
  for (const std::string_view attribute : attributes)
    ASC_RETURN_IF_ERROR(ReadAttribute(attribute, node, depth));
  return Ok();
}

Status ModelReader::ReadAttribute(std::string_view message, ImportedNode& node, int depth) {
  AttributeProto proto;
  ASC_RETURN_IF_ERROR(proto.Parse(message));
  const auto has_name = [&](const auto& entry) { return entry.first == proto.name; };
  if (node.attributes.Has(proto.name) || std::ranges::any_of(node.regions, has_name) ||
      std::ranges::any_of(node.attribute_references, has_name)) {
    return Error(Code::kInvalidModel, "attribute '", proto.name, "' is given twice");
  }
  if (!proto.reference.empty()) {
    node.attribute_references.emplace_back(std::move(proto.name), std::move(proto.reference));
    return Ok();
  }
  const auto located = [&](Status status) {
    return std::move(status).WithContext(Cat("attribute '", proto.name, "'"));
  };
  switch (proto.kind) {
    case AttributeKind::kFloat:
      node.attributes.Set(proto.name, proto.number);
      return Ok();
    case AttributeKind::kInt:
      node.attributes.Set(proto.name, proto.integer);
      return Ok();
    case AttributeKind::kString:
      node.attributes.Set(proto.name, std::string(proto.text));
      return Ok();
    case AttributeKind::kFloats:
      node.attributes.Set(proto.name, std::move(proto.floats));
      return Ok();
    case AttributeKind::kInts:
      node.attributes.Set(proto.name, std::move(proto.ints));
      return Ok();
    case AttributeKind::kStrings:
      node.attributes.Set(proto.name, std::move(proto.strings));
      return Ok();
    case AttributeKind::kTensor:
    case AttributeKind::kSparseTensor: {
      Result<NamedTensor> tensor = proto.kind == AttributeKind::kTensor
                                       ? tensors_.Read(proto.tensor)
                                       : tensors_.ReadSparse(proto.sparse_tensor);
      if (!tensor.ok()) return located(std::move(tensor).status());
      node.attributes.Set(proto.name, std::move(tensor->tensor));
      return Ok();
    }
    case AttributeKind::kTypeProto: {
      Result<std::optional<ValueType>> type = types_.Read(proto.type);
      if (!type.ok()) return located(std::move(type).status());
      node.attributes.Set(proto.name, type->value_or(ValueType()));
      return Ok();
    }
    case AttributeKind::kGraph: {
      auto graph = std::make_shared<ImportedGraph>();
      if (Status status = ReadGraph(proto.graph, *graph, depth + 1); !status.ok())
        return located(std::move(status));
      node.regions.emplace_back(proto.name, std::move(graph));
      return Ok();
    }
    case AttributeKind::kUndefined:
      return located(Error(Code::kInvalidModel, "it holds nothing"));
    case AttributeKind::kTensors:
    case AttributeKind::kGraphs:
    case AttributeKind::kSparseTensors:
    case AttributeKind::kTypeProtos:
      return located(
          Error(Code::kInvalidModel, "lists of tensors, graphs and types are not supported"));
  }
  return located(
      Error(Code::kInvalidModel, "kind ", static_cast<int64_t>(proto.kind), " is not one of ONNX"));
}

Status ModelReader::ReadFunction(std::string_view message, ImportedFunction& function) {
  OpsetImports opsets;
  std::vector<std::string_view> nodes, defaults;
  WireReader reader(message, "FunctionProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case FunctionField::kName:
        function.name = reader.String();
        break;
      case FunctionField::kInput:
        function.inputs.push_back(reader.String());
        break;
      case FunctionField::kOutput:
        function.outputs.push_back(reader.String());
        break;
      case FunctionField::kAttribute:
        function.parameters.push_back(reader.String());
        break;
      case FunctionField::kNode:
        nodes.push_back(reader.Bytes());
        break;
      case FunctionField::kOpsetImport:
        ASC_RETURN_IF_ERROR(ReadOpset(reader.Bytes(), opsets));
        break;
      case FunctionField::kDomain:
        function.domain = CanonicalDomain(reader.String());
        break;
      case FunctionField::kAttributeProto:
        defaults.push_back(reader.Bytes());
        break;
      case FunctionField::kOverload:
        function.overload = reader.String();
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  const auto located = [&](Status status) {
    return std::move(status).WithContext(Cat("function '", function.name, "'"));
  };
  // What the function does not import itself it takes from the model.
  opsets.insert(opsets_->begin(), opsets_->end());
  opsets_ = &opsets;
  if (defaults.size() > kMostAttributes) {
    return located(Error(Code::kInvalidModel, "it has ", defaults.size(),
                         " attributes with a default, expected at most ", kMostAttributes));
  }
  for (const std::string_view attribute : defaults) {
    if (Status status = ReadAttribute(attribute, function.defaults, 0); !status.ok())
      return located(std::move(status));
  }
  Status status = ReadNodes(nodes, function.nodes, 0);
  return status.ok() ? Ok() : located(std::move(status));
}

}  // namespace asc::onnx
