#include "core/compile/planner.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/compile/dynamic_step.h"
#include "core/compile/kernel_choice.h"
#include "core/compile/memory_check.h"
#include "core/compile/memory_plan.h"
#include "core/compile/tuning.h"
#include "core/compile/views.h"
#include "core/ops/cost.h"
#include "core/ops/evaluate.h"

namespace asc {
namespace {
// Values that extents decide are shape arithmetic: small. Larger results stay steps.
constexpr size_t kMostKnownBytes = 64 << 10;
// Below this much work (flops plus bytes) handing over to the team costs more than it gains.
constexpr double kForkJoinWork = 1e6;

class CopyStep : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    const Tensor& from = context.input(0);
    if (from.bytes() > 0) std::memcpy(context.output(0).raw(), from.raw(), from.bytes());
    return Ok();
  }
  std::string_view name() const override { return "copy"; }
};

ValueType Bind(const ValueType& type, const DimBindings& bindings) {
  if (!type.is_tensor() || !type.shape.has_rank()) return type;
  ValueType out = type;
  for (size_t i = 0; i < out.shape.rank(); ++i) {
    if (const auto value = out.shape[i].Evaluate(bindings)) out.shape[i] = Dim(*value);
  }
  return out;
}
}  // namespace

Planner::Planner(const Executable& executable, const std::vector<const AnyValue*>& inputs)
    : executable_(executable), graph_(*executable.graph_), inputs_(inputs), facts_(graph_.value_bound()),
      slot_of_(graph_.value_bound(), -1) {}

Result<std::shared_ptr<const Plan>> Planner::Make() {
  ASC_RETURN_IF_ERROR(BindInputs());
  for (const NodeId id : executable_.order_) ASC_RETURN_IF_ERROR(InferConcrete(id));
  SelectLiveNodes();
  ASC_RETURN_IF_ERROR(MakeSlots());
  for (const NodeId id : live_) {
    const CostEstimate cost = CostOf(graph_.node(id));
    plan_->work += cost.flops + cost.bytes;
  }
  plan_->threads = plan_->work < kForkJoinWork ? 1 : executable_.threads_;
  const ScopedThreads team(plan_->threads);
  ASC_RETURN_IF_ERROR(MakeSteps());
  ASC_RETURN_IF_ERROR(PlaceOutputs());
  FindLifetimes();
  ASC_RETURN_IF_ERROR(AssignMemory());
  return std::shared_ptr<const Plan>(plan_);
}

Status Planner::BindInputs() {
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const Value& value = graph_.value(graph_.inputs()[i]);
    Fact& fact = FactOf(value.id);
    fact.type = value.type;
    if (!inputs_[i]->is_tensor()) {
      plan_->input_types.push_back(DataType::kUndefined);
      plan_->input_dims.emplace_back();
      continue;
    }
    const Tensor& tensor = inputs_[i]->tensor();
    plan_->input_types.push_back(tensor.dtype());
    plan_->input_dims.push_back(tensor.dims());
    fact.type = ValueType::Tensor(tensor.dtype(), Shape(tensor.dims()));
    if (!value.type.shape.has_rank()) continue;
    for (size_t axis = 0; axis < value.type.shape.rank(); ++axis) {
      const Dim& dim = value.type.shape[axis];
      if (dim.is_symbol()) bindings_.emplace(dim.ToString(), tensor.dim(axis));
    }
  }
  for (const ValueId id : graph_.Values()) {
    const Value& value = graph_.value(id);
    if (value.source == ValueSource::kConstant) {
      FactOf(id).type = value.type;
      FactOf(id).known = value.constant;
    } else if (value.source == ValueSource::kVariable) {
      FactOf(id).type = value.type;
    }
  }
  return Ok();
}

Status Planner::InferConcrete(NodeId id) {
  const Node& node = graph_.node(id);
  std::vector<InferInput> inputs(node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    Fact& fact = FactOf(node.inputs[i]);
    inputs[i].type = &fact.type;
    if (fact.known.defined()) inputs[i].constant = &fact.known;
    if (fact.dims) inputs[i].dims = &*fact.dims;
  }
  if (!node.regions.empty()) {
    // Bodies are planned by themselves, when they run with actual values.
    for (const ValueId output : node.outputs) {
      if (output.valid()) FactOf(output).type = Bind(graph_.value(output).type, bindings_);
    }
    return Ok();
  }
  // Types that were not known when the graph was checked are checked now.
  const bool fresh = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id.valid() && graph_.value(id).type.dtype != FactOf(id).type.dtype;
  });
  if (fresh) {
    AttributeMap attributes = node.attributes;
    if (Status status = CheckAgainstSchema(*node.schema, inputs, node.outputs.size(), attributes); !status.ok()) {
      return std::move(status).WithNode(node.OriginText());
    }
  }
  InferContext context(*node.schema, node.attributes, std::move(inputs), node.outputs.size());
  if (node.schema->infer != nullptr) {
    if (Status status = node.schema->infer(context); !status.ok()) return std::move(status).WithNode(node.OriginText());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    Fact& fact = FactOf(node.outputs[i]);
    fact.type = std::move(context.outputs()[i].type);
    fact.dims = std::move(context.outputs()[i].dims);
    if (fact.type.dtype == DataType::kUndefined && fact.type.is_tensor()) fact.type = graph_.value(node.outputs[i]).type;
    if (node.schema->output_shape_from_kernel) continue;
    // Elements that the shape rule knows (of Shape, say) need no kernel.
    if (fact.dims && fact.type.dtype == DataType::kInt64) {
      const auto extents = fact.type.shape.ToDims();
      const Shape elements(*fact.dims);
      const auto values = elements.ToDims();
      if (extents && values && ElementCount(*extents) == static_cast<int64_t>(values->size())) {
        fact.known = Tensor::FromValues<int64_t>(*extents, std::span<const int64_t>(values->data(), values->size()));
      }
    }
  }
  return TryEvaluate(node);
}

Status Planner::TryEvaluate(const Node& node) {
  const OpSchema& schema = *node.schema;
  if (!schema.deterministic || schema.writes_variable || schema.reference == nullptr) return Ok();
  // Of the compiler's own operators, vector programs come of arithmetic on extents too.
  if (schema.domain == "asc" && (schema.name != "VectorProgram" || graph_.value(node.outputs[0]).storage.is_blocked())) return Ok();
  std::vector<AnyValue> values;
  std::vector<const AnyValue*> inputs;
  values.reserve(node.inputs.size());
  size_t bytes = 0;
  for (const ValueId id : node.inputs) {
    if (!id.valid()) {
      inputs.push_back(nullptr);
      continue;
    }
    if (!FactOf(id).known.defined()) return Ok();
    bytes += FactOf(id).known.bytes();
    values.emplace_back(FactOf(id).known);
    inputs.push_back(&values.back());
  }
  for (const ValueId id : node.outputs) {
    if (!id.valid()) continue;
    const Fact& fact = FactOf(id);
    if (!fact.type.is_tensor()) return Ok();
    const auto dims = fact.type.shape.ToDims();
    if (dims) bytes += ByteSize(fact.type.dtype, CheckedElementCount(*dims).value_or(INT64_MAX)).value_or(SIZE_MAX / 2);
  }
  if (bytes > kMostKnownBytes) return Ok();
  RunState run{HostAllocator()};
  Result<std::vector<AnyValue>> outputs = Evaluate(schema, node.attributes, inputs, node.outputs.size(), run);
  if (!outputs.ok()) return Ok();  // the failure belongs to the run, if the node is reached there
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid() || !(*outputs)[i].is_tensor()) continue;
    Fact& fact = FactOf(node.outputs[i]);
    fact.known = (*outputs)[i].tensor();
    fact.type = ValueType::Tensor(fact.known.dtype(), Shape(fact.known.dims()));
  }
  return Ok();
}

// Walks back from the outputs and from writes of variables; what only fed known values falls away.
void Planner::SelectLiveNodes() {
  std::vector<char> wanted(graph_.value_bound(), 0);
  const auto want = [&](ValueId id) {
    if (id.valid() && !FactOf(id).known.defined()) wanted[static_cast<size_t>(id.index)] = 1;
  };
  for (const GraphOutput& output : graph_.outputs()) want(output.value);
  std::vector<NodeId> reversed;
  for (auto it = executable_.order_.rbegin(); it != executable_.order_.rend(); ++it) {
    const Node& node = graph_.node(*it);
    const bool live = node.schema->writes_variable ||
                      std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
                        return id.valid() && wanted[static_cast<size_t>(id.index)];
                      });
    if (!live) continue;
    reversed.push_back(*it);
    for (const ValueId id : graph_.AllInputs(*it)) want(id);
  }
  live_.assign(reversed.rbegin(), reversed.rend());
}

int Planner::Root(int slot) const { return plan_->slots[static_cast<size_t>(slot)].root; }

// The slot of a value, made when it has none. Memory kinds of node outputs are refined later.
int Planner::SlotOf(ValueId id) {
  int& index = slot_of_[static_cast<size_t>(id.index)];
  if (index >= 0) return index;
  index = static_cast<int>(plan_->slots.size());
  Slot slot;
  slot.value = id;
  slot.root = index;
  slot.first_step = -1;
  const Value& value = graph_.value(id);
  Fact& fact = FactOf(id);
  if (fact.type.is_tensor()) fact.extents = fact.type.shape.ToDims();
  if (fact.extents && fact.type.dtype != DataType::kUndefined) {
    slot.dtype = fact.type.dtype;
    slot.is_static = true;
    slot.dims = *fact.extents;
    if (value.storage.is_blocked()) {
      const auto storage = StorageDims(value.storage, {value.origin_format, 0}, *fact.extents);
      if (storage.ok()) slot.dims = *storage;
    }
  }
  if (fact.known.defined()) {
    slot.kind = StorageKind::kConstant;
    slot.index = plan_->constants.size();
    plan_->constants.push_back(fact.known);
  } else if (value.source == ValueSource::kInput) {
    slot.kind = StorageKind::kInput;
    const auto& inputs = graph_.inputs();
    slot.index = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), id) - inputs.begin());
  } else if (value.variable >= 0) {
    slot.kind = StorageKind::kVariable;
    slot.index = static_cast<size_t>(value.variable);
  }
  plan_->slots.push_back(std::move(slot));
  return index;
}

Status Planner::MakeSlots() {
  for (const NodeId id : live_) {
    for (const ValueId input : graph_.AllInputs(id)) {
      if (input.valid()) SlotOf(input);
    }
    for (const ValueId output : graph_.node(id).outputs) {
      if (output.valid()) SlotOf(output);
    }
  }
  for (const GraphOutput& output : graph_.outputs()) plan_->output_slots.push_back(SlotOf(output.value));
  for (const ValueId id : graph_.inputs()) plan_->input_slots.push_back(slot_of_[static_cast<size_t>(id.index)]);
  for (const Variable& variable : graph_.variables()) {
    plan_->variable_slots.push_back(slot_of_[static_cast<size_t>(variable.initial.index)]);
  }
  return Ok();
}

OperandDesc Planner::Describe(ValueId id) const {
  OperandDesc desc;
  if (!id.valid()) return desc;
  const Fact& fact = facts_[static_cast<size_t>(id.index)];
  const Value& value = graph_.value(id);
  desc.present = true;
  desc.dtype = fact.type.dtype;
  if (fact.extents) desc.dims = *fact.extents;
  desc.layout = value.storage;
  if (value.is_constant()) desc.constant = &value.constant;
  return desc;
}

bool Planner::IsStaticStep(const Node& node) const {
  if (node.schema->output_shape_from_kernel) return false;
  // Strings are objects: they have no place in an arena and are made while running.
  const auto is_static = [&](ValueId id) {
    if (!id.valid()) return true;
    const Slot& slot = plan_->slots[static_cast<size_t>(slot_of_[static_cast<size_t>(id.index)])];
    return slot.is_static && slot.dtype != DataType::kString;
  };
  // Strings are objects, which an arena cannot hold: they are made while running.
  const auto has_place = [&](ValueId id) {
    return !id.valid() || (is_static(id) && facts_[static_cast<size_t>(id.index)].type.dtype != DataType::kString);
  };
  return std::all_of(node.inputs.begin(), node.inputs.end(), is_static) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), has_place);
}

// Lazy constants that the step will read are made now, when a refusal of memory can still be told. `kernel` null: it reads all.
Status Planner::MakeConstantsReadable(const Node& node, const Kernel* kernel) const {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || (kernel != nullptr && kernel->packs(i))) continue;
    const Tensor& known = facts_[static_cast<size_t>(node.inputs[i].index)].known;
    if (!known.is_lazy()) continue;
    if (Status status = known.buffer()->Materialize(); !status.ok()) return std::move(status).WithNode(node.OriginText());
  }
  return Ok();
}

Result<std::shared_ptr<const Kernel>> Planner::ChooseKernelFor(const KernelRequest& request, const Step& step) const {
  const CompileOptions& options = executable_.options_;
  if (!options.tune) return ChooseKernel(executable_.device_, request);
  StorageExtents extents;
  const auto dims_of = [&](int slot) { return slot < 0 ? Dims() : plan_->slots[static_cast<size_t>(slot)].dims; };
  for (const int slot : step.inputs) extents.inputs.push_back(dims_of(slot));
  for (const int slot : step.outputs) extents.outputs.push_back(dims_of(slot));
  return ChooseTunedKernel(executable_.device_, request, extents, *TuningCache::Open(executable_.device_, options.tune_cache));
}

Status Planner::MakeStep(const Node& node, Step& step) {
  step.node = &node;
  step.key = HashBytes(node.name.data(), node.name.size());
  step.cost = CostOf(node);
  for (const ValueId id : graph_.AllInputs(node.id)) {
    step.inputs.push_back(id.valid() ? slot_of_[static_cast<size_t>(id.index)] : -1);
  }
  for (const ValueId id : node.outputs) {
    step.outputs.push_back(id.valid() ? slot_of_[static_cast<size_t>(id.index)] : -1);
  }
  if (!node.regions.empty()) return MakeConstantsReadable(node, nullptr);
  if (!IsStaticStep(node)) {
    ASC_RETURN_IF_ERROR(MakeConstantsReadable(node, nullptr));
    step.dynamic = MakeDynamicKernels(node, executable_.device_, *executable_.constants_, executable_.options_,
                                      plan_->threads);
    return Ok();
  }
  KernelRequest request{node, {}, {}, *executable_.constants_, executable_.device_.allocator(), plan_->threads,
                        executable_.options_.assume_finite, false, executable_.options_.winograd};
  for (const ValueId id : node.inputs) request.inputs.push_back(Describe(id));
  for (const ValueId id : node.outputs) request.outputs.push_back(Describe(id));
  Result<std::shared_ptr<const Kernel>> kernel = ChooseKernelFor(request, step);
  if (!kernel.ok()) return std::move(kernel).status().WithNode(node.OriginText());
  step.kernel = std::move(kernel).value();
  ASC_RETURN_IF_ERROR(MakeConstantsReadable(node, step.kernel.get()));
  step.scratch_bytes = step.kernel->scratch_bytes();
  for (const ValueId id : node.outputs) {
    if (!id.valid()) continue;
    Slot& slot = plan_->slots[static_cast<size_t>(slot_of_[static_cast<size_t>(id.index)])];
    if (slot.kind == StorageKind::kRun) slot.kind = StorageKind::kArena;
  }
  return Ok();
}

// Makes the outputs of the node views of its first input where they can be.
bool Planner::MakeViews(const Node& node) {
  if (node.inputs.empty() || !node.inputs[0].valid()) return false;
  const auto slot_of = [&](ValueId id) -> Slot& { return plan_->slots[static_cast<size_t>(slot_of_[static_cast<size_t>(id.index)])]; };
  const Slot& from = slot_of(node.inputs[0]);
  const StorageKind root_kind = plan_->slots[static_cast<size_t>(from.root)].kind;
  // A variable's memory changes under a view of an older version; what is made while running has no place yet.
  if (!from.is_static || root_kind == StorageKind::kVariable || root_kind == StorageKind::kRun) return false;
  const bool converts = node.Is("TransData", "asc");
  if (!converts && graph_.value(from.value).storage.is_blocked()) return false;
  ViewRequest request{node, from.dims, from.dtype, {}, {}, root_kind == StorageKind::kArena};
  for (const ValueId id : node.outputs) {
    if (!id.valid() || !slot_of(id).is_static || (!converts && graph_.value(id).storage.is_blocked())) return false;
    request.output_dims.push_back(slot_of(id).dims);
  }
  for (const ValueId id : node.inputs) {
    const bool known = id.valid() && FactOf(id).known.defined();
    request.known_inputs.push_back(known ? &FactOf(id).known : nullptr);
  }
  const auto offsets = ViewOffsets(request);
  if (!offsets) return false;
  // A part of a weight that is not in memory yet: its step makes the weight readable where a refusal can be told.
  if (root_kind == StorageKind::kConstant && plan_->constants[plan_->slots[static_cast<size_t>(from.root)].index].is_lazy() &&
      from.bytes() != slot_of(node.outputs[0]).bytes())
    return false;
  for (size_t i = 0; i < offsets->size(); ++i) {
    Slot& to = slot_of(node.outputs[i]);
    to.root = from.root;
    to.root_offset = from.root_offset + (*offsets)[i];
    to.kind = root_kind;
  }
  return true;
}

// Gives the operands of a Concat their places in its result, where each is a run of it: they are made there, and nothing is
// left to do. An operand brings with it whatever shares its memory, if that is in the result as well: in a chain of Concats
// each result is part of the next.
bool Planner::JoinInPlace(const Node& node) {
  if (!node.Is("Concat") || node.inputs.size() < 2) return false;
  std::vector<Slot>& slots = plan_->slots;
  const int out = slot_of_[static_cast<size_t>(node.outputs[0].index)];
  if (!slots[static_cast<size_t>(out)].is_static || slots[static_cast<size_t>(out)].kind != StorageKind::kRun) return false;
  const Layout storage = graph_.value(node.outputs[0]).storage;
  std::vector<int> parts;
  std::vector<Dims> dims, extents;
  for (const ValueId id : node.inputs) {
    const int part = slot_of_[static_cast<size_t>(id.index)];
    if (Root(part) < 0 || slots[static_cast<size_t>(Root(part))].kind != StorageKind::kArena) return false;
    if (graph_.value(id).storage != storage || !FactOf(id).extents) return false;
    parts.push_back(part);
    dims.push_back(slots[static_cast<size_t>(part)].dims);
    extents.push_back(*FactOf(id).extents);
  }
  const auto offsets = JoinOffsets({node, storage, dims, extents, slots[static_cast<size_t>(out)].dtype});
  if (!offsets) return false;
  // Where each owner of memory would begin, and how many of its bytes the operands are.
  struct Place {
    size_t begin = 0, bytes = 0;
  };
  std::map<int, Place> places;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Slot& part = slots[static_cast<size_t>(parts[i])];
    if ((*offsets)[i] < part.root_offset) return false;
    const size_t begin = (*offsets)[i] - part.root_offset;
    const auto [place, fresh] = places.try_emplace(part.root, Place{begin, 0});
    if (!fresh && place->second.begin != begin) return false;
    place->second.bytes += part.bytes();
  }
  for (const auto& [root, place] : places) {
    if (place.bytes != slots[static_cast<size_t>(root)].bytes() || place.begin % kAlignment != 0) return false;
    // The memory of an output is the caller's.
    for (const int output : plan_->output_slots) {
      if (Root(output) == root) return false;
    }
  }
  for (Slot& slot : slots) {
    const auto place = places.find(slot.root);
    if (place == places.end()) continue;
    slot.root = out;
    slot.root_offset += place->second.begin;
  }
  slots[static_cast<size_t>(out)].kind = StorageKind::kArena;
  return true;
}

Status Planner::MakeSteps() {
  CopyEarlyVersions();
  const bool views = executable_.options_.buffer_optimize_level >= 2;
  for (const NodeId id : live_) {
    const Node& node = graph_.node(id);
    if (views && (MakeViews(node) || JoinInPlace(node))) continue;
    Step step;
    ASC_RETURN_IF_ERROR(MakeStep(node, step));
    plan_->steps.push_back(std::move(step));
    CopyVersionsAfter(node);
  }
  return Ok();
}

CostEstimate Planner::CostOf(const Node& node) const {
  std::vector<ValueType> inputs, outputs;
  for (const ValueId id : node.inputs) inputs.push_back(id.valid() ? facts_[static_cast<size_t>(id.index)].type : ValueType());
  for (const ValueId id : node.outputs) outputs.push_back(id.valid() ? facts_[static_cast<size_t>(id.index)].type : ValueType());
  if (node.regions.empty() && IsStaticStep(node)) return EstimateCost(*node.schema, inputs, outputs, node.attributes);
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  if (!node.regions.empty()) cost.flops = kForkJoinWork;  // not known before it runs: may be large
  return cost;
}

// A graph output that is an overwritten version of a variable is copied out before the next write: here, the initial ones.
void Planner::CopyEarlyVersions() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const Value& value = graph_.value(graph_.outputs()[i].value);
    if (value.source == ValueSource::kVariable) CopyToOutput(i);
  }
}

void Planner::CopyVersionsAfter(const Node& node) {
  if (!node.schema->writes_variable) return;
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    if (graph_.outputs()[i].value == node.output(0)) CopyToOutput(i);
  }
}

void Planner::CopyToOutput(size_t output) {
  const int from = plan_->output_slots[output];
  Slot slot = plan_->slots[static_cast<size_t>(from)];
  const int to = static_cast<int>(plan_->slots.size());
  slot.kind = StorageKind::kOutput;
  slot.index = output;
  slot.root = to;
  slot.root_offset = 0;
  plan_->slots.push_back(std::move(slot));
  plan_->output_slots[output] = to;
  Step step;
  step.kernel = std::make_shared<CopyStep>();
  step.inputs = {from};
  step.outputs = {to};
  plan_->steps.push_back(std::move(step));
}

// The memory of an output is the caller's tensor from the start, where the value owns its memory whole. Others (an input that
// is also an output, two outputs of one buffer) are copied when the run ends.
Status Planner::PlaceOutputs() {
  for (size_t i = 0; i < plan_->output_slots.size(); ++i) {
    Slot& slot = plan_->slots[static_cast<size_t>(plan_->output_slots[i])];
    Slot& root = plan_->slots[static_cast<size_t>(slot.root)];
    if (root.kind != StorageKind::kArena || slot.root_offset != 0 || slot.bytes() != root.bytes()) continue;
    root.kind = StorageKind::kOutput;
    root.index = i;
  }
  for (size_t i = 0; i < plan_->slots.size(); ++i) {
    Slot& slot = plan_->slots[i];
    slot.kind = plan_->slots[static_cast<size_t>(slot.root)].kind;
  }
  return Ok();
}

void Planner::FindLifetimes() {
  std::vector<Slot>& slots = plan_->slots;
  const auto touch = [&](int slot, int step) {
    Slot& root = slots[static_cast<size_t>(Root(slot))];
    if (root.first_step < 0) root.first_step = step;
    root.last_step = std::max(root.last_step, step);
  };
  const int count = static_cast<int>(plan_->steps.size());
  for (int i = 0; i < count; ++i) {
    for (const int slot : plan_->steps[static_cast<size_t>(i)].outputs) {
      if (slot >= 0) touch(slot, i);
    }
    for (const int slot : plan_->steps[static_cast<size_t>(i)].inputs) {
      if (slot >= 0) touch(slot, i);
    }
  }
  for (const int slot : plan_->output_slots) touch(slot, count);
  if (executable_.options_.buffer_optimize_level >= 2) ShareMemory();
  for (Slot& slot : slots) {
    slot.first_step = slots[static_cast<size_t>(slot.root)].first_step;
    slot.last_step = slots[static_cast<size_t>(slot.root)].last_step;
    slot.kind = slots[static_cast<size_t>(slot.root)].kind;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].kind == StorageKind::kRun && slots[i].last_step < count) {
      plan_->steps[static_cast<size_t>(slots[i].last_step)].release.push_back(static_cast<int>(i));
    }
  }
}

// Whether another operand of the step reads a part of the memory of `operand`: a row of it that broadcasts, say. Results written
// over the operand would be read there.
bool Planner::ReadsElsewhere(const Step& step, int operand) const {
  const Slot& whole = plan_->slots[static_cast<size_t>(operand)];
  return std::any_of(step.inputs.begin(), step.inputs.end(), [&](int input) {
    if (input < 0 || input == operand) return false;
    const Slot& other = plan_->slots[static_cast<size_t>(input)];
    return other.root == whole.root && (other.root_offset != whole.root_offset || other.bytes() != whole.bytes());
  });
}

// In place: an element-wise result takes the memory of an operand that dies in the same step.
void Planner::ShareMemory() {
  std::vector<Slot>& slots = plan_->slots;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    const Step& step = plan_->steps[i];
    if (!step.kernel || step.node == nullptr || step.outputs.size() != 1 || step.outputs[0] < 0) continue;
    Slot& out = slots[static_cast<size_t>(step.outputs[0])];
    if (out.root != step.outputs[0]) continue;
    for (const int input : step.inputs) {
      if (input < 0) continue;
      const Slot& in = slots[static_cast<size_t>(input)];
      Slot& root = slots[static_cast<size_t>(in.root)];
      const bool whole = in.root_offset == 0 && in.bytes() == root.bytes();
      if (root.kind != StorageKind::kArena || root.last_step != static_cast<int>(i) || !whole) continue;
      if (graph_.value(in.value).storage != graph_.value(out.value).storage) continue;
      if (!CanWriteInPlace(*step.node, in.dims, in.dtype, out.dims, out.dtype) || ReadsElsewhere(step, input)) continue;
      if (out.kind != StorageKind::kArena && out.kind != StorageKind::kOutput) continue;
      // The operand's owner takes over the result's place and life; everything that shared the result shares it too.
      root.kind = out.kind;
      if (out.kind == StorageKind::kOutput) root.index = out.index;
      root.last_step = std::max(root.last_step, out.last_step);
      const int old_root = step.outputs[0], new_root = in.root;
      for (Slot& slot : slots) {
        if (slot.root == old_root) slot.root = new_root;
      }
      break;
    }
  }
}

Status Planner::AssignMemory() {
  std::vector<Interval> intervals;
  std::vector<int> owners;  // slot, or -1 - step for scratch
  for (size_t i = 0; i < plan_->slots.size(); ++i) {
    const Slot& slot = plan_->slots[i];
    if (slot.kind != StorageKind::kArena || slot.root != static_cast<int>(i) || slot.first_step < 0) continue;
    intervals.push_back({slot.bytes(), slot.first_step, slot.last_step, 0});
    owners.push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    if (plan_->steps[i].scratch_bytes == 0) continue;
    intervals.push_back({plan_->steps[i].scratch_bytes, static_cast<int>(i), static_cast<int>(i), 0});
    owners.push_back(-1 - static_cast<int>(i));
  }
  const bool reuse = executable_.options_.enable_mem_reuse && executable_.options_.buffer_optimize_level >= 1;
  plan_->arena_bytes = AssignOffsets(intervals, reuse);
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (owners[i] >= 0) {
      plan_->slots[static_cast<size_t>(owners[i])].index = intervals[i].offset;
    } else {
      plan_->steps[static_cast<size_t>(-1 - owners[i])].scratch_offset = intervals[i].offset;
    }
  }
  for (size_t i = 0; i < plan_->slots.size(); ++i) {
    const Slot& slot = plan_->slots[i];
    const auto own = static_cast<int>(i);
    const StorageKind root_kind = plan_->slots[static_cast<size_t>(slot.root)].kind;
    if (root_kind != StorageKind::kArena && root_kind != StorageKind::kConstant) plan_->run_slots.push_back(own);
    const bool later_version = slot.kind == StorageKind::kVariable && plan_->variable_slots[slot.index] != own;
    const bool bound = slot.kind == StorageKind::kInput || slot.kind == StorageKind::kOutput || slot.kind == StorageKind::kVariable;
    if (slot.root != own) {
      if (bound) plan_->bound_views.push_back(own);
    } else if (slot.kind == StorageKind::kOutput || later_version) {
      plan_->bound_roots.push_back(own);
    }
  }
  ASC_ASSIGN_OR_RETURN(plan_->memory, CheckMemory(*plan_));
  return Ok();
}

}  // namespace asc
