#include "capi/src/import.h"

#include "capi/src/value.h"
#ifdef ASC_WITH_ONNX
#include "core/onnx/import.h"
#endif

namespace asc::capi {
namespace {
Status CheckPath(asc_string path) {
  ASC_NEED_TEXT(path);
  const std::string_view text = View(path);
  if (text.empty()) return InvalidArgument("the path of the model is empty");
  if (text.find('\0') != std::string_view::npos)
    return InvalidArgument("the path of the model has a zero byte in it");
  if (text.ends_with(".om"))
    return Error(Code::kUnavailable, "loading .om files is not built yet: '", text, "'");
  return Ok();
}
}  // namespace

#ifdef ASC_WITH_ONNX
Result<std::unique_ptr<Graph>> ImportFile(asc_string path) {
  ASC_RETURN_IF_ERROR(CheckPath(path));
  return ImportOnnxFile(std::string(View(path)));
}

Result<std::unique_ptr<Graph>> ImportBytes(const asc_value* model) {
  ASC_ASSIGN_OR_RETURN(const Tensor bytes, TensorOf(model, "model"));
  if (bytes.dtype() != DataType::kUInt8) {
    return TypeError("argument 'model' must be a uint8 tensor, given ", bytes.TypeString());
  }
  // The buffer of a view may hold more than the model.
  return ImportOnnxBytes(Buffer::Wrap(
      const_cast<void*>(bytes.raw()), bytes.bytes(), [bytes] {}, true));
}
#else
namespace {
Status NoImporter() {
  return Error(Code::kUnavailable, "this build has no ONNX importer")
      .WithHint("build with -Donnx=enabled");
}
}  // namespace
Result<std::unique_ptr<Graph>> ImportFile(asc_string path) {
  ASC_RETURN_IF_ERROR(CheckPath(path));
  return NoImporter();
}
Result<std::unique_ptr<Graph>> ImportBytes(const asc_value* model) {
  ASC_RETURN_IF_ERROR(TensorOf(model, "model").status());
  return NoImporter();
}
#endif

}  // namespace asc::capi
