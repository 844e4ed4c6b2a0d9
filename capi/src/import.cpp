#include "capi/src/import.h"

#include "capi/src/value.h"
#ifdef ASC_WITH_ONNX
#include "core/onnx/import.h"
#endif

namespace asc::capi {

Status CheckPath(asc_string path) {
  ASC_NEED_TEXT(path);
  const std::string_view text = View(path);
  if (text.empty()) return InvalidArgument("the path is empty");
  if (text.find('\0') != std::string_view::npos)
    return InvalidArgument("the path has a zero byte in it");
  return Ok();
}

Result<std::shared_ptr<Buffer>> ModelBytes(const asc_value* model) {
  ASC_ASSIGN_OR_RETURN(const Tensor bytes, TensorOf(model, "model"));
  if (bytes.dtype() != DataType::kUInt8) {
    return TypeError("argument 'model' must be a uint8 tensor, given ", bytes.TypeString());
  }
  // The buffer of a view may hold more than the model.
  return Buffer::Wrap(
      const_cast<void*>(bytes.raw()), bytes.bytes(), [bytes] {}, true);
}

std::vector<std::string> NamesOf(const OverridableInputs& inputs) {
  std::vector<std::string> names;
  for (const Port& port : inputs.ports) names.push_back(port.name);
  return names;
}

#ifdef ASC_WITH_ONNX
namespace {
ImportedModel Convert(OnnxModel model) {
  ImportedModel imported{std::move(model.graph), {}, std::move(model.build_again)};
  for (OverridableInput& input : model.overridable) {
    imported.overridable.ports.push_back({std::move(input.name), std::move(input.type)});
    imported.overridable.defaults.push_back(std::move(input.value));
  }
  imported.overridable.build = std::move(model.build_with_inputs);
  return imported;
}
}  // namespace

Result<ImportedModel> ImportFile(asc_string path) {
  ASC_RETURN_IF_ERROR(CheckPath(path));
  ASC_ASSIGN_OR_RETURN(OnnxModel model, LoadOnnxFile(std::string(View(path))));
  return Convert(std::move(model));
}

Result<ImportedModel> ImportBytes(std::shared_ptr<Buffer> bytes) {
  ASC_ASSIGN_OR_RETURN(OnnxModel model, LoadOnnxBytes(std::move(bytes)));
  return Convert(std::move(model));
}
#else
namespace {
Status NoImporter() {
  return Error(Code::kUnavailable, "this build has no ONNX importer")
      .WithHint("build with -Donnx=enabled");
}
}  // namespace
Result<ImportedModel> ImportFile(asc_string path) {
  ASC_RETURN_IF_ERROR(CheckPath(path));
  return NoImporter();
}
Result<ImportedModel> ImportBytes(std::shared_ptr<Buffer>) { return NoImporter(); }
#endif

}  // namespace asc::capi
