// The one copy loop behind the operators that only move elements (Transpose, Slice, Concat, Split,
// Expand, Tile, Pad...).
#ifndef ASC_CORE_OPS_STRIDED_COPY_H_
#define ASC_CORE_OPS_STRIDED_COPY_H_

#include "core/tensor/tensor.h"

namespace asc {

// One side of a copy: element `offset + sum(i[k] * strides[k])` of the array at `data`. Offsets and
// strides count elements.
struct StridedView {
  void* data;
  int64_t offset;
  Dims strides;
};
struct ConstStridedView {
  const void* data;
  int64_t offset;
  Dims strides;  // may be zero (repeat) or negative (backwards)
};

// out[i] = in[i] for every index i below `dims`. All types, packed and strings included. The two
// must not overlap, and different indices must name different elements of `out`. Adjacent axes are
// merged, contiguous runs are copied as blocks and transpositions in tiles; large copies run on the
// caller's team.
void StridedCopy(DataType type, const Dims& dims, ConstStridedView in, StridedView out);

// The elements of `in`, in order, to `out`, which has as many; nothing when they share memory
// already (views).
void CopyElements(const Tensor& in, Tensor& out);

// `value` (a tensor of one element) to every element of `out`.
void FillElements(const Tensor& value, Tensor& out);

}  // namespace asc

#endif  // ASC_CORE_OPS_STRIDED_COPY_H_
