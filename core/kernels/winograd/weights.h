#ifndef ASC_CORE_KERNELS_WINOGRAD_WEIGHTS_H_
#define ASC_CORE_KERNELS_WINOGRAD_WEIGHTS_H_

#include "core/device/kernel.h"
#include "core/kernels/winograd/problem.h"

namespace asc::winograd {

// The transformed weights, [stripe] of Problem::weight_stripe floats: made on the calling thread's
// team from `weight`, [outputs] [channels][3][3], or found among its packed forms. kUnavailable
// where it has two others already.
Result<std::shared_ptr<Buffer>> PackWeights(const Problem& p, PackedConstants& constants,
                                            const Tensor& weight);

// Whether a packed form of that name was made here.
bool IsPackedForm(std::string_view form);

}  // namespace asc::winograd

#endif  // ASC_CORE_KERNELS_WINOGRAD_WEIGHTS_H_
