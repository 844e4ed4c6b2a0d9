// TensorProto and SparseTensorProto to Tensor.
#ifndef ASC_CORE_ONNX_TENSOR_READER_H_
#define ASC_CORE_ONNX_TENSOR_READER_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/onnx/external_data.h"
#include "core/tensor/tensor.h"

namespace asc::onnx {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Elements stay where they are (the mapped file, the given bytes, the external file) whenever they
// are aligned for their type; others are copied.
class TensorReader {
 public:
  TensorReader(DataFile model, std::string folder)
      : model_(std::move(model)), external_(std::move(folder)) {}

  // `message`: the encoded message, a part of the model's bytes. E5006 when element type, extents
  // and data do not fit.
  Result<NamedTensor> Read(std::string_view message);
  // Sparse tensors become dense ones.
  Result<NamedTensor> ReadSparse(std::string_view message);

 private:
  struct Proto;
  Status Parse(std::string_view message, Proto& proto);
  Result<Tensor> Make(const Proto& proto);
  Result<Tensor> FromRaw(DataType type, const Dims& dims, const DataFile& source, size_t offset,
                         size_t bytes);

  DataFile model_;
  ExternalData external_;
};

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_TENSOR_READER_H_
