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

}  // namespace asc

#endif  // ASC_CORE_OPS_INFER_RULES_H_
