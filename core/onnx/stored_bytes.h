// How many bytes elements take in an ONNX file.
#ifndef ASC_CORE_ONNX_STORED_BYTES_H_
#define ASC_CORE_ONNX_STORED_BYTES_H_

#include "core/tensor/data_type.h"

namespace asc::onnx {

inline bool IsSixBit(DataType type) {
  return type == DataType::kFloat6E2M3 || type == DataType::kFloat6E3M2;
}

// As in a Tensor but for the 6-bit floats, of which four share three bytes in a file.
inline size_t StoredBytes(DataType type, size_t tensor_bytes) {
  return IsSixBit(type) ? tensor_bytes / 4 * 3 + (tensor_bytes % 4 * 6 + 7) / 8 : tensor_bytes;
}

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_STORED_BYTES_H_
