#include "core/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace asc::onnx {
namespace {
namespace fs = std::filesystem;

// Digits only: no sign, no space, no overflow.
std::optional<size_t> ParseNatural(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool IsInside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}
}  // namespace

Result<const DataFile*> ExternalData::Open(const std::string& path) {
  if (const auto it = files_.find(path); it != files_.end()) return &it->second;
  if (path.empty()) return Error(Code::kInvalidModel, "external data has no location");
  const fs::path relative(path);
  if (relative.is_absolute() || path.find('\0') != std::string::npos) {
    return Error(Code::kInvalidModel, "external data location '", path,
                 "' must be relative to the model's folder");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error)
    return Error(Code::kIo, "cannot resolve the folder '", folder_, "': ", error.message());
  // The path that is checked is the path that is opened: both have no links left.
  const fs::path file = fs::canonical(folder / relative, error);
  // A path that leads out is refused as such whether or not there is something at its end.
  if (!IsInside(error ? (folder / relative).lexically_normal() : file, folder)) {
    return Error(Code::kInvalidModel, "external data location '", path,
                 "' leaves the model's folder")
        .WithHint("keep weight files beside the model");
  }
  if (error) {
    return Error(Code::kIo, "cannot find the external data '", path, "' in '", folder_,
                 "': ", error.message())
        .WithHint("copy the weight files together with the model");
  }
  DataFile data;
  ASC_ASSIGN_OR_RETURN(data.file, MappedFile::Open(file.string()));
  data.bytes = MappedFile::Slice(data.file, 0, data.file->size());
  return &files_.emplace(path, std::move(data)).first->second;
}

Result<ExternalRange> ExternalData::Find(const ExternalLocation& location, size_t bytes) {
  if (folder_.empty()) {
    return Error(Code::kInvalidModel, "external data not reachable: '", location.path,
                 "' belongs to a folder, and the model was given as bytes")
        .WithHint("load the model by its path");
  }
  const auto number = [&](const std::string& text, std::string_view name,
                          size_t otherwise) -> Result<size_t> {
    if (text.empty()) return otherwise;
    const auto value = ParseNatural(text);
    if (!value)
      return Error(Code::kInvalidModel, "external data ", name, " '", text,
                   "' is not a non-negative number");
    return *value;
  };
  ASC_ASSIGN_OR_RETURN(const size_t offset, number(location.offset, "offset", 0));
  ASC_ASSIGN_OR_RETURN(const size_t length, number(location.length, "length", bytes));
  ASC_ASSIGN_OR_RETURN(const DataFile* data, Open(location.path));
  const size_t size = data->bytes->size();
  if (offset > size || length > size - offset) {
    return Error(Code::kInvalidModel, "external data at offset ", offset, " of length ", length,
                 " is not inside '", location.path, "', which has ", size, " bytes");
  }
  if (length != bytes) {
    return Error(Code::kInvalidModel, "external data has length ", length, ", the tensor needs ",
                 bytes, " bytes");
  }
  return ExternalRange{data, offset};
}

}  // namespace asc::onnx
