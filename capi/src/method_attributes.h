// What users write in a method call, made into the attributes of the ONNX operator.
#ifndef ASC_CAPI_SRC_METHOD_ATTRIBUTES_H_
#define ASC_CAPI_SRC_METHOD_ATTRIBUTES_H_

#include "core/graph/op_schema.h"

namespace asc::capi {

// - names of methods become ONNX's (`kernel_size` -> `kernel_shape`); E5003 with the nearest name
//   for unknown ones, and for one attribute given under both names
// - integers serve for floats, one number or text for a list of one
// - in convolutions and pools, one number stands for every spatial axis, and `padding` takes one
//   number for each axis (both ends alike) or for each end, or "same" or "valid"
// - names of element types serve for attributes that hold their number ("float16" for `to`)
// `rank` is that of the first input; -1 when unknown.
Result<AttributeMap> AttributesOfMethod(const OpSchema& schema, const AttributeMap& given,
                                        int64_t rank);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_METHOD_ATTRIBUTES_H_
