// Walking several tensors together over one index space: broadcasting, and any other access by
// strides.
#ifndef ASC_CORE_OPS_BROADCAST_ITERATOR_H_
#define ASC_CORE_OPS_BROADCAST_ITERATOR_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/tensor/shape.h"

namespace asc {

// Elements that one thread should get at least, for element-wise work.
inline constexpr int64_t kElementGrain = 1 << 14;

// Strides, in elements, of a row-major tensor of shape `dims` seen under the shape `out` that it
// broadcasts to: 0 on the axes where it repeats.
inline Dims BroadcastStrides(const Dims& dims, const Dims& out) {
  const Dims own = ContiguousStrides(dims);
  Dims strides(out.size(), 0);
  const size_t lead = out.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) strides[lead + i] = dims[i] == 1 ? 0 : own[i];
  return strides;
}

// N operands over the index space `dims` in row-major order. Axes of extent 1 vanish and axes that
// all operands pass through evenly are merged, so that the innermost row is as long as can be.
template <size_t N>
class StridedWalk {
 public:
  StridedWalk(const Dims& dims, const std::array<Dims, N>& strides) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      size_ *= dims[axis];
      if (dims[axis] == 1) continue;
      bool merge = !dims_.empty();
      for (size_t k = 0; merge && k < N; ++k)
        merge = strides_[k].back() == strides[k][axis] * dims[axis];
      if (merge) {
        dims_.back() *= dims[axis];
      } else {
        dims_.push_back(dims[axis]);
      }
      for (size_t k = 0; k < N; ++k) {
        if (!merge) strides_[k].push_back(0);
        strides_[k].back() = strides[k][axis];
      }
    }
    if (dims_.empty()) {
      dims_.push_back(1);
      for (Dims& s : strides_) s.push_back(0);
    }
  }

  int64_t size() const { return size_; }
  // The merged index space (at least one axis), and by how many elements operand k moves along each axis.
  const Dims& dims() const { return dims_; }
  const Dims& strides(size_t k) const { return strides_[k]; }
  // By how many elements operand k moves along a row.
  int64_t inner_stride(size_t k) const { return strides_[k].back(); }

  // Calls row(index, offsets, count) for the pieces of rows that make up the elements [begin, end):
  // `index` is the first one's place in row-major order, offsets[k] operand k's element there.
  template <typename F>
  void Rows(int64_t begin, int64_t end, F&& row) const {
    if (begin >= end) return;
    const size_t inner = dims_.size() - 1;
    const int64_t width = dims_[inner];
    Dims position(inner, 0);
    std::array<int64_t, N> offsets{};
    int64_t row_number = begin / width;
    for (size_t axis = inner; axis-- > 0;) {
      position[axis] = row_number % dims_[axis];
      row_number /= dims_[axis];
      for (size_t k = 0; k < N; ++k) offsets[k] += position[axis] * strides_[k][axis];
    }
    int64_t within = begin % width;
    for (int64_t index = begin; index < end;) {
      const int64_t count = std::min(width - within, end - index);
      std::array<int64_t, N> start = offsets;
      for (size_t k = 0; k < N; ++k) start[k] += within * strides_[k][inner];
      row(index, start, count);
      index += count;
      within = 0;
      for (size_t axis = inner; axis-- > 0;) {
        for (size_t k = 0; k < N; ++k) offsets[k] += strides_[k][axis];
        if (++position[axis] < dims_[axis]) break;
        for (size_t k = 0; k < N; ++k) offsets[k] -= strides_[k][axis] * dims_[axis];
        position[axis] = 0;
      }
    }
  }

 private:
  Dims dims_;
  std::array<Dims, N> strides_;
  int64_t size_ = 1;
};

// The walk over `out` of inputs that broadcast to it.
template <typename... InputDims>
StridedWalk<sizeof...(InputDims)> BroadcastWalk(const Dims& out, const InputDims&... inputs) {
  return StridedWalk<sizeof...(InputDims)>(out, {BroadcastStrides(inputs, out)...});
}

}  // namespace asc

#endif  // ASC_CORE_OPS_BROADCAST_ITERATOR_H_
