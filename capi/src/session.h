#ifndef ASC_CAPI_SRC_SESSION_H_
#define ASC_CAPI_SRC_SESSION_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "asc/session.h"
#include "capi/src/handle.h"
#include "capi/src/type.h"
#include "core/runtime/session.h"

namespace asc::capi {

// Where a session's graph came from.
struct SessionSource {
  std::function<Result<std::unique_ptr<Graph>>()> graph;  // null: nothing is there but the session
  std::vector<std::string> inputs_with_default;           // constants of it
};

struct SessionState {
  explicit SessionState(std::shared_ptr<Session> made, SessionSource from = {});

  std::shared_ptr<Session> session;
  SessionSource source;
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
