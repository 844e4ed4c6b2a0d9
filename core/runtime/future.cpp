#include "core/runtime/future.h"

namespace asc {

Future Future::Failed(Status status) {
  Future future;
  future.Set(std::move(status));
  return future;
}

bool Future::done() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result.has_value();
}

const Result<std::vector<AnyValue>>& Future::Wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->result.has_value(); });
  return *state_->result;
}

bool Future::WaitFor(std::chrono::nanoseconds timeout) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, timeout, [&] { return state_->result.has_value(); });
}

void Future::Set(Result<std::vector<AnyValue>> result) {
  std::vector<std::function<void(const Status&)>> callbacks;
  {
    const std::lock_guard lock(state_->mutex);
    state_->result = std::move(result);
    callbacks.swap(state_->callbacks);
    state_->changed.notify_all();
  }
  for (const auto& callback : callbacks) callback(state_->result->status());
}

void Future::Then(std::function<void(const Status&)> callback) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->result) {
      state_->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(state_->result->status());
}

}  // namespace asc
