#include "core/runtime/session.h"

#include <algorithm>

#include "core/runtime/driver.h"
#include "core/runtime/executor.h"

namespace asc {
namespace {
std::vector<const AnyValue*> Pointers(const std::vector<AnyValue>& values) {
  std::vector<const AnyValue*> out;
  out.reserve(values.size());
  for (const AnyValue& value : values) out.push_back(&value);
  return out;
}
}  // namespace

Session::Session(std::shared_ptr<Executable> executable, uint64_t seed, OverridableInputs overridable)
    : executable_(std::move(executable)), driver_(Driver::ForDevice(executable_->device().properties().id)),
      stream_(Stream::Create(executable_->device().properties().id)), next_seed_(seed),
      overrides_(std::move(overridable)) {}

Result<std::shared_ptr<Session>> Session::Create(std::shared_ptr<Executable> executable, uint64_t seed,
                                                 OverridableInputs overridable) {
  std::shared_ptr<Session> session(new Session(std::move(executable), seed, std::move(overridable)));
  const Graph& graph = session->executable_->graph();
  for (const Variable& variable : graph.variables()) {
    const Tensor& initial = graph.value(variable.initial).constant;
    ASC_ASSIGN_OR_RETURN(Tensor storage, initial.Clone(session->executable_->device().allocator()));
    session->variables_.push_back(std::move(storage));
  }
  return session;
}

Status Session::CheckOutputs(const RunOptions& options) const {
  if (options.outputs.size() > executable_->outputs().size()) {
    return InvalidArgument("the graph has ", executable_->outputs().size(), " outputs, given arrays for ", options.outputs.size());
  }
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    if (!options.outputs[i].defined()) continue;
    const Port& port = executable_->outputs()[i];
    if (!port.type.is_tensor() || port.type.dtype != options.outputs[i].dtype()) {
      return TypeError("output '", port.name, "' is ", port.type, ", the array given for it ", options.outputs[i].TypeString());
    }
    if (options.outputs[i].buffer()->read_only()) {
      return InvalidArgument("the array given for output '", port.name, "' is read-only");
    }
  }
  return Ok();
}

Result<std::vector<AnyValue>> Session::Run(std::vector<AnyValue> inputs, const RunOptions& options) {
  if (options.stream != nullptr) {
    const Future future = RunAsync(std::move(inputs), options);
    return future.Wait();
  }
  if (inputs.size() > executable_->inputs().size() && !overridable().empty()) {
    ASC_ASSIGN_OR_RETURN(const std::shared_ptr<Session> other, overrides_.Resolve(*executable_, inputs));
    if (other != nullptr) return other->Run(std::move(inputs), options);
  }
  const std::vector<const AnyValue*> pointers = Pointers(inputs);
  ASC_RETURN_IF_ERROR(executable_->CheckInputs(pointers));
  ASC_RETURN_IF_ERROR(CheckOutputs(options));
  std::shared_ptr<const Plan> plan = executable_->CachedPlan(pointers);
  const bool alone = executable_->threads() == 1 || (plan && plan->threads == 1);
  if (alone) return RunHere(plan, pointers, options);
  Result<std::vector<AnyValue>> result = InternalError("the run did not happen");
  driver_->RunAndWait([&] { result = RunHere(plan, pointers, options); });
  return result;
}

Future Session::RunAsync(std::vector<AnyValue> inputs, RunOptions options) {
  if (inputs.size() > executable_->inputs().size() && !overridable().empty()) {
    Result<std::shared_ptr<Session>> other = overrides_.Resolve(*executable_, inputs);
    if (!other.ok()) return Future::Failed(std::move(other).status());
    if (*other != nullptr) {
      // In the order of this session's runs.
      if (options.stream == nullptr) options.stream = stream_;
      return (*other)->RunAsync(std::move(inputs), std::move(options));
    }
  }
  Status status = executable_->CheckInputs(Pointers(inputs));
  if (status.ok()) status = CheckOutputs(options);
  if (!status.ok()) return Future::Failed(std::move(status));
  Future future;
  const std::shared_ptr<Stream> stream = options.stream ? options.stream : stream_;
  options.stream = nullptr;
  auto keep = shared_from_this();
  // Made now: when memory has run out there is none for the status that says so.
  Status no_memory = Error(Code::kOutOfMemory, "the system has no more memory");
  stream->Enqueue([keep, future, no_memory = std::move(no_memory), inputs = std::move(inputs), options = std::move(options)]() mutable {
    Result<std::vector<AnyValue>> result = std::move(no_memory);
    try {
      result = keep->RunHere(nullptr, Pointers(inputs), options);
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& error) {  // may not end the driver's thread, and the process with it
      result = InternalError("unexpected failure: ", error.what());
    }
    // Whoever waits may rely on getting its buffers back.
    inputs.clear();
    options = RunOptions();
    future.Set(std::move(result));
  });
  return future;
}

Result<std::vector<AnyValue>> Session::RunHere(std::shared_ptr<const Plan> plan, const std::vector<const AnyValue*>& inputs,
                                               const RunOptions& options) {
  if (options.cancel && options.cancel->cancelled()) return Error(Code::kCancelled, "the run was cancelled");
  if (!plan) {
    ASC_ASSIGN_OR_RETURN(plan, executable_->PlanFor(inputs));
  }
  ASC_RETURN_IF_ERROR(CheckOutputExtents(*plan, options));
  std::unique_lock<std::mutex> lock;
  if (!variables_.empty()) lock = std::unique_lock(variables_mutex_);
  Execution execution;
  execution.state.allocator = executable_->device().allocator();
  execution.state.seed = options.seed ? *options.seed : next_seed_.fetch_add(1, std::memory_order_relaxed);
  execution.cancel = options.cancel.get();
  execution.variables = &variables_;
  execution.outputs = options.outputs.empty() ? nullptr : &options.outputs;
  const std::shared_ptr<Profiler> profiler = Profiler::Collecting();
  execution.profiler = profiler.get();
  return Execute(*executable_, *plan, inputs, execution);
}

Status Session::CheckOutputExtents(const Plan& plan, const RunOptions& options) const {
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    if (!options.outputs[i].defined()) continue;
    const Slot& slot = plan.slots[static_cast<size_t>(plan.output_slots[i])];
    if (slot.is_static && slot.dims != options.outputs[i].dims()) {
      return ShapeError("output '", executable_->outputs()[i].name, "' has shape ", slot.dims, ", the array given for it ",
                        options.outputs[i].dims());
    }
  }
  return Ok();
}

Result<size_t> Session::FindVariable(std::string_view name) const {
  std::vector<std::string> names;
  const std::vector<Variable>& all = executable_->graph().variables();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
    names.push_back(all[i].name);
  }
  const std::string nearest = NearestMatch(name, names);
  Status status = Error(Code::kNotFound, "there is no variable '", name, "'; the variables are ", names);
  return nearest.empty() ? status : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

Result<Tensor> Session::GetVariable(std::string_view name) {
  ASC_ASSIGN_OR_RETURN(const size_t index, FindVariable(name));
  const std::lock_guard lock(variables_mutex_);
  return variables_[index].Clone();
}

Status Session::SetVariable(std::string_view name, const Tensor& value) {
  ASC_ASSIGN_OR_RETURN(const size_t index, FindVariable(name));
  const std::lock_guard lock(variables_mutex_);
  Tensor& storage = variables_[index];
  if (value.dtype() != storage.dtype()) {
    return TypeError("variable '", name, "' is ", storage.TypeString(), ", given ", value.TypeString());
  }
  if (value.dims() != storage.dims()) {
    return ShapeError("variable '", name, "' is ", storage.TypeString(), ", given ", value.TypeString());
  }
  // Runs hold shares of the storage only while they hold the lock.
  ASC_ASSIGN_OR_RETURN(storage, value.Clone(executable_->device().allocator()));
  return Ok();
}

}  // namespace asc
