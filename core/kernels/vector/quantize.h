// Rows of float32 to integers with a scale and a zero point, and what a dynamic scale needs to know of them. All run on the
// calling thread.
#ifndef ASC_CORE_KERNELS_VECTOR_QUANTIZE_H_
#define ASC_CORE_KERNELS_VECTOR_QUANTIZE_H_

#include <cstdint>

#include "core/tensor/data_type.h"

namespace asc::simd {

// y = round(x / scale) + zero, halves to even, saturated; NaN becomes the smallest number. y is int8, uint8, int16 or uint16.
void QuantizeRow(const float* x, float scale, float zero, int64_t count, DataType type, void* y);

// The least and the greatest of 0 and the elements; NaN does not count.
struct Extremes {
  float low = 0, high = 0;
};
Extremes ExtremesOf(const float* x, int64_t count);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_QUANTIZE_H_
