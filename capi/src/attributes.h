#ifndef ASC_CAPI_SRC_ATTRIBUTES_H_
#define ASC_CAPI_SRC_ATTRIBUTES_H_

#include "asc/attributes.h"
#include "capi/src/handle.h"
#include "core/graph/attributes.h"

struct asc_attributes : asc::capi::Handle<asc_attributes, asc::AttributeMap> {
  static constexpr std::string_view kName = "attribute list";
};

#endif  // ASC_CAPI_SRC_ATTRIBUTES_H_
