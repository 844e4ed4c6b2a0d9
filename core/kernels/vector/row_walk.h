// Broadcast operands as groups of rows, for the vector kernels.
#ifndef ASC_CORE_KERNELS_VECTOR_ROW_WALK_H_
#define ASC_CORE_KERNELS_VECTOR_ROW_WALK_H_

#include "core/base/parallel.h"
#include "core/ops/broadcast_iterator.h"

namespace asc::simd {

// N operands over one index space; made while planning, as the extents are known.
template <size_t N>
class RowWalk {
 public:
  explicit RowWalk(StridedWalk<N> walk) : walk_(std::move(walk)) {
    const Dims& dims = walk_.dims();
    count_ = dims.back();
    if (dims.size() > 1) group_ = dims[dims.size() - 2];
    for (size_t axis = 0; axis + 2 < dims.size(); ++axis) groups_ *= dims[axis];
  }

  int64_t step(size_t k) const { return walk_.inner_stride(k); }
  // From a row to the next one of its group.
  int64_t row(size_t k) const {
    const Dims& strides = walk_.strides(k);
    return strides.size() > 1 ? strides[strides.size() - 2] : 0;
  }

  // On the team, for pieces of at least about `grain` elements: calls f(index, offsets, rows,
  // count), where `index` is the place of the first element in row-major order and offsets[k]
  // operand k's element there.
  template <typename F>
  void ForGroups(int64_t grain, F&& f) const {
    const int64_t rows = groups_ * group_;
    if (rows * count_ == 0) return;
    // A few long rows are cut.
    const int64_t cuts = rows < 16 ? std::max<int64_t>(1, count_ / grain) : 1;
    if (cuts > 1) {
      ParallelFor(rows * cuts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end;) {
          const int64_t row = piece / cuts, last = std::min(end, (row + 1) * cuts);
          const int64_t from = count_ * (piece - row * cuts) / cuts,
                        to = count_ * (last - row * cuts) / cuts;
          std::array<int64_t, N> offsets = OffsetsOf(row / group_);
          for (size_t k = 0; k < N; ++k) offsets[k] += row % group_ * this->row(k) + from * step(k);
          f(row * count_ + from, offsets, int64_t{1}, to - from);
          piece = last;
        }
      });
      return;
    }
    ParallelFor(rows, std::max<int64_t>(1, grain / count_), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end;) {
        const int64_t within = row % group_, some = std::min(end - row, group_ - within);
        std::array<int64_t, N> offsets = OffsetsOf(row / group_);
        for (size_t k = 0; k < N; ++k) offsets[k] += within * this->row(k);
        f(row * count_, offsets, some, count_);
        row += some;
      }
    });
  }

 private:
  std::array<int64_t, N> OffsetsOf(int64_t group) const {
    std::array<int64_t, N> offsets{};
    for (size_t axis = walk_.dims().size(); axis-- > 2;) {
      const int64_t position = group % walk_.dims()[axis - 2];
      group /= walk_.dims()[axis - 2];
      for (size_t k = 0; k < N; ++k) offsets[k] += position * walk_.strides(k)[axis - 2];
    }
    return offsets;
  }

  StridedWalk<N> walk_;
  int64_t count_ = 1, group_ = 1, groups_ = 1;
};

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_ROW_WALK_H_
