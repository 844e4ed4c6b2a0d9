// Copies of equal rows named by index, for the Gather-like operators.
#ifndef ASC_CORE_OPS_ROW_COPY_H_
#define ASC_CORE_OPS_ROW_COPY_H_

#include <algorithm>
#include <cstring>

#include "core/tensor/tensor.h"

namespace asc {

// Rows of `count` elements each. Not for packed types.
class RowCopier {
 public:
  RowCopier(DataType type, int64_t count)
      : strings_(type == DataType::kString),
        count_(count),
        bytes_(static_cast<size_t>(count) * (strings_ ? sizeof(std::string) : ElementSize(type))) {}

  size_t bytes() const { return bytes_; }
  // Items of so many rows are worth a thread of their own.
  int64_t grain() const {
    return std::max<int64_t>(1, (1 << 15) / static_cast<int64_t>(bytes_ + 1));
  }

  void Copy(void* out, int64_t out_row, const void* in, int64_t in_row) const {
    if (strings_) {
      std::copy_n(static_cast<const std::string*>(in) + in_row * count_, count_,
                  static_cast<std::string*>(out) + out_row * count_);
      return;
    }
    const auto stride = static_cast<int64_t>(bytes_);
    const char* from = static_cast<const char*>(in) + in_row * stride;
    char* to = static_cast<char*>(out) + out_row * stride;
    switch (bytes_) {  // constant sizes compile to moves
      case 0:
        return;
      case 1:
        std::memcpy(to, from, 1);
        return;
      case 2:
        std::memcpy(to, from, 2);
        return;
      case 4:
        std::memcpy(to, from, 4);
        return;
      case 8:
        std::memcpy(to, from, 8);
        return;
      default:
        std::memcpy(to, from, bytes_);
    }
  }

 private:
  bool strings_;
  int64_t count_;
  size_t bytes_;
};

// The index with negative ones counted from the end; E5007 when it is out of range.
inline Result<int64_t> CheckIndex(int64_t index, int64_t extent, std::string_view op) {
  if (index < -extent || index >= extent) {
    return Error(Code::kOutOfRange, op, " index ", index, " is out of range for an axis of ",
                 extent, " elements: expected ", -extent, " to ", extent - 1);
  }
  return index < 0 ? index + extent : index;
}

// An int32 or int64 tensor of indices into an axis, all in range; negative ones read as counted
// from the end. Refers to the tensor.
class IndexView {
 public:
  // E5007 naming the first index out of range.
  static Result<IndexView> Make(const Tensor& indices, int64_t extent, std::string_view op);

  int64_t size() const { return size_; }
  int64_t operator[](int64_t i) const {
    const int64_t index = wide_ != nullptr ? wide_[i] : narrow_[i];
    return index < 0 ? index + extent_ : index;
  }

 private:
  const int64_t* wide_ = nullptr;
  const int32_t* narrow_ = nullptr;
  int64_t size_ = 0, extent_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_ROW_COPY_H_
