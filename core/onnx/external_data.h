// Weights that a model keeps in files beside it.
#ifndef ASC_CORE_ONNX_EXTERNAL_DATA_H_
#define ASC_CORE_ONNX_EXTERNAL_DATA_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/mapped_file.h"
#include "core/base/status.h"

namespace asc::onnx {

// A mapped file, and the same bytes as one buffer that all of its tensors share.
struct DataFile {
  std::shared_ptr<MappedFile> file;  // null: the bytes came from memory
  std::shared_ptr<Buffer> bytes;
};

// Where TensorProto.external_data says that the elements are.
struct ExternalLocation {
  std::string path;            // relative, as written
  std::string offset, length;  // decimal, as written; "" where absent
};

struct ExternalRange {
  const DataFile* data = nullptr;
  size_t offset = 0;
};

class ExternalData {
 public:
  // `folder`: the model's; empty when there is none, and then every reference is refused.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  // Finds `bytes` bytes. Refused: absolute paths, paths that lead out of the folder once `..` and
  // symbolic links are resolved, offsets and lengths that are no natural numbers or lie outside the
  // file, a length other than `bytes`.
  Result<ExternalRange> Find(const ExternalLocation& location, size_t bytes);

 private:
  Result<const DataFile*> Open(const std::string& path);

  std::string folder_;
  std::map<std::string, DataFile> files_;  // by the path as written
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_EXTERNAL_DATA_H_
