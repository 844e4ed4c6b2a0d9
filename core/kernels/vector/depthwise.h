// Depthwise convolution of blocked images (NC1HWC0, C0 = 8 or 16): each channel by a window of its
// own. Vectorised.
#ifndef ASC_CORE_KERNELS_VECTOR_DEPTHWISE_H_
#define ASC_CORE_KERNELS_VECTOR_DEPTHWISE_H_

#include <cstdint>

#include "core/kernels/vector/unary.h"
#include "core/ops/window.h"

namespace asc::simd {

// A plane is one block of C0 channels of one image.
struct Depthwise {
  int64_t c0 = 8, channels = 0;
  int64_t images = 0, blocks = 0;  // planes are images * blocks
  WindowAxis rows, columns;        // dilation 1

  const float* x = nullptr;         // [planes, rows.input, columns.input, c0]
  const float* weights = nullptr;   // [blocks, rows.kernel, columns.kernel, c0], finite
  const float* bias = nullptr;      // [channels], or null
  const float* residual = nullptr;  // as y, or null
  float* y = nullptr;               // [planes, rows.output, columns.output, c0]

  // Sums are clamped in registers; any other function is applied to a row that was just stored.
  bool clamp = false;
  float low = 0, high = 0;
  UnaryCall f;
};

// Whether there are loops made for windows along this axis; any others take longer.
bool IsUnrolled(const WindowAxis& columns);
// Whether this CPU adds products in one instruction, and has the registers that the loops need.
bool MultipliesAndAdds();

// The output rows [first_row, last_row) of some planes.
struct DepthwisePart {
  int64_t first_plane, last_plane, first_row, last_row;
};
// On the calling thread.
void ConvolveDepthwise(const Depthwise& p, const DepthwisePart& part);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_DEPTHWISE_H_
