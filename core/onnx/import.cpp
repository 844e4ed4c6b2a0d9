#include "core/onnx/import.h"

#include <filesystem>

#include "core/base/mapped_file.h"
#include "core/onnx/graph_builder.h"
#include "core/onnx/model_reader.h"

namespace asc {
namespace {
Result<std::unique_ptr<Graph>> Import(onnx::DataFile model, std::string folder) {
  ASC_ASSIGN_OR_RETURN(const onnx::ImportedModel imported,
                       onnx::ModelReader(std::move(model), std::move(folder)).Read());
  return onnx::BuildGraph(imported);
}
}  // namespace

Result<std::unique_ptr<Graph>> ImportOnnxFile(const std::string& path) {
  onnx::DataFile model;
  ASC_ASSIGN_OR_RETURN(model.file, MappedFile::Open(path));
  model.bytes = MappedFile::Slice(model.file, 0, model.file->size());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Result<std::unique_ptr<Graph>> graph =
      Import(std::move(model), folder.empty() ? "." : folder.string());
  if (!graph.ok()) return std::move(graph).status().WithContext(Cat("cannot load '", path, "'"));
  return graph;
}

Result<std::unique_ptr<Graph>> ImportOnnxBytes(std::shared_ptr<Buffer> bytes,
                                               const ImportOptions& options) {
  return Import({nullptr, std::move(bytes)}, options.base_directory);
}

}  // namespace asc
