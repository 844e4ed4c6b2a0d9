// Tensors of any type whose elements are only moved: random bits, compared bit by bit.
#ifndef ASC_TESTS_CORE_OPS_RAW_ELEMENTS_H_
#define ASC_TESTS_CORE_OPS_RAW_ELEMENTS_H_

#include <cstring>
#include <random>
#include <string>

#include "core/tensor/element.h"
#include "core/tensor/tensor.h"

namespace asc::testing {

inline Tensor Filled(DataType type, const Dims& dims, unsigned seed = 7) {
  Tensor tensor = Tensor::Allocate(type, dims).value();
  std::mt19937 random(seed);
  if (type == DataType::kString) {
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.data<std::string>()[i] = std::to_string(random());
  } else {
    for (size_t i = 0; i < tensor.bytes(); ++i)
      static_cast<uint8_t*>(tensor.raw())[i] = static_cast<uint8_t>(random());
  }
  return tensor;
}

inline bool SameElement(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  if (a.dtype() == DataType::kString) return a.data<std::string>()[i] == b.data<std::string>()[j];
  if (IsSubByte(a.dtype()))
    return ReadPacked(a.dtype(), a.raw(), i) == ReadPacked(b.dtype(), b.raw(), j);
  const size_t size = ElementSize(a.dtype());
  return std::memcmp(static_cast<const char*>(a.raw()) + static_cast<size_t>(i) * size,
                     static_cast<const char*>(b.raw()) + static_cast<size_t>(j) * size, size) == 0;
}

}  // namespace asc::testing

#endif  // ASC_TESTS_CORE_OPS_RAW_ELEMENTS_H_
