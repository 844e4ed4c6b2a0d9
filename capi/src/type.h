#ifndef ASC_CAPI_SRC_TYPE_H_
#define ASC_CAPI_SRC_TYPE_H_

#include <vector>

#include "asc/type.h"
#include "capi/src/handle.h"
#include "core/tensor/any_value.h"

namespace asc::capi {

// A type with the texts that its getters lend.
struct TypeWithTexts {
  explicit TypeWithTexts(ValueType value_type);
  ValueType type;
  std::string text;
  std::vector<std::string> extents;
};

Result<DataType> ToDataType(asc_data_type type);

}  // namespace asc::capi

struct asc_type : asc::capi::Handle<asc_type, asc::capi::TypeWithTexts> {
  static constexpr std::string_view kName = "type";
};

#endif  // ASC_CAPI_SRC_TYPE_H_
