// Operators whose result has the elements of their first operand in the same order.
#ifndef ASC_CORE_OPS_VIEW_H_
#define ASC_CORE_OPS_VIEW_H_

#include "core/graph/op_schema.h"

namespace asc {

// True for Identity, Reshape, Flatten, Squeeze and Unsqueeze.
bool KeepsElements(const OpSchema& schema);

}  // namespace asc

#endif  // ASC_CORE_OPS_VIEW_H_
