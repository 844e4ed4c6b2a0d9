// What a call of DFT or STFT asks for, read at run.
#ifndef ASC_CORE_OPS_FOURIER_H_
#define ASC_CORE_OPS_FOURIER_H_

#include "core/graph/op_schema.h"

namespace asc {

struct DftCall {
  size_t axis;
  int64_t length;  // of the transform, 1 or more
  bool inverse, onesided;
};
Result<DftCall> ReadDft(const KernelContext& context);

struct StftCall {
  int64_t frame, step;
  const Tensor* window;  // null: ones
};
// Frames fit the signal and the window.
Result<StftCall> ReadStft(KernelContext& context);

}  // namespace asc

#endif  // ASC_CORE_OPS_FOURIER_H_
