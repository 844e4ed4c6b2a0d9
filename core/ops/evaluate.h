// Runs one operator at once, with its reference kernel: for constant folding, planning and eager calls.
#ifndef ASC_CORE_OPS_EVALUATE_H_
#define ASC_CORE_OPS_EVALUATE_H_

#include "core/graph/graph.h"

namespace asc {

// Infers from the actual values, allocates the outputs and runs the reference kernel on the calling thread. `inputs`: null for
// absent optional ones. Operators with regions or without a reference kernel are refused (E5033). `node_key` keys random numbers.
Result<std::vector<AnyValue>> Evaluate(const OpSchema& schema, const AttributeMap& attributes,
                                       const std::vector<const AnyValue*>& inputs, size_t output_count, RunState& run,
                                       uint64_t node_key = 0);

// The outputs that `context`'s inference promised, allocated where their extents are static and the operator does not make its
// outputs itself; none otherwise. `extents` of a blocked layout are not known here: plain row-major only.
Result<std::vector<AnyValue>> AllocateOutputs(InferContext& context, const std::shared_ptr<Allocator>& allocator);

}  // namespace asc

#endif  // ASC_CORE_OPS_EVALUATE_H_
