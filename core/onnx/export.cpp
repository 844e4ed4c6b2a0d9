#include "core/onnx/export.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>

#include "core/base/version.h"
#include "core/onnx/export_graph.h"
#include "core/onnx/graph_writer.h"
#include "core/onnx/onnx_fields.h"
#include "core/onnx/operator_forms.h"

namespace asc {
namespace {
using onnx::ModelField;
using protozero::pbf_writer;

// What a graph and its regions need of a file.
struct Needs {
  std::map<std::string, int64_t> opsets = {{"", onnx::kOldestExportOpset}};
  std::string newest, node;  // the operator that needs the opset of ai.onnx, and where it is
  int64_t ir_version = 0;
  uint64_t constant_bytes = 0;

  void Type(const ValueType& type) {
    ir_version = std::max(ir_version, onnx::IrVersionOf(type.dtype));
    if (type.element != nullptr) Type(*type.element);
  }
};

void Collect(const Graph& graph, Needs& needs) {
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    needs.Type(value.type);
    if (value.constant.defined()) needs.constant_bytes += value.constant.bytes();
  }
  for (const NodeId id : graph.Nodes()) {
    const Node& node = graph.node(id);
    int64_t& opset = needs.opsets[node.schema->domain];
    const int64_t oldest = onnx::OldestOpset(graph, node);
    if (oldest > opset && node.schema->domain.empty()) {
      needs.newest = node.schema->name;
      needs.node = node.OriginText();
    }
    opset = std::max(opset, oldest);
    for (const Region& region : node.regions) Collect(*region.graph, needs);
  }
}

Status ChooseOpset(const ExportOptions& options, Needs& needs) {
  int64_t& opset = needs.opsets[""];
  if (options.opset == 0) return Ok();
  if (options.opset < onnx::kOldestExportOpset || options.opset > onnx::kNewestOpset) {
    return InvalidArgument("opset ", options.opset, " is not one of ", onnx::kOldestExportOpset,
                           " to ", onnx::kNewestOpset);
  }
  if (options.opset < opset) {
    return InvalidArgument("opset ", options.opset, " is too old for ", needs.newest,
                           ", which as it is used here came with opset ", opset)
        .WithNode(needs.node)
        .WithHint("leave the opset out: the oldest that will do is taken");
  }
  opset = options.opset;
  return Ok();
}

void WriteEntry(const std::string& key, const std::string& value, pbf_writer out) {
  out.add_string(onnx::EntryField::kKey, key);
  out.add_string(onnx::EntryField::kValue, value);
}

// What an imported model said of itself.
void WriteMetadata(const std::map<std::string, std::string>& metadata, pbf_writer& out) {
  constexpr std::string_view kOfFile = "onnx.";
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(kOfFile)) {
      WriteEntry(key, value, {out, ModelField::kMetadataProps});
      continue;
    }
    const std::string_view what = std::string_view(key).substr(kOfFile.size());
    if (what == "domain") out.add_string(ModelField::kDomain, value);
    if (what == "doc_string") out.add_string(ModelField::kDocString, value);
    int64_t version = 0;
    if (what == "model_version" &&
        std::from_chars(value.data(), value.data() + value.size(), version).ec == std::errc()) {
      out.add_int64(ModelField::kModelVersion, version);
    }
  }
}

Result<std::string> Write(const onnx::ExportGraph& ready, const Needs& needs,
                          const ExportOptions& options, onnx::ExternalWriter* external) {
  onnx::GraphWriterOptions writing{options.value_info, external, {}, ready.shared};
  for (const std::string& name : options.inputs_with_default) {
    const ValueId id = ready.graph->FindValue(name);
    if (!id.valid() || !ready.graph->value(id).is_constant())
      return Error(Code::kNotFound, "the graph has no constant '", name,
                   "' that could be an input");
    writing.defaults.insert(id);
  }
  std::string bytes;
  if (external == nullptr) bytes.reserve(needs.constant_bytes + needs.constant_bytes / 64);
  pbf_writer model(bytes);
  model.add_int64(ModelField::kIrVersion,
                  std::max(needs.ir_version, onnx::IrVersionOf(needs.opsets.at(""))));
  model.add_string(ModelField::kProducerName, "pyasc");
  model.add_string(ModelField::kProducerVersion, std::string(Version()));
  ASC_RETURN_IF_ERROR(onnx::WriteGraph(*ready.graph, writing, {model, ModelField::kGraph}));
  for (const auto& [domain, version] : needs.opsets) {
    pbf_writer opset(model, ModelField::kOpsetImport);
    if (!domain.empty()) opset.add_string(onnx::OpsetField::kDomain, domain);
    opset.add_int64(onnx::OpsetField::kVersion, version);
  }
  WriteMetadata(ready.graph->metadata(), model);
  return bytes;
}

Status TooLarge(uint64_t bytes) {
  return InvalidArgument("the weights take ", bytes, " bytes, more than fit into one ONNX message")
      .WithHint("export to a path, where they go into a file beside the model");
}

struct Prepared {
  onnx::ExportGraph ready;
  Needs needs;
};

Result<Prepared> Prepare(const Graph& graph, const ExportOptions& options) {
  Prepared prepared;
  ASC_ASSIGN_OR_RETURN(prepared.ready, onnx::PrepareForExport(graph));
  Collect(*prepared.ready.graph, prepared.needs);
  ASC_RETURN_IF_ERROR(ChooseOpset(options, prepared.needs));
  return prepared;
}
}  // namespace

Result<std::string> ExportOnnxBytes(const Graph& graph, const ExportOptions& options) {
  ASC_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(graph, options));
  const uint64_t bytes = prepared.needs.constant_bytes;
  if (bytes > static_cast<uint64_t>(ExportOptions::kMostInside)) return TooLarge(bytes);
  return Write(prepared.ready, prepared.needs, options, nullptr);
}

Status ExportOnnxFile(const Graph& graph, const std::string& path, const ExportOptions& options) {
  ASC_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(graph, options));
  const uint64_t bytes = prepared.needs.constant_bytes;
  const auto over = static_cast<uint64_t>(std::max<int64_t>(0, options.external_data_over));
  std::optional<onnx::ExternalWriter> external;
  if (bytes > over) {
    const std::string data = path + ".data";
    external.emplace(data, std::filesystem::path(data).filename().string());
  } else if (bytes > static_cast<uint64_t>(ExportOptions::kMostInside)) {
    return TooLarge(bytes);
  }
  ASC_ASSIGN_OR_RETURN(const std::string model, Write(prepared.ready, prepared.needs, options,
                                                      external ? &*external : nullptr));
  FileWriter file(path);
  file.Write(model.data(), model.size());
  ASC_RETURN_IF_ERROR(file.Close());
  if (external) ASC_RETURN_IF_ERROR(external->file().Finish());
  return file.PutInPlace();
}

}  // namespace asc
