#include "core/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "core/base/parallel.h"
#include "core/ops/cost.h"
#include "core/ops/evaluate.h"
#include "core/runtime/control_flow.h"

namespace asc {
namespace {
// Deeper nesting than any real model has; keeps the native stack safe.
constexpr int kDeepestNesting = 200;

// One run of one plan: the frame, bound to this run's values.
class PlanRun {
 public:
  PlanRun(const Executable& executable, const Plan& plan, Execution& execution)
      : executable_(executable), plan_(plan), execution_(execution) {}
  ~PlanRun() {
    if (frame_) plan_.GiveBack(std::move(frame_), executable_.arenas());
  }
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  Result<std::vector<AnyValue>> Run(const std::vector<const AnyValue*>& inputs) {
    ASC_ASSIGN_OR_RETURN(frame_, plan_.TakeFrame(executable_.arenas()));
    ASC_RETURN_IF_ERROR(Bind(inputs));
    if (execution_.profiler != nullptr) trace_ = std::make_unique<RunTrace>(execution_.profiler->Begin(executable_, plan_, execution_.depth));
    const AnyValue* const* step_inputs = frame_->step_inputs.data();
    AnyValue* const* step_outputs = frame_->step_outputs.data();
    for (const Step& step : plan_.steps) {
      if (execution_.cancel != nullptr && execution_.cancel->cancelled()) {
        return Error(Code::kCancelled, "the run was cancelled");
      }
      if (Status status = RunStep(step, step_inputs, step_outputs); !status.ok()) {
        return step.node ? std::move(status).WithNode(step.node->OriginText()) : status;
      }
      if (trace_ != nullptr) MarkEnd(step, step_inputs, step_outputs);
      step_inputs += step.inputs.size();
      step_outputs += step.outputs.size();
      for (const int slot : step.release) ValueOf(slot) = AnyValue();
    }
    if (trace_ != nullptr) execution_.profiler->End(std::move(*trace_));
    return TakeOutputs(inputs);
  }

 private:
  AnyValue& ValueOf(int slot) { return frame_->values[static_cast<size_t>(slot)]; }

  Status Bind(const std::vector<const AnyValue*>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (plan_.input_slots[i] >= 0) ValueOf(plan_.input_slots[i]) = *inputs[i];
    }
    for (size_t i = 0; i < plan_.variable_slots.size(); ++i) {
      if (plan_.variable_slots[i] >= 0) ValueOf(plan_.variable_slots[i]) = (*execution_.variables)[i];
    }
    for (const int index : plan_.bound_roots) {
      const Slot& slot = plan_.slots[static_cast<size_t>(index)];
      const bool given = slot.kind == StorageKind::kOutput && execution_.outputs != nullptr &&
                         slot.index < execution_.outputs->size() && (*execution_.outputs)[slot.index].defined();
      if (slot.kind == StorageKind::kVariable) {
        ValueOf(index) = (*execution_.variables)[slot.index];  // a later version lives in the same memory
      } else if (given) {
        // The caller's tensor has the origin shape; its memory serves the owner of the bytes, whatever shape that has.
        const Tensor& tensor = (*execution_.outputs)[slot.index];
        ValueOf(index) = Tensor::Unchecked(slot.dtype, slot.dims, tensor.buffer(), tensor.offset());
      } else {
        Result<Tensor> made = Tensor::Allocate(slot.dtype, slot.dims, executable_.device().allocator());
        if (!made.ok()) return Located(std::move(made).status(), slot);
        ValueOf(index) = std::move(made).value();
      }
    }
    for (const int view : plan_.bound_views) {
      const Slot& slot = plan_.slots[static_cast<size_t>(view)];
      const Tensor& root = ValueOf(slot.root).tensor();
      ValueOf(view) = Tensor::Unchecked(slot.dtype, slot.dims, root.buffer(), root.offset() + slot.root_offset);
    }
    return Ok();
  }

  // Names the node that makes the slot's value.
  Status Located(Status status, const Slot& slot) const {
    const Graph& graph = executable_.graph();
    const NodeId producer = graph.value(slot.value).producer;
    return producer.valid() ? std::move(status).WithNode(graph.node(producer).OriginText()) : status;
  }

  Status RunStep(const Step& step, const AnyValue* const* inputs, AnyValue* const* outputs) {
    if (step.kernel) return RunKernel(step, *step.kernel, inputs, outputs, step.outputs.size());
    const std::vector<const AnyValue*> values(inputs, inputs + step.inputs.size());
    if (step.dynamic) {
      ASC_RETURN_IF_ERROR(RunDynamic(step, values, outputs));
    } else {
      ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> results, RunRegions(executable_, *step.node, values, execution_));
      for (size_t i = 0; i < step.outputs.size() && i < results.size(); ++i) {
        if (outputs[i] != nullptr) *outputs[i] = std::move(results[i]);
      }
    }
    return CheckPromises(step);
  }

  Status RunKernel(const Step& step, const Kernel& kernel, const AnyValue* const* inputs, AnyValue* const* outputs,
                   size_t output_count) {
    static const OpSchema* copy = new OpSchema;
    static const AttributeMap* none = new AttributeMap;
    KernelContext context(step.node ? *step.node->schema : *copy, step.node ? step.node->attributes : *none, inputs,
                          step.inputs.size(), outputs, output_count, execution_.state, step.key);
    if (step.scratch_bytes > 0) context.set_planned_scratch(frame_->arena.memory->data() + step.scratch_offset);
    context.set_state(frame_->states[static_cast<size_t>(&step - plan_.steps.data())].get());
    return kernel.Run(context);
  }

  void MarkEnd(const Step& step, const AnyValue* const* inputs, const AnyValue* const* outputs) {
    trace_->ends.push_back(execution_.profiler->Now());
    if (step.kernel) return;
    RunTrace::Detail detail{trace_->ends.size() - 1, std::exchange(execution_.nested_ns, 0), {}, {}};
    if (step.dynamic) {
      detail.kernel = dynamic_kernel_->name();
      const auto types_of = [](const AnyValue* const* values, size_t count) {
        std::vector<ValueType> types(count);
        for (size_t i = 0; i < count; ++i) {
          if (values[i] != nullptr) types[i] = values[i]->Type();
        }
        return types;
      };
      detail.cost = EstimateCost(*step.node->schema, types_of(inputs, step.inputs.size()), types_of(outputs, step.outputs.size()),
                                 step.node->attributes);
    }
    trace_->details.push_back(std::move(detail));
  }

  // Infers from the values at hand, allocates, picks the kernel for these extents.
  Status RunDynamic(const Step& step, const std::vector<const AnyValue*>& inputs, AnyValue* const* outputs) {
    const OpSchema& schema = *step.node->schema;
    std::vector<ValueType> types(inputs.size());
    std::vector<InferInput> infer_inputs(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      types[i] = inputs[i]->Type();
      // An empty map does not tell what it would hold.
      if (types[i].kind == ValueKind::kMap) types[i] = executable_.graph().value(step.node->inputs[i]).type;
      infer_inputs[i].type = &types[i];
      if (inputs[i]->is_tensor()) infer_inputs[i].constant = &inputs[i]->tensor();
    }
    InferContext context(schema, step.node->attributes, std::move(infer_inputs), step.outputs.size());
    if (schema.infer != nullptr) ASC_RETURN_IF_ERROR(schema.infer(context));
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> made, AllocateOutputs(context, execution_.state.allocator));
    for (size_t i = 0; i < made.size(); ++i) {
      if (outputs[i] != nullptr) *outputs[i] = std::move(made[i]);
    }
    std::vector<ValueType> output_types;
    for (InferOutput& output : context.outputs()) output_types.push_back(std::move(output.type));
    ASC_ASSIGN_OR_RETURN(const std::shared_ptr<const Kernel> kernel, step.dynamic->For(inputs, output_types));
    if (trace_ != nullptr) dynamic_kernel_ = kernel;
    // Kernels made while running have no place in the arena: their scratch is a buffer of its own.
    std::shared_ptr<Buffer> scratch;
    KernelContext kernel_context(schema, step.node->attributes, inputs.data(), inputs.size(), outputs, step.outputs.size(),
                                 execution_.state, step.key);
    if (kernel->scratch_bytes() > 0) {
      ASC_ASSIGN_OR_RETURN(scratch, kernel_context.Scratch(kernel->scratch_bytes()));
      kernel_context.set_planned_scratch(scratch->data());
    }
    return kernel->Run(kernel_context);
  }

  // Later steps were planned for extents that inference promised.
  Status CheckPromises(const Step& step) {
    for (const int index : step.outputs) {
      if (index < 0) continue;
      const Slot& slot = plan_.slots[static_cast<size_t>(index)];
      if (!slot.is_static || !ValueOf(index).is_tensor()) continue;
      const Tensor& tensor = ValueOf(index).tensor();
      if (tensor.dims() != slot.dims || tensor.dtype() != slot.dtype) {
        return ShapeError("output '", executable_.graph().value(slot.value).name, "' is ", tensor.TypeString(),
                          ", but the model says ", DataTypeName(slot.dtype), slot.dims);
      }
    }
    return Ok();
  }

  Result<std::vector<AnyValue>> TakeOutputs(const std::vector<const AnyValue*>& inputs) {
    std::vector<AnyValue> outputs;
    outputs.reserve(plan_.output_slots.size());
    for (size_t i = 0; i < plan_.output_slots.size(); ++i) {
      const int index = plan_.output_slots[i];
      const Slot& slot = plan_.slots[static_cast<size_t>(index)];
      const Slot& root = plan_.slots[static_cast<size_t>(slot.root)];
      AnyValue value = ValueOf(index);
      const bool own = root.kind == StorageKind::kOutput && root.index == i;
      if (!own && value.is_tensor()) {
        ASC_RETURN_IF_ERROR(Detach(value, root.kind == StorageKind::kRun, i, inputs));
      } else if (!own && execution_.depth == 0) {
        // Bodies pass sequences on as they are: what they share is never written to.
        ASC_RETURN_IF_ERROR(DetachParts(value, inputs));
      }
      outputs.push_back(std::move(value));
    }
    return outputs;
  }

  // Gives output `i` memory of its own: the caller's tensor where there is one.
  Status Detach(AnyValue& value, bool made_in_run, size_t i, const std::vector<const AnyValue*>& inputs) {
    const Tensor& from = value.tensor();
    const bool given = execution_.outputs != nullptr && i < execution_.outputs->size() && (*execution_.outputs)[i].defined();
    if (given) {
      Tensor to = (*execution_.outputs)[i];
      if (to.dims() != from.dims() || to.dtype() != from.dtype()) {
        return ShapeError("output '", executable_.outputs()[i].name, "' is ", from.TypeString(), ", the array given for it ",
                          to.TypeString());
      }
      if (from.dtype() == DataType::kString) {
        std::copy_n(from.data<std::string>(), from.size(), to.data<std::string>());
      } else if (from.bytes() > 0) {
        std::memcpy(to.raw(), from.raw(), from.bytes());
      }
      value = std::move(to);
      return Ok();
    }
    if (made_in_run && Claim(from, inputs)) return Ok();
    ASC_ASSIGN_OR_RETURN(value, from.Clone(executable_.device().allocator()));
    return Ok();
  }

  // The same for the tensors in a sequence, an optional or a map.
  Status DetachParts(AnyValue& value, const std::vector<const AnyValue*>& inputs) {
    if (value.is_tensor()) {
      if (Claim(value.tensor(), inputs)) return Ok();
      ASC_ASSIGN_OR_RETURN(value, value.tensor().Clone(executable_.device().allocator()));
      return Ok();
    }
    return value.TransformParts([&](AnyValue& part) { return DetachParts(part, inputs); });
  }

  // Whether the memory of `tensor` is neither an input's nor another output's; it is this output's from now on.
  bool Claim(const Tensor& tensor, const std::vector<const AnyValue*>& inputs) {
    if (!inputs_taken_) {
      for (const AnyValue* input : inputs) {
        input->VisitTensors([&](const Tensor& part) { taken_.insert(part.buffer().get()); });
      }
      inputs_taken_ = true;
    }
    return !tensor.buffer()->read_only() && taken_.insert(tensor.buffer().get()).second;
  }

  const Executable& executable_;
  const Plan& plan_;
  Execution& execution_;
  std::unique_ptr<Frame> frame_;
  std::unique_ptr<RunTrace> trace_;                // null: nothing is timed
  std::shared_ptr<const Kernel> dynamic_kernel_;   // of the last step without a kernel of its own, where it is traced
  std::set<const Buffer*> taken_;  // buffers of inputs, and those that an output has already
  bool inputs_taken_ = false;      // whether those of inputs are in the set
};
}  // namespace

Result<std::vector<AnyValue>> Execute(const Executable& executable, const Plan& plan,
                                      const std::vector<const AnyValue*>& inputs, Execution& execution) {
  const ScopedThreads team(plan.threads);
  return PlanRun(executable, plan, execution).Run(inputs);
}

Result<std::vector<AnyValue>> ExecuteBody(const Executable& body, const std::vector<const AnyValue*>& inputs,
                                          Execution& execution) {
  if (execution.depth >= kDeepestNesting) {
    return InvalidArgument("control flow is nested more than ", kDeepestNesting, " deep");
  }
  ASC_RETURN_IF_ERROR(body.CheckInputTypes(inputs));
  ASC_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, body.PlanFor(inputs));
  Execution inner{execution.state, execution.cancel, nullptr, nullptr, execution.depth + 1, execution.profiler};
  if (execution.profiler == nullptr) return Execute(body, *plan, inputs, inner);
  const int64_t begin = execution.profiler->Now();
  Result<std::vector<AnyValue>> result = Execute(body, *plan, inputs, inner);
  execution.nested_ns += execution.profiler->Now() - begin;
  return result;
}

}  // namespace asc
