#include "core/onnx/import.h"

#include <algorithm>
#include <filesystem>

#include "core/base/mapped_file.h"
#include "core/onnx/graph_builder.h"
#include "core/onnx/model_reader.h"

namespace asc {
namespace {
// As the graph with those inputs has them. Only for a model whose graph was built.
std::vector<OverridableInput> OverridableInputs(const onnx::ImportedModel& model) {
  const std::set<std::string> names = onnx::OverridableNames(model);
  std::vector<OverridableInput> inputs;
  for (const onnx::ImportedValue& input : model.graph.inputs) {
    if (!names.contains(input.name)) continue;
    const auto& all = model.graph.initializers;
    const auto it = std::find_if(all.begin(), all.end(), [&](const auto& initializer) {
      return initializer.first == input.name;
    });
    ValueType type = input.type.value_or(ValueType());
    type.dtype = it->second.dtype();
    inputs.push_back({input.name, std::move(type), it->second});
  }
  return inputs;
}

Result<OnnxModel> Load(const onnx::DataFile& file, const std::string& folder) {
  ASC_ASSIGN_OR_RETURN(onnx::ImportedModel read, onnx::ModelReader(file, folder).Read());
  OnnxModel model;
  model.build_again = [file, folder]() -> Result<std::unique_ptr<Graph>> {
    ASC_ASSIGN_OR_RETURN(const onnx::ImportedModel again, onnx::ModelReader(file, folder).Read());
    return onnx::BuildGraph(again);
  };
  ASC_ASSIGN_OR_RETURN(model.graph, onnx::BuildGraph(read));
  model.overridable = OverridableInputs(read);
  if (!model.overridable.empty()) {
    model.build_with_inputs = [kept =
                                   std::make_shared<const onnx::ImportedModel>(std::move(read))] {
      return onnx::BuildGraph(*kept, onnx::Overridable::kInputs);
    };
  }
  return model;
}
}  // namespace

Result<OnnxModel> LoadOnnxFile(const std::string& path) {
  onnx::DataFile file;
  ASC_ASSIGN_OR_RETURN(file.file, MappedFile::Open(path));
  file.bytes = MappedFile::Slice(file.file, 0, file.file->size());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Result<OnnxModel> model = Load(file, folder.empty() ? "." : folder.string());
  if (!model.ok()) return std::move(model).status().WithContext(Cat("cannot load '", path, "'"));
  return model;
}

Result<OnnxModel> LoadOnnxBytes(std::shared_ptr<Buffer> bytes, const ImportOptions& options) {
  return Load({nullptr, std::move(bytes)}, options.base_directory);
}

Result<std::unique_ptr<Graph>> ImportOnnxFile(const std::string& path) {
  ASC_ASSIGN_OR_RETURN(OnnxModel model, LoadOnnxFile(path));
  return std::move(model.graph);
}

Result<std::unique_ptr<Graph>> ImportOnnxBytes(std::shared_ptr<Buffer> bytes,
                                               const ImportOptions& options) {
  ASC_ASSIGN_OR_RETURN(OnnxModel model, LoadOnnxBytes(std::move(bytes), options));
  return std::move(model.graph);
}

}  // namespace asc
