// Products of float64 matrices.
#ifndef ASC_CORE_KERNELS_VECTOR_DOUBLE_PRODUCT_H_
#define ASC_CORE_KERNELS_VECTOR_DOUBLE_PRODUCT_H_

#include <cstdint>

namespace asc::simd {

// Columns [first, last) of c = a * b for row-major a [m, k], b [k, n] and c [m, n]. An element of c is the same whatever columns
// are computed with it. Runs on the calling thread.
void MultiplyDoubles(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c,
                     int64_t first, int64_t last);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_DOUBLE_PRODUCT_H_
