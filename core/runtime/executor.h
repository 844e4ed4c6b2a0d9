// The executor: runs the steps of a plan.
#ifndef ASC_CORE_RUNTIME_EXECUTOR_H_
#define ASC_CORE_RUNTIME_EXECUTOR_H_

#include <memory>
#include <vector>

#include "core/compile/executable.h"
#include "core/runtime/future.h"
#include "core/runtime/profiler.h"

namespace asc {

// What one run carries through all graphs that it enters.
struct Execution {
  RunState state;
  const CancelToken* cancel = nullptr;        // null: cannot be cancelled
  std::vector<Tensor>* variables = nullptr;   // by index of Graph::variables(); top graph only
  const std::vector<Tensor>* outputs = nullptr;  // tensors to write outputs into; undefined ones are allocated
  int depth = 0;                              // of nested bodies
  Profiler* profiler = nullptr;               // null: nothing is timed
  int64_t nested_ns = 0;                      // time of the bodies that were run so far, where it is taken
};

// Runs `plan`, which was made for these inputs, on the calling thread with a team of plan.threads. Results never share memory with
// inputs or constants of the graph.
Result<std::vector<AnyValue>> Execute(const Executable& executable, const Plan& plan,
                                      const std::vector<const AnyValue*>& inputs, Execution& execution);

// Plans (or finds the plan) and executes a body, on the calling thread.
Result<std::vector<AnyValue>> ExecuteBody(const Executable& body, const std::vector<const AnyValue*>& inputs,
                                          Execution& execution);

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_EXECUTOR_H_
