// Reductions of float32 over rows and over columns, vectorised. NaN stays NaN. All run on the
// calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_REDUCE_H_
#define ASC_CORE_KERNELS_VECTOR_REDUCE_H_

#include <cstdint>

namespace asc::simd {

enum class ReduceOp : uint8_t { kL1, kL2, kMax, kMean, kMin, kSum, kSumSquare };

// y[r] from the n elements of row r.
void ReduceRows(ReduceOp op, const float* x, float* y, int64_t rows, int64_t n);
// y[c] from the n elements x[c], x[c + stride], ... for `columns` neighbouring columns.
void ReduceColumns(ReduceOp op, const float* x, float* y, int64_t n, int64_t stride,
                   int64_t columns);

// y[r]: where the largest (or smallest) element of row r is: the first of equal ones; the first NaN
// if there is any. n > 0.
void ArgRows(bool largest, const float* x, int64_t* y, int64_t rows, int64_t n);
// The same of the n elements x[c], x[c + stride], ... for `columns` neighbouring columns; n < 2^31.
void ArgColumns(bool largest, const float* x, int64_t* y, int64_t n, int64_t stride,
                int64_t columns);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_REDUCE_H_
