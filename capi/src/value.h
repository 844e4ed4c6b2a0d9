#ifndef ASC_CAPI_SRC_VALUE_H_
#define ASC_CAPI_SRC_VALUE_H_

#include "asc/value.h"
#include "capi/src/handle.h"
#include "core/tensor/any_value.h"

struct asc_value : asc::capi::Handle<asc_value, asc::AnyValue> {
  static constexpr std::string_view kName = "value";
};

namespace asc::capi {

// The tensor in a value; E5003 when it is of another kind.
Result<Tensor> TensorOf(const asc_value* value, std::string_view argument);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_VALUE_H_
