// The families of the domain ai.onnx.ml, which families.cpp adds with the others.
#ifndef ASC_CORE_OPS_ML_FAMILIES_H_
#define ASC_CORE_OPS_ML_FAMILIES_H_

#include "core/ops/op_builder.h"

namespace asc {

void AddMlEncoderOps(OpTable& table);
void AddMlFeatureOps(OpTable& table);
void AddMlLinearOps(OpTable& table);
void AddMlMapOps(OpTable& table);
void AddMlSvmOps(OpTable& table);
void AddMlTreeOps(OpTable& table);

}  // namespace asc

#endif  // ASC_CORE_OPS_ML_FAMILIES_H_
