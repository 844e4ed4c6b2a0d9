#ifndef ASC_CORE_KERNELS_WINOGRAD_REDO_H_
#define ASC_CORE_KERNELS_WINOGRAD_REDO_H_

#include "core/kernels/winograd/loops.h"
#include "core/tensor/tensor.h"

namespace asc::winograd {

// Makes up to kChannelBlock channels of one tile of the result by the sums that define a
// convolution, added up in double precision. `weight`: [outputs][channels][3][3]; may be lazy, and
// stays so.
void ConvolveTile(const Problem& p, const float* x, const Tensor& weight, const Epilogue& epilogue,
                  int64_t tile, int64_t channel, int64_t count, float* y);

}  // namespace asc::winograd

#endif  // ASC_CORE_KERNELS_WINOGRAD_REDO_H_
