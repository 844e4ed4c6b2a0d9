// Transposed convolution with a 2x2 kernel and stride 2: each input pixel makes a square of four
// outputs. Vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_UPSAMPLE_CONV_H_
#define ASC_CORE_KERNELS_VECTOR_UPSAMPLE_CONV_H_

#include <cstdint>

namespace asc::simd {

// One image: x [channels, rows, columns], weight [channels, outputs, 2, 2], bias [outputs] or null,
// y [outputs, 2 rows, 2 columns].
struct UpsampleConv {
  const float* x;
  const float* weight;
  const float* bias;
  float* y;
  int64_t channels, outputs, rows, columns;
};
// For the input rows [begin, end). On the calling thread.
void ApplyUpsampleConv(const UpsampleConv& image, int64_t begin, int64_t end);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_UPSAMPLE_CONV_H_
