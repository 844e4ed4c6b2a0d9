#include "core/onnx/graph_writer.h"

#include <algorithm>

#include "core/onnx/onnx_fields.h"
#include "core/onnx/type_writer.h"

namespace asc::onnx {
namespace {
using protozero::pbf_writer;

class Writer {
 public:
  explicit Writer(const GraphWriterOptions& options) : options_(options) {}

  Status Write(const ExportScope& scope, bool is_region, pbf_writer& out);

 private:
  Status WriteNode(const ExportScope& scope, const Node& node, pbf_writer out);
  void WriteAttribute(const std::string& name, const AttributeValue& value, pbf_writer out);
  Status WriteRegion(const ExportScope& scope, const Region& region, pbf_writer out);
  void WriteInitializers(const ExportScope& scope, bool is_region, pbf_writer& out);

  const GraphWriterOptions& options_;
};

void SetKind(AttributeKind kind, pbf_writer& out) {
  out.add_int64(AttributeField::kKind, static_cast<int64_t>(kind));
}

// Branches that are never taken may have extents that other engines work out otherwise.
ValueType WithoutExtents(ValueType type) {
  if (type.shape.has_rank()) type.shape = Shape::UnknownDims(type.shape.rank());
  return type;
}

void Writer::WriteAttribute(const std::string& name, const AttributeValue& value, pbf_writer out) {
  out.add_string(AttributeField::kName, name);
  if (const auto* i = std::get_if<int64_t>(&value)) {
    out.add_int64(AttributeField::kInt, *i);
    SetKind(AttributeKind::kInt, out);
  } else if (const auto* f = std::get_if<float>(&value)) {
    out.add_float(AttributeField::kFloat, *f);
    SetKind(AttributeKind::kFloat, out);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    out.add_bytes(AttributeField::kString, *s);
    SetKind(AttributeKind::kString, out);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    for (const int64_t each : *ints) out.add_int64(AttributeField::kInts, each);
    SetKind(AttributeKind::kInts, out);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
    for (const float each : *floats) out.add_float(AttributeField::kFloats, each);
    SetKind(AttributeKind::kFloats, out);
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& each : *strings) out.add_bytes(AttributeField::kStrings, each);
    SetKind(AttributeKind::kStrings, out);
  } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
    WriteTensor("", *tensor, nullptr, {out, AttributeField::kTensor});
    SetKind(AttributeKind::kTensor, out);
  } else if (const auto* type = std::get_if<ValueType>(&value)) {
    {
      pbf_writer message(out, AttributeField::kTypeProto);
      WriteType(*type, message);
    }
    SetKind(AttributeKind::kTypeProto, out);
  }
}

Status Writer::WriteRegion(const ExportScope& scope, const Region& region, pbf_writer out) {
  out.add_string(AttributeField::kName, region.name);
  {
    pbf_writer body(out, AttributeField::kGraph);
    ASC_RETURN_IF_ERROR(Write(ExportScope(*region.graph, &scope, region.captures), true, body));
  }
  SetKind(AttributeKind::kGraph, out);
  return Ok();
}

Status Writer::WriteNode(const ExportScope& scope, const Node& node, pbf_writer out) {
  for (const ValueId id : node.inputs) out.add_string(NodeField::kInput, scope.Of(id));
  for (const ValueId id : node.outputs) out.add_string(NodeField::kOutput, scope.Of(id));
  out.add_string(NodeField::kName, node.name);
  out.add_string(NodeField::kOpType, node.schema->name);
  for (const auto& [name, value] : node.attributes) {
    const AttributeSpec* const spec = node.schema->FindAttribute(name);
    const bool is_default =
        spec != nullptr && spec->default_value && AttributeEquals(value, *spec->default_value);
    if (!is_default) WriteAttribute(name, value, {out, NodeField::kAttribute});
  }
  for (const Region& region : node.regions) {
    ASC_RETURN_IF_ERROR(WriteRegion(scope, region, {out, NodeField::kAttribute}));
  }
  for (const Origin& origin : node.origins) {
    if (origin.source.empty()) continue;
    out.add_string(NodeField::kDocString, origin.source);
    break;
  }
  if (!node.schema->domain.empty()) out.add_string(NodeField::kDomain, node.schema->domain);
  return Ok();
}

void Writer::WriteInitializers(const ExportScope& scope, bool is_region, pbf_writer& out) {
  const Graph& graph = scope.graph();
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    if (!value.constant.defined() || scope.IsOuter(id)) continue;
    const bool is_wanted =
        !value.uses.empty() || value.source == ValueSource::kVariable ||
        (!is_region && (options_.defaults.contains(id) || options_.shared.contains(id)));
    if (!is_wanted) continue;
    WriteTensor(scope.Of(id), value.constant, options_.external, {out, GraphField::kInitializer});
  }
}

Status Writer::Write(const ExportScope& scope, bool is_region, pbf_writer& out) {
  const Graph& graph = scope.graph();
  ASC_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order)
    ASC_RETURN_IF_ERROR(WriteNode(scope, graph.node(id), {out, GraphField::kNode}));
  out.add_string(GraphField::kName, graph.name().empty() ? "graph" : graph.name());
  WriteInitializers(scope, is_region, out);
  std::set<ValueId> said;
  const auto say = [&](ValueId id, uint32_t field) {
    said.insert(id);
    WriteValueInfo(scope.Of(id), graph.value(id).type, {out, field});
  };
  for (const ValueId id : scope.inputs()) say(id, GraphField::kInput);
  for (const Variable& variable : graph.variables()) say(variable.initial, GraphField::kInput);
  if (!is_region) {
    for (const ValueId id : options_.defaults) say(id, GraphField::kInput);
  }
  for (const GraphOutput& output : graph.outputs()) {
    if (!is_region && !IsWritable(graph.value(output.value).type)) {
      return InvalidArgument("the type of output '", output.name,
                             "' is not known: ", graph.value(output.value).type);
    }
    said.insert(output.value);
    const ValueType& type = graph.value(output.value).type;
    WriteValueInfo(scope.Of(output.value), is_region ? WithoutExtents(type) : type,
                   {out, GraphField::kOutput});
  }
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    if (options_.value_info && value.source == ValueSource::kNode && IsWritable(value.type) &&
        !said.contains(id)) {
      say(id, GraphField::kValueInfo);
    }
  }
  return Ok();
}
}  // namespace

Status WriteGraph(const Graph& graph, const GraphWriterOptions& options, pbf_writer out) {
  return Writer(options).Write(ExportScope(graph, nullptr, {}), false, out);
}

}  // namespace asc::onnx
