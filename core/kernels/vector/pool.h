// Max and average pooling of float32 planes, vectorised. NaN stays NaN. On the calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_POOL_H_
#define ASC_CORE_KERNELS_VECTOR_POOL_H_

#include <cstdint>
#include <vector>

#include "core/ops/window.h"

namespace asc::simd {

// The windows along one axis.
struct PoolAxis {
  int64_t input, output, kernel, stride, dilation, pad;
  std::vector<int64_t> first;  // by output: the first input element that its window reads
  std::vector<int64_t> taps;   // and how many it reads, `dilation` apart
  std::vector<float> counted;  // how many elements an average counts, padding included where it is

  // `count_padding` as the attribute count_include_pad.
  PoolAxis(const WindowAxis& axis, bool count_padding);
  int64_t Span() const { return dilation * (kernel - 1) + 1; }
};

struct Pool {
  bool max;  // else the average
  PoolAxis rows, columns;
};

// Whether PoolPlane can hold a window in its buffer.
bool FitsPoolPlane(const Pool& pool);
// x: [rows.input, columns.input], y: [rows.output, columns.output].
void PoolPlane(const Pool& pool, const float* x, float* y);
// The same for pixels of c0 (8 or 16) channels.
void PoolPixels(const Pool& pool, int64_t c0, const float* x, float* y);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_POOL_H_
