// Products of small float32 matrices that lie in the caches: the inner loops of matrix products, of
// pointwise convolution and of Winograd's. Compiled for each instruction set, chosen at run time.
// Everything here runs on the calling thread and may be called from any.
#ifndef ASC_CORE_KERNELS_GEMM_MICRO_KERNEL_H_
#define ASC_CORE_KERNELS_GEMM_MICRO_KERNEL_H_

#include <cstdint>

namespace asc::gemm {

// How the kernels of this CPU cut a product. A product of `rows` rows and `width` columns keeps its
// sums in registers.
struct TileShape {
  int64_t rows = 0;   // the most
  int64_t width = 0;  // columns of a panel of the right operand
  int64_t lanes = 0;  // of a vector; divides width
};
TileShape Tiles();

// The right operand [k, n] is read in panels: its columns p * width and on, padded with zeros to
// `width`, as a dense matrix [k, width]; panels of the whole k follow one another.
int64_t PackedCount(int64_t k, int64_t n);  // floats
// Packs rows [first, first + count) of k in all; element (i, j) of them is
// b[i * row_stride + j * column_stride].
void Pack(const float* b, int64_t row_stride, int64_t column_stride, int64_t k, int64_t n,
          int64_t first, int64_t count, float* packed);

// c[i][j] = alpha * sum over blocks q and p < k of a[i * a_row + q * a_block + p] * B(q * k + p, j)
//           + bias[j] + row_bias[i] + residual[i][j] + (accumulate ? c[i][j] : 0), then clamped to [low, high];
// NaN stays NaN. All strides are in elements. Operands need no alignment; an aligned b is faster.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  int64_t blocks = 1;  // parts of the sum, each of k
  int64_t rest = 0;    // terms of one more, shorter part behind them

  const float* a = nullptr;
  int64_t a_row = 0, a_block = 0;

  // Panels as Pack makes them, from the first row of the sum on: row p of block q of panel j stands
  // at b + j * b_panel + q * b_block + p * width. b_block is k * width where the sum is whole.
  const float* b = nullptr;
  int64_t b_panel = 0, b_block = 0;

  // Column j of row i stands at c + i * c_row + j for c_width = 0. Otherwise c_width (a power of
  // two, 4 or more) columns lie together: at c + j / c_width * c_block + i * c_row + j % c_width; then
  // the last columns are filled up to c_width with zeros.
  float* c = nullptr;
  int64_t c_row = 0, c_block = 0, c_width = 0;
  bool accumulate = false;

  float alpha = 1;
  const float* bias = nullptr;      // n elements
  const float* row_bias = nullptr;  // m elements
  const float* residual = nullptr;  // laid out as c, with a row stride of its own; may be c
  int64_t residual_row = 0;
  bool clamp = false;
  float low = 0, high = 0;  // infinity for none
};
void Multiply(const Product& product);

}  // namespace asc::gemm

#endif  // ASC_CORE_KERNELS_GEMM_MICRO_KERNEL_H_
