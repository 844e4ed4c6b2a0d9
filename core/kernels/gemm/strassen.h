// One step of Strassen's algorithm, in Winograd's form (S. Winograd, 1971): where the extents of a product are
// cut in halves, seven products of halves and fifteen sums give what takes eight products otherwise.
// Weights stay packed as they are; sums of their halves are made a pair of panels at a time, in the cache.
// Everything here runs on the calling thread and may be called from any.
#ifndef ASC_CORE_KERNELS_GEMM_STRASSEN_H_
#define ASC_CORE_KERNELS_GEMM_STRASSEN_H_

#include "core/kernels/gemm/micro_kernel.h"

namespace asc::gemm {

// Rows must be even, and no fewer than those of two tiles; panels must be even; the depth of a sum must divide by this.
inline constexpr int64_t kHalvedDepth = 32;

// Operands of which no element is larger in size than this, nor NaN, give no infinity on the way to a
// result that is none, and no result that hides one.
inline constexpr float kLargestHalved = 0x1p55f;

// Two rows of which one is larger than this many times the other (by the sums of magnitudes) are not multiplied
// together: the smaller one's result would drown in the rounding errors of the larger one's, and a row of
// zeros would not give zeros.
inline constexpr float kUnlikeRows = 32;

// Whether all of x is as small as that (kLargestHalved).
bool CanBeHalved(const float* x, int64_t count);

// Floats of the left operand [m, k] in the form that is multiplied, and of what MultiplyHalved needs besides.
int64_t LeftHalvesCount(int64_t a_row, int64_t m, int64_t k);
int64_t RightHalvesCount(int64_t k);

// Sums of the quarters of a[i * a_row + j], i < m, j < k. False, with `halves` unusable, where an element is
// too large or NaN, or two rows are unlike.
bool HalveLeft(const float* a, int64_t a_row, int64_t m, int64_t k, float* halves);

// As Multiply, for the columns of the first panel of `product` and of the one that is `away` panels behind it;
// `left` is what HalveLeft made of `product.a`. blocks is 1, rest 0; all columns of the panels are
// columns of the product. Errors are a few times those of Multiply, and relative to the largest
// elements of both halves of rows and columns.
void MultiplyHalved(const Product& product, int64_t away, const float* left, float* right);

}  // namespace asc::gemm

#endif  // ASC_CORE_KERNELS_GEMM_STRASSEN_H_
