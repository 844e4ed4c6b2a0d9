// Inputs with a default: a run that gives none of them uses an executable in which the defaults are constants; one that gives
// any uses another, compiled on first need.
#ifndef ASC_CORE_RUNTIME_OVERRIDES_H_
#define ASC_CORE_RUNTIME_OVERRIDES_H_

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/compile/executable.h"

namespace asc {

class Session;

struct OverridableInputs {
  std::vector<Port> ports;
  std::vector<Tensor> defaults;  // one a port
  // The graph with the ports as inputs, after all others.
  std::function<Result<std::unique_ptr<Graph>>()> build;
};

// Thread-safe.
class Overrides {
 public:
  explicit Overrides(OverridableInputs inputs) : inputs_(std::move(inputs)) {}

  const std::vector<Port>& ports() const { return inputs_.ports; }

  // `values` are the inputs of `plain`, followed by values for ports or None. Where none is given they are cut to the inputs of
  // `plain`, and the result is null; otherwise they are filled up, and the result is the session that takes them.
  Result<std::shared_ptr<Session>> Resolve(const Executable& plain, std::vector<AnyValue>& values);

 private:
  const OverridableInputs inputs_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_OVERRIDES_H_
