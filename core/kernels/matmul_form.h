// MatMul, Gemm and asc.FusedMatMul in one form, for every kernel of theirs.
#ifndef ASC_CORE_KERNELS_MATMUL_FORM_H_
#define ASC_CORE_KERNELS_MATMUL_FORM_H_

#include "core/device/kernel.h"
#include "core/ops/activation.h"

namespace asc {

// y = activation(alpha * op(a) * op(b) + inputs 2 and 3), where op may swap the last two axes. Gemm's `beta` is not in it.
struct MatMulForm {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
  Activation activation;
};
Result<MatMulForm> MatMulFormOf(const Node& node);

// Whether all operands are plain float32 and none is empty, and a Gemm adds its third operand as it is.
bool IsPlainMatMul(const KernelRequest& request);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_MATMUL_FORM_H_
