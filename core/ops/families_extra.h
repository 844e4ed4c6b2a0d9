// Families beside those on tensors of families.h, which every file of the others includes: image
// files, text and steps of optimisers.
#ifndef ASC_CORE_OPS_FAMILIES_EXTRA_H_
#define ASC_CORE_OPS_FAMILIES_EXTRA_H_

#include "core/ops/op_builder.h"

namespace asc {

void AddImageDecoderOps(OpTable& table);
void AddOptimizerStepOps(OpTable& table);
void AddTfIdfOps(OpTable& table);

}  // namespace asc

#endif  // ASC_CORE_OPS_FAMILIES_EXTRA_H_
