#include "core/runtime/overrides.h"

#include <algorithm>

#include "core/runtime/session.h"

namespace asc {

Result<std::shared_ptr<Session>> Overrides::Resolve(const Executable& plain,
                                                    std::vector<AnyValue>& values) {
  const size_t own = plain.inputs().size(), all = own + inputs_.ports.size();
  if (values.size() > all) {
    return InvalidArgument("the graph has ", own, " inputs and ", inputs_.ports.size(),
                           " that may be left out, given ", values.size());
  }
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(own);
  if (std::all_of(first, values.end(), [](const AnyValue& value) { return value.is_none(); })) {
    values.erase(first, values.end());
    return std::shared_ptr<Session>();
  }
  values.resize(all, AnyValue::None());
  for (size_t i = own; i < all; ++i) {
    if (values[i].is_none()) values[i] = inputs_.defaults[i - own];
  }
  const std::lock_guard lock(mutex_);
  if (session_ == nullptr) {
    ASC_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, inputs_.build());
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable,
                         Executable::Compile(std::move(graph), plain.device(), plain.options()));
    ASC_ASSIGN_OR_RETURN(session_, Session::Create(std::move(executable)));
  }
  return session_;
}

}  // namespace asc
