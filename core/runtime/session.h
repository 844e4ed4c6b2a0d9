// Session: an executable with what runs need around it: the state of its variables, random seeds, and the way to its device's
// driver thread. Thread-safe: many threads may call Run; runs of a graph with variables are taken one after the other.
#ifndef ASC_CORE_RUNTIME_SESSION_H_
#define ASC_CORE_RUNTIME_SESSION_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/compile/executable.h"
#include "core/runtime/driver.h"
#include "core/runtime/future.h"
#include "core/runtime/overrides.h"
#include "core/runtime/stream.h"

namespace asc {

struct RunOptions {
  std::shared_ptr<CancelToken> cancel;  // null: cannot be cancelled
  std::shared_ptr<Stream> stream;       // null: the session's own stream
  // Tensors to write outputs into, by output position; undefined ones are allocated. Type and extents must fit (E5001, E5002).
  std::vector<Tensor> outputs;
  // Seed of this run's random numbers; unset: the session's, moved on with every run.
  std::optional<uint64_t> seed;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // `overridable`: inputs that may be left out.
  static Result<std::shared_ptr<Session>> Create(std::shared_ptr<Executable> executable, uint64_t seed = 0,
                                                 OverridableInputs overridable = {});

  const Executable& executable() const { return *executable_; }
  const std::vector<Port>& overridable() const { return overrides_.ports(); }

  // Values in the order of executable().inputs(), and after them, where any is given, those of overridable() (None for the
  // default); gives those of outputs(). Blocks: enqueue and wait; a run that needs no team
  // of threads is done on the caller when the stream is idle.
  Result<std::vector<AnyValue>> Run(std::vector<AnyValue> inputs, const RunOptions& options = {});
  // Enqueues. The run owns its inputs until it is done; the caller must not write to their buffers before. Failures, of checks
  // too, arrive in the future.
  Future RunAsync(std::vector<AnyValue> inputs, RunOptions options = {});

  // The current contents of a variable, a copy; E5004 with the nearest name when there is none.
  Result<Tensor> GetVariable(std::string_view name);
  // E5001/E5002 when type or extents differ.
  Status SetVariable(std::string_view name, const Tensor& value);

 private:
  Session(std::shared_ptr<Executable> executable, uint64_t seed, OverridableInputs overridable);
  // On the calling thread, which is the driver's when the plan wants a team; makes the plan when it is null.
  Result<std::vector<AnyValue>> RunHere(std::shared_ptr<const Plan> plan, const std::vector<const AnyValue*>& inputs,
                                        const RunOptions& options);
  Status CheckOutputs(const RunOptions& options) const;
  Status CheckOutputExtents(const Plan& plan, const RunOptions& options) const;
  Result<size_t> FindVariable(std::string_view name) const;

  std::shared_ptr<Executable> executable_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<Stream> stream_;
  std::atomic<uint64_t> next_seed_;
  Overrides overrides_;
  std::mutex variables_mutex_;
  std::vector<Tensor> variables_;  // by index of Graph::variables()
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_SESSION_H_
