// A dense, row-major tensor: type, extents, and a share of a buffer.
#ifndef ASC_CORE_TENSOR_TENSOR_H_
#define ASC_CORE_TENSOR_TENSOR_H_

#include <cassert>
#include <complex>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tensor/data_type.h"
#include "core/tensor/float_types.h"
#include "core/tensor/shape.h"

namespace asc {

// The C++ type that stores one element of a DataType, and back. Packed types (4 and 2 bits) and the narrow floats have none:
// use ReadElement/WriteElement of core/tensor/element.h.
template <typename T>
struct DataTypeOf;
template <> struct DataTypeOf<float> { static constexpr DataType value = DataType::kFloat32; };
template <> struct DataTypeOf<double> { static constexpr DataType value = DataType::kFloat64; };
template <> struct DataTypeOf<Half> { static constexpr DataType value = DataType::kFloat16; };
template <> struct DataTypeOf<BFloat16> { static constexpr DataType value = DataType::kBFloat16; };
template <> struct DataTypeOf<int8_t> { static constexpr DataType value = DataType::kInt8; };
template <> struct DataTypeOf<int16_t> { static constexpr DataType value = DataType::kInt16; };
template <> struct DataTypeOf<int32_t> { static constexpr DataType value = DataType::kInt32; };
template <> struct DataTypeOf<int64_t> { static constexpr DataType value = DataType::kInt64; };
template <> struct DataTypeOf<uint8_t> { static constexpr DataType value = DataType::kUInt8; };
template <> struct DataTypeOf<uint16_t> { static constexpr DataType value = DataType::kUInt16; };
template <> struct DataTypeOf<uint32_t> { static constexpr DataType value = DataType::kUInt32; };
template <> struct DataTypeOf<uint64_t> { static constexpr DataType value = DataType::kUInt64; };
template <> struct DataTypeOf<bool> { static constexpr DataType value = DataType::kBool; };
template <> struct DataTypeOf<std::string> { static constexpr DataType value = DataType::kString; };
template <> struct DataTypeOf<std::complex<float>> { static constexpr DataType value = DataType::kComplex64; };
template <> struct DataTypeOf<std::complex<double>> { static constexpr DataType value = DataType::kComplex128; };

// A handle: copies share the buffer. The elements of a tensor that came from a constant or a graph input must not be written.
class Tensor {
 public:
  Tensor() = default;  // undefined: no type, no buffer

  // Uninitialised elements (strings are empty). E5012 when memory is refused, E5003 when an extent is negative or the size
  // does not fit.
  static Result<Tensor> Allocate(DataType type, const Dims& dims,
                                 const std::shared_ptr<Allocator>& allocator = HostAllocator(),
                                 MemoryUse use = MemoryUse::kTensor);
  // Shares `buffer` from `offset` bytes on; E5003 when the buffer is too small or misaligned for the type. Not for strings
  // (their buffer must hold objects) unless it is another string tensor's buffer.
  static Result<Tensor> FromBuffer(DataType type, const Dims& dims, std::shared_ptr<Buffer> buffer, size_t offset = 0);
  // No checks: for the executor, which has planned the memory.
  static Tensor Unchecked(DataType type, Dims dims, std::shared_ptr<Buffer> buffer, size_t offset);

  // Small host tensors for tests, attributes and shape arithmetic.
  template <typename T>
  static Tensor FromValues(const Dims& dims, std::span<const T> values);
  template <typename T>
  static Tensor FromValues(const Dims& dims, std::initializer_list<T> values) {
    return FromValues<T>(dims, std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Scalar(const T& value) {
    return FromValues<T>({}, std::span<const T>(&value, 1));
  }

  bool defined() const { return buffer_ != nullptr; }
  DataType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t dim(size_t i) const { return dims_[i]; }
  size_t rank() const { return dims_.size(); }
  int64_t size() const { return count_; }  // elements
  size_t bytes() const { return ByteSize(dtype_, count_).value_or(0); }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  size_t offset() const { return offset_; }

  void* raw() { return Elements(); }
  const void* raw() const { return Elements(); }
  // The elements are not in memory as one piece yet (Buffer::Lazy): raw(), data() and values() would make that. CopyBytes reads
  // a part without.
  bool is_lazy() const { return data_ == nullptr && buffer_ != nullptr && buffer_->is_lazy(); }
  void CopyBytes(size_t begin, size_t count, std::byte* to) const { buffer_->CopyTo(offset_ + begin, count, to); }
  // Two tensors with the same one share their elements. Stays the same as long as the tensor lives.
  const void* identity() const { return data_ != nullptr ? data_ : static_cast<const void*>(buffer_.get()); }
  template <typename T>
  T* data() {
    assert(DataTypeOf<T>::value == dtype_);
    return static_cast<T*>(Elements());
  }
  template <typename T>
  const T* data() const {
    assert(DataTypeOf<T>::value == dtype_);
    return static_cast<const T*>(Elements());
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(count_)};
  }

  // The same elements under other extents; E5001 when the count differs.
  Result<Tensor> Reshaped(const Dims& dims) const;
  // A copy with a buffer of its own.
  Result<Tensor> Clone(const std::shared_ptr<Allocator>& allocator = HostAllocator()) const;
  // Same type, extents and bits (strings: contents).
  bool ContentEquals(const Tensor& other) const;
  uint64_t ContentHash() const;
  // "float32[1, 3]"
  std::string TypeString() const;

 private:
  void* Elements() const { return data_ != nullptr || buffer_ == nullptr ? data_ : LazyElements(); }
  void* LazyElements() const;

  DataType dtype_ = DataType::kUndefined;
  Dims dims_;
  int64_t count_ = 0;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
  void* data_ = nullptr;  // null where undefined, or made from a lazy buffer
};

// Integers of an int32 or int64 tensor (any rank, in order), for axes, shapes and the like; E5002 for other types.
Result<std::vector<int64_t>> ToInt64Vector(const Tensor& tensor);
Tensor FromInt64Vector(std::span<const int64_t> values);

template <typename T>
Tensor Tensor::FromValues(const Dims& dims, std::span<const T> values) {
  Result<Tensor> tensor = Allocate(DataTypeOf<T>::value, dims);
  assert(tensor.ok() && tensor->size() == static_cast<int64_t>(values.size()));
  T* out = tensor->template data<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return std::move(tensor).value();
}

}  // namespace asc

#endif  // ASC_CORE_TENSOR_TENSOR_H_
