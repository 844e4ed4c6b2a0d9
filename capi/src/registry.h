#ifndef ASC_CAPI_SRC_REGISTRY_H_
#define ASC_CAPI_SRC_REGISTRY_H_

#include "core/graph/op_schema.h"

namespace asc::capi {

// By method name or ONNX name ("conv2d", "Conv", "com.example.MyOp"); E5033 naming the nearest when
// there is none.
Result<const OpSchema*> FindOperator(std::string_view name);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_REGISTRY_H_
