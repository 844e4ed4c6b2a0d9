// Tensor to TensorProto, with the elements inside or in a file beside the model.
#ifndef ASC_CORE_ONNX_TENSOR_WRITER_H_
#define ASC_CORE_ONNX_TENSOR_WRITER_H_

#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>

#include "core/base/file_writer.h"
#include "core/tensor/tensor.h"

namespace asc::onnx {

// The file for elements outside of the model. A tensor that is met twice is there once.
class ExternalWriter {
 public:
  // `location`: of the file, as models in its folder name it.
  ExternalWriter(std::string path, std::string location)
      : file_(std::move(path)), location_(std::move(location)) {}

  // Strings are never kept outside.
  static bool Takes(const Tensor& tensor);
  const std::string& location() const { return location_; }
  // Where the elements begin.
  uint64_t Add(const Tensor& tensor);
  FileWriter& file() { return file_; }

 private:
  FileWriter file_;
  std::string location_;
  std::map<std::pair<const void*, size_t>, uint64_t> places_;  // by Tensor::identity and bytes
};

// `external` may be null.
void WriteTensor(const std::string& name, const Tensor& tensor, ExternalWriter* external,
                 protozero::pbf_writer out);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_TENSOR_WRITER_H_
