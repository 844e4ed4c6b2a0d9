// Running sums and products down columns of float32, vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_CUMULATIVE_H_
#define ASC_CORE_KERNELS_VECTOR_CUMULATIVE_H_

#include <cstdint>

namespace asc::simd {

// y[i * step + c] is the sum, or the product, of x[k * step + c] for k <= i (k < i when `exclusive`),
// for i < n and c < columns. Running values are kept in float64. `step` may be negative: the rows
// are taken backwards. On the calling thread.
void CumulateColumns(bool product, bool exclusive, const float* x, float* y, int64_t n,
                     int64_t step, int64_t columns);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_CUMULATIVE_H_
