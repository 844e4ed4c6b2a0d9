// Matrix products: what MatMul, Gemm, their fused and their quantised forms share.
#ifndef ASC_CORE_OPS_MATMUL_H_
#define ASC_CORE_OPS_MATMUL_H_

#include "core/graph/op_schema.h"

namespace asc {

// The shape of a product of stacks of matrices as NumPy's matmul has it: rank 1 on the left is a
// row, on the right a column. `transpose_*` swap the last two axes (rank 2 or more). E5001 where
// inner extents or stacks do not fit.
Result<Shape> MatMulShape(std::string_view op, const Shape& a, const Shape& b,
                          bool transpose_a = false, bool transpose_b = false);

// A strided matrix: element (i, j) is data[i * row + j * column].
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row, column;
};

// c[i * n + j] = sum over k of a(i, k) * b(k, j). T is float, double, uint32_t or uint64_t
// (integers wrap around). Runs on the calling thread.
template <typename T>
void MultiplyMatrices(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c);

// The whole product for concrete shapes that MatMulShape accepts, split over threads.
template <typename T>
void MultiplyStacks(const Dims& a_dims, const Dims& b_dims, bool transpose_a, bool transpose_b,
                    const T* a, const T* b, T* out);

// Of the product of inputs 0 and 1 with whatever else is read.
CostEstimate MatMulCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                        bool transpose_a = false);

}  // namespace asc

#endif  // ASC_CORE_OPS_MATMUL_H_
