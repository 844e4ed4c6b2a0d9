// Futures and cancel tokens of asynchronous runs.
#ifndef ASC_CORE_RUNTIME_FUTURE_H_
#define ASC_CORE_RUNTIME_FUTURE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/any_value.h"

namespace asc {

// Thread-safe. A run that sees it set stops before its next step with E5013.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// A handle to a result that comes later; copies share it. Thread-safe.
class Future {
 public:
  Future() : state_(std::make_shared<State>()) {}
  static Future Failed(Status status);

  bool done() const;
  // Blocks; the same answer each time.
  const Result<std::vector<AnyValue>>& Wait() const;
  // False when the time runs out first.
  bool WaitFor(std::chrono::nanoseconds timeout) const;

  // For the producer: exactly once.
  void Set(Result<std::vector<AnyValue>> result);
  // Runs `callback` when the result is there (at once if it is already), on the producer's thread.
  void Then(std::function<void(const Status&)> callback) const;

 private:
  struct State {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::optional<Result<std::vector<AnyValue>>> result;
    std::vector<std::function<void(const Status&)>> callbacks;
  };
  std::shared_ptr<State> state_;
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_FUTURE_H_
