#ifndef ASC_CORE_OPS_SCALAR_H_
#define ASC_CORE_OPS_SCALAR_H_

#include "core/base/status.h"
#include "core/tensor/tensor.h"

namespace asc {

// A tensor of rank 0 of a floating or integer type; E5002 for other types.
Result<Tensor> ScalarOf(DataType type, double value);

}  // namespace asc

#endif  // ASC_CORE_OPS_SCALAR_H_
