// Products of 8-bit integers, summed exactly in 32 bits that wrap around. Operands are widened to 16 bits with their zero points
// taken off while they are packed, and neighbours along the axis that is summed over are multiplied and added as pairs: unlike
// products of 8 bits in pairs, which saturate at 16 bits on CPUs without VNNI, these never overflow. CPUs with AVX-512 VNNI add
// four products of 8 bits to 32 bits at once: there operands stay bytes, and what the zero points make of the sums is taken off
// at the end. What packed operands hold differs between the two; all functions here follow the CPU.
#ifndef ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_H_
#define ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_H_

#include <algorithm>
#include <cstdint>

namespace asc::simd {

constexpr int64_t kProductRows = 4;      // of a packed tile on the left
constexpr int64_t kProductColumns = 16;  // of a packed panel on the right

inline int64_t PairCount(int64_t k) { return (k + 1) / 2; }
inline int64_t QuadCount(int64_t k) { return (k + 3) / 4; }
// In 16-bit elements, enough for both forms: a packed row or column of bytes has two numbers of 32 bits before it.
inline int64_t PackedSize(int64_t k) { return std::max(2 * PairCount(k), 2 * QuadCount(k) + 4); }
inline int64_t LeftSize(int64_t m, int64_t k) {
  return (m + kProductRows - 1) / kProductRows * kProductRows * PackedSize(k);
}
inline int64_t PanelSize(int64_t k) { return kProductColumns * PackedSize(k); }

// An operand of int8 or uint8; element i of what `zeros` belongs to has zero point zeros[i * zero_step].
struct IntegerOperand {
  const void* data;
  bool is_signed;
  const int32_t* zeros;
  int64_t zero_step;  // 0 or 1
};

// A row-major matrix [m, k] as tiles of rows; zero points by row.
void PackLeft(const IntegerOperand& a, int64_t m, int64_t k, int16_t* packed);
// The columns [first, first + columns) of a row-major matrix [k, n] as one panel; zero points by column.
void PackPanel(const IntegerOperand& b, int64_t n, int64_t k, int64_t first, int64_t columns,
               int16_t* panel);
// Images of convolutions are stored in elements of at most 16 bits; offsets into them count elements. `x` is the operand that
// the image is made of, with one zero point.
// Makes `count` elements of the image padding.
void FillImage(const IntegerOperand& x, int64_t count, int16_t* image);
// Stores the first `count` elements of x at `offset`.
void StoreImage(const IntegerOperand& x, int64_t count, int16_t* image, int64_t offset);
// The panel of kProductColumns outputs of a convolution over an image: row k holds the elements start + starts[j] + taps[k], or
// start + j + taps[k] where `starts` is null.
void PackPixels(const IntegerOperand& x, const int16_t* image, const int64_t* taps, int64_t k,
                int64_t start, const int64_t* starts, int16_t* panel);

// c[i * c_row + j] = sum over k of left(i, k) * panel(k, j), for m rows and `columns` columns.
void MultiplyPanel(const int16_t* left, int64_t m, int64_t k, const int16_t* panel, int64_t columns,
                   int32_t* c, int64_t c_row);
// The same for any number of columns: of panels that stand one after the other.
void MultiplyPanels(const int16_t* left, int64_t m, int64_t k, const int16_t* panels,
                    int64_t columns, int32_t* c, int64_t c_row);

// Convolutions of one channel each, in float32, which is exact: no sum of at most kMostExactTaps products is beyond 2^24.
constexpr int64_t kMostExactTaps = 256;
// The first `count` elements of x less its zero point.
void WidenRow(const IntegerOperand& x, int64_t count, float* to);
// sums[j] = sum over t of weights[t] * image[taps[t] + j], for j < count.
void ConvolveRow(const float* image, const int64_t* taps, const float* weights, int64_t tap_count,
                 int64_t count, int32_t* sums);

// y = round(v) + zero point for the sums of a row, halves to even, saturated; NaN becomes the smallest number.
struct Requantize {
  float scale;  // v = sum * scale,
  const float*
      column_scales;  // or sum * scale * column_scales[j * column_step] / divisor where this is not null
  int64_t column_step;
  float divisor;
  int32_t bias;  // added to each sum
  float zero;
  bool is_signed;  // of the result: int8 or uint8
};
void RequantizeRow(const Requantize& how, const int32_t* sums, int64_t count, void* y);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_H_
