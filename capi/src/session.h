#ifndef ASC_CAPI_SRC_SESSION_H_
#define ASC_CAPI_SRC_SESSION_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "asc/session.h"
#include "capi/src/handle.h"
#include "capi/src/type.h"
#include "core/runtime/session.h"

namespace asc::capi {

struct SessionState {
  explicit SessionState(std::shared_ptr<Session> made);

  std::shared_ptr<Session> session;
  // Handles that are lent for the ports' types.
  std::vector<std::shared_ptr<asc_type>> input_types, output_types, overridable_types;
};

// The plan for inputs of these types, or for the fixed types of the ports when there are none.
Result<std::shared_ptr<const Plan>> PlanOf(const Session& session,
                                           const std::vector<ValueType>& types);

}  // namespace asc::capi

struct asc_session : asc::capi::Handle<asc_session, asc::capi::SessionState> {
  static constexpr std::string_view kName = "session";
};

#endif  // ASC_CAPI_SRC_SESSION_H_
