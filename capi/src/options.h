#ifndef ASC_CAPI_SRC_OPTIONS_H_
#define ASC_CAPI_SRC_OPTIONS_H_

#include "asc/options.h"
#include "capi/src/handle.h"
#include "core/compile/options.h"

struct asc_compile_options : asc::capi::Handle<asc_compile_options, asc::CompileOptions> {
  static constexpr std::string_view kName = "list of compile options";
};

#endif  // ASC_CAPI_SRC_OPTIONS_H_
