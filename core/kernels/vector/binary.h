// Element-wise functions of two float32 operands that broadcast, and selection by a condition,
// vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_BINARY_H_
#define ASC_CORE_KERNELS_VECTOR_BINARY_H_

#include <cstdint>

namespace asc::simd {

enum class BinaryOp : uint8_t {
  kAdd,
  kDiv,
  kMax,
  kMin,
  kMul,
  kPRelu,
  kSub
};  // kMax, kMin: a NaN in either stays

// `rows` rows of `count` elements. An operand moves by `row` from a row to the next and by `step`
// (0 or 1) within one.
template <typename T>
struct RowOperand {
  T* data;
  int64_t row, step;
};

// z = op(x, y); the rows of z follow each other. z may be x or y where that has the rows of z. On
// the calling thread.
struct BinaryRows {
  RowOperand<const float> x, y;
  float* z;
  int64_t rows, count;
};
void ApplyBinary(BinaryOp op, const BinaryRows& rows);

// z = condition ? x : y.
struct SelectRows {
  RowOperand<const bool> condition;
  RowOperand<const float> x, y;
  float* z;
  int64_t rows, count;
};
void ApplySelect(const SelectRows& rows);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_BINARY_H_
