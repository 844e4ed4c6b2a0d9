// Constant right operands in the form that the micro-kernels read.
#ifndef ASC_CORE_KERNELS_GEMM_WEIGHTS_H_
#define ASC_CORE_KERNELS_GEMM_WEIGHTS_H_

#include "core/device/kernel.h"

namespace asc::gemm {

// The constant matrix `weight` of k * n elements as packed panels (Pack): stored as [k, n], or as [n, k] where it
// is `transposed`. Made once, a slice of a lazy weight at a time, on the team. kUnavailable when the
// constant has other forms already and may not have one more.
Result<std::shared_ptr<Buffer>> PackWeight(PackedConstants& constants, const Tensor& weight,
                                           int64_t k, int64_t n, bool transposed);

}  // namespace asc::gemm

#endif  // ASC_CORE_KERNELS_GEMM_WEIGHTS_H_
