// What goes into a run and comes out of it.
#ifndef ASC_CAPI_SRC_RUN_H_
#define ASC_CAPI_SRC_RUN_H_

#include <vector>

#include "asc/session.h"
#include "capi/src/handle.h"
#include "core/runtime/session.h"

struct asc_cancel_token : asc::capi::Handle<asc_cancel_token, std::shared_ptr<asc::CancelToken>> {
  static constexpr std::string_view kName = "cancel token";
};

struct asc_run_options : asc::capi::Handle<asc_run_options, asc::RunOptions> {
  static constexpr std::string_view kName = "list of run options";
};

struct asc_future : asc::capi::Handle<asc_future, asc::Future> {
  static constexpr std::string_view kName = "future";
};

namespace asc::capi {

// NULL is an optional that holds nothing.
Result<std::vector<AnyValue>> InputsOf(const asc_value* const* inputs, size_t count);
Status CheckOutputCount(size_t expected, size_t given);
// Makes a handle for each value; all or none.
Status HandOut(std::vector<AnyValue> values, asc_value** outputs);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_RUN_H_
