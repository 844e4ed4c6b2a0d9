#include "core/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/hash.h"

namespace asc {
namespace {
size_t Alignment(DataType type) {
  if (type == DataType::kComplex128) return sizeof(double);
  if (type == DataType::kComplex64) return sizeof(float);
  if (type == DataType::kString) return alignof(std::string);
  return std::max<size_t>(1, ElementSize(type));
}

// String elements are objects: they are constructed here and destroyed with the buffer.
Result<std::shared_ptr<Buffer>> AllocateStrings(const std::shared_ptr<Allocator>& allocator, MemoryUse use, size_t bytes) {
  ASC_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> block, Buffer::Allocate(allocator, use, bytes));
  auto* strings = reinterpret_cast<std::string*>(block->data());
  const size_t count = bytes / sizeof(std::string);
  std::uninitialized_default_construct_n(strings, count);
  return Buffer::Wrap(strings, bytes, [block, strings, count] { std::destroy_n(strings, count); });
}

// The bits of the last byte that elements take; others hold anything.
std::byte LastByteMask(DataType type, int64_t count) {
  const int used = static_cast<int>(count % 8) * BitWidth(type) % 8;
  return static_cast<std::byte>(used == 0 ? 0xff : (1 << used) - 1);
}
}  // namespace

Result<Tensor> Tensor::Allocate(DataType type, const Dims& dims, const std::shared_ptr<Allocator>& allocator,
                                MemoryUse use) {
  const auto count = CheckedElementCount(dims);
  const auto bytes = count ? ByteSize(type, *count) : std::nullopt;
  if (!bytes) return InvalidArgument("a tensor of shape ", dims, " is not possible: its size is negative or too large");
  std::shared_ptr<Buffer> buffer;
  if (type == DataType::kString) {
    ASC_ASSIGN_OR_RETURN(buffer, AllocateStrings(allocator, use, *bytes));
  } else {
    ASC_ASSIGN_OR_RETURN(buffer, Buffer::Allocate(allocator, use, *bytes));
    // Spare bits of the last byte stay as they are when elements are written: files and results are the same each time.
    if (IsSubByte(type) && *bytes > 0) buffer->data()[*bytes - 1] = std::byte{0};
  }
  return Unchecked(type, dims, std::move(buffer), 0);
}

Result<Tensor> Tensor::FromBuffer(DataType type, const Dims& dims, std::shared_ptr<Buffer> buffer, size_t offset) {
  const auto count = CheckedElementCount(dims);
  const auto bytes = count ? ByteSize(type, *count) : std::nullopt;
  if (!bytes) return InvalidArgument("a tensor of shape ", dims, " is not possible: its size is negative or too large");
  if (offset > buffer->size() || *bytes > buffer->size() - offset) {
    return InvalidArgument("a ", DataTypeName(type), " tensor of shape ", dims, " needs ", *bytes, " bytes, given ",
                           buffer->size() - std::min(offset, buffer->size()));
  }
  const uintptr_t start = buffer->is_lazy() ? offset : reinterpret_cast<uintptr_t>(buffer->data()) + offset;
  if (start % Alignment(type) != 0) {
    return InvalidArgument("memory of a ", DataTypeName(type), " tensor must be aligned to ", Alignment(type), " bytes");
  }
  return Unchecked(type, dims, std::move(buffer), offset);
}

Tensor Tensor::Unchecked(DataType type, Dims dims, std::shared_ptr<Buffer> buffer, size_t offset) {
  Tensor tensor;
  tensor.dtype_ = type;
  tensor.count_ = asc::ElementCount(dims);
  tensor.dims_ = std::move(dims);
  if (!buffer->is_lazy()) tensor.data_ = buffer->data() + offset;
  tensor.buffer_ = std::move(buffer);
  tensor.offset_ = offset;
  return tensor;
}

void* Tensor::LazyElements() const { return buffer_->data() + offset_; }

Result<Tensor> Tensor::Reshaped(const Dims& dims) const {
  const auto count = CheckedElementCount(dims);
  if (!count || *count != count_) {
    return ShapeError("cannot reshape ", TypeString(), " (", count_, " elements) to ", dims);
  }
  return Unchecked(dtype_, dims, buffer_, offset_);
}

Result<Tensor> Tensor::Clone(const std::shared_ptr<Allocator>& allocator) const {
  ASC_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype_, dims_, allocator));
  if (dtype_ == DataType::kString) {
    std::copy_n(data<std::string>(), count_, copy.data<std::string>());
  } else if (bytes() > 0) {
    std::memcpy(copy.raw(), raw(), bytes());
  }
  return copy;
}

bool Tensor::ContentEquals(const Tensor& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_ || defined() != other.defined()) return false;
  if (!defined()) return true;
  if (dtype_ == DataType::kString) {
    return std::equal(data<std::string>(), data<std::string>() + count_, other.data<std::string>());
  }
  const size_t size = bytes();
  if (identity() == other.identity() || size == 0) return true;
  const auto* mine = static_cast<const std::byte*>(raw());
  const auto* others = static_cast<const std::byte*>(other.raw());
  return std::memcmp(mine, others, size - 1) == 0 &&
         ((mine[size - 1] ^ others[size - 1]) & LastByteMask(dtype_, count_)) == std::byte{0};
}

uint64_t Tensor::ContentHash() const {
  uint64_t hash = HashBytes(dims_.data(), dims_.size() * sizeof(int64_t), static_cast<uint64_t>(dtype_));
  if (dtype_ == DataType::kString) {
    for (const std::string& text : values<std::string>()) {
      hash = HashCombine(HashBytes(text.data(), text.size(), hash), text.size());
    }
    return hash;
  }
  if (LastByteMask(dtype_, count_) == std::byte{0xff}) return HashBytes(raw(), bytes(), hash);
  const std::byte* last = static_cast<const std::byte*>(raw()) + bytes() - 1;
  return HashCombine(HashBytes(raw(), bytes() - 1, hash), static_cast<uint64_t>(*last & LastByteMask(dtype_, count_)));
}

std::string Tensor::TypeString() const { return Cat(DataTypeName(dtype_), dims_); }

Result<std::vector<int64_t>> ToInt64Vector(const Tensor& tensor) {
  if (tensor.dtype() == DataType::kInt64) {
    const auto values = tensor.values<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  if (tensor.dtype() == DataType::kInt32) {
    const auto values = tensor.values<int32_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  return TypeError("expected a tensor of int32 or int64, got ", tensor.TypeString());
}

Tensor FromInt64Vector(std::span<const int64_t> values) {
  return Tensor::FromValues<int64_t>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace asc
