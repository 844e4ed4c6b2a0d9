// How to say a reshape whose result is known.
#ifndef ASC_CORE_PASSES_RESHAPE_TARGET_H_
#define ASC_CORE_PASSES_RESHAPE_TARGET_H_

#include <optional>

#include "core/tensor/tensor.h"

namespace asc {

// The `shape` operand of a Reshape that makes `to` of `from`, for all values of their symbols:
// constants where extents are constant, 0 where an extent is copied, at most one -1. nullopt where
// that is not possible.
std::optional<Tensor> ReshapeTarget(const Shape& from, const Shape& to);

}  // namespace asc

#endif  // ASC_CORE_PASSES_RESHAPE_TARGET_H_
