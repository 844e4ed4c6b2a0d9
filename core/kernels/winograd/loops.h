// The steps of a Winograd convolution, vectorised. Each runs on the calling thread.
#ifndef ASC_CORE_KERNELS_WINOGRAD_LOOPS_H_
#define ASC_CORE_KERNELS_WINOGRAD_LOOPS_H_

#include "absl/functional/function_ref.h"
#include "core/kernels/vector/unary.h"
#include "core/kernels/winograd/problem.h"

namespace asc::winograd {

// Floats of the vectors that the loops run on here: 1 where none is known.
int64_t VectorLanes();

// Transforms the weights of one stripe in double precision and rounds once. `filters`: [outputs of
// the stripe][channels][3][3], `count` of them; what pads the stripe becomes zero.
void TransformWeights(const Problem& p, const float* filters, int64_t count, float* u);

// Transforms channel blocks [begin, end) of the tiles from the image at `x`. `v` as
// Problem::input_step has it.
void TransformInput(const Problem& p, const float* x, TileRange tiles, int64_t begin, int64_t end,
                    float* v);

// The matrix products of `count` tiles with the weights `u` of a stripe, for all points. `m` as
// Problem::product_step has it; of a stripe that is filled to a half only that half is written.
void Multiply(const Problem& p, int64_t stripe, int64_t count, const float* v, const float* u,
              float* m);

// What is done with sums before they are stored: f(sum + bias + residual).
struct Epilogue {
  const float* bias = nullptr;      // [outputs], or null
  const float* residual = nullptr;  // an image like the result, or null; may be the result itself
  simd::UnaryCall f;
};

// Makes `count` channels of a tile in some other way: (tile, first channel, count).
using RedoTile = absl::FunctionRef<void(int64_t, int64_t, int64_t)>;

// Transforms the products of a stripe into the result at `y`; lanes that are no channel become
// zero. Where sums of a tile are not finite they are not stored, but left to `redo`: here an input
// that is not finite spreads over the whole tile, and large numbers may overflow on the way.
void TransformOutput(const Problem& p, TileRange tiles, int64_t stripe, const float* m,
                     const Epilogue& epilogue, float* y, RedoTile redo);

}  // namespace asc::winograd

#endif  // ASC_CORE_KERNELS_WINOGRAD_LOOPS_H_
