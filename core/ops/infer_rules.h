// Shape rules that many operators share.
#ifndef ASC_CORE_OPS_INFER_RULES_H_
#define ASC_CORE_OPS_INFER_RULES_H_

#include "core/graph/op_schema.h"

namespace asc {

// Output 0 has the first input's type and shape.
Status InferSameAsFirst(InferContext& context);
// Output 0: the broadcast shape of all inputs, with the first input's element type.
Status InferBroadcast(InferContext& context);
// Output 0: the broadcast shape of all inputs, bool.
Status InferBroadcastBool(InferContext& context);

// The broadcast shape of all inputs that are there.
Result<Shape> BroadcastInputs(const InferContext& context);

// The elements of an int32 or int64 input of rank 0 or 1, where they are known as expressions and
// few enough to be a shape, axes or the like; for shape rules that carry them on to the output.
std::optional<std::vector<Dim>> KnownElements(const InferContext& context, size_t i);
// The elements of all inputs, each broadcast to the common length of the inputs; nullopt unless all
// are known.
std::optional<std::vector<std::vector<Dim>>> KnownElementsBroadcast(const InferContext& context);
// SetOutputDims for an output whose type is set; drops elements that the output's type cannot hold.
void SetKnownElements(InferContext& context, size_t i, std::vector<Dim> elements);

}  // namespace asc

#endif  // ASC_CORE_OPS_INFER_RULES_H_
