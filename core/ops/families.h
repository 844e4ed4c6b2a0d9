// The explicit static table: every operator family adds its rows here. (Self-registering statics would vanish from static
// libraries.)
#ifndef ASC_CORE_OPS_FAMILIES_H_
#define ASC_CORE_OPS_FAMILIES_H_

#include "core/ops/op_builder.h"

namespace asc {

void AddElementwiseUnaryOps(OpTable& table);

// Calls all of the above.
void AddAllOps(OpTable& table);

}  // namespace asc

#endif  // ASC_CORE_OPS_FAMILIES_H_
