#include "core/runtime/control_flow.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
using Values = std::vector<const AnyValue*>;

// The captures of region number `region`: behind the node's inputs, region by region.
Values CapturesOf(const Node& node, size_t region, const Values& inputs) {
  size_t begin = node.inputs.size();
  for (size_t i = 0; i < region; ++i) begin += node.regions[i].captures.size();
  const auto first = inputs.begin() + static_cast<ptrdiff_t>(begin);
  return Values(first, first + static_cast<ptrdiff_t>(node.regions[region].captures.size()));
}

size_t RegionIndex(const Node& node, std::string_view name) {
  size_t i = 0;
  while (i + 1 < node.regions.size() && node.regions[i].name != name) ++i;
  return i;
}

Result<bool> ReadCondition(const AnyValue& value, std::string_view what) {
  if (!value.is_tensor() || value.tensor().dtype() != DataType::kBool || value.tensor().size() != 1) {
    return TypeError(what, " must be a bool of one element, given ",
                     value.is_tensor() ? value.tensor().TypeString() : std::string(ValueKindName(value.kind())));
  }
  return *value.tensor().data<bool>();
}

// Extents of one item that a body's output has, unknown ones as 0: for scan outputs without any item.
Dims ItemDims(const ValueType& type) {
  Dims dims;
  if (!type.shape.has_rank()) return dims;
  for (const Dim& dim : type.shape.dims()) dims.push_back(dim.is_constant() ? dim.value() : 0);
  return dims;
}

// Copies between a tensor with an extra axis and its items along that axis.
template <typename Move>
Status MoveItems(DataType type, const Dims& item_dims, int64_t axis, Move move) {
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = ElementCount(item_dims, 0, at), inner = ElementCount(item_dims, at, item_dims.size());
  const bool known = VisitBySize(type, [&](auto zero) { move(zero, outer, inner); });
  return known ? Ok() : TypeError("control flow does not slice ", DataTypeName(type));
}

// Stacks equal-shaped tensors along a new axis. `reverse`: the last item comes first.
Result<AnyValue> Stack(const std::vector<AnyValue>& items, const ValueType& item_type, int64_t axis, bool reverse,
                       const std::shared_ptr<Allocator>& allocator) {
  const Dims item_dims = items.empty() ? ItemDims(item_type) : items[0].tensor().dims();
  const DataType dtype = items.empty() ? item_type.dtype : items[0].tensor().dtype();
  ASC_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, static_cast<int64_t>(item_dims.size()) + 1));
  Dims dims = item_dims;
  const auto count = static_cast<int64_t>(items.size());
  dims.insert(dims.begin() + axis, count);
  for (const AnyValue& item : items) {
    if (item.tensor().dims() != item_dims || item.tensor().dtype() != dtype) {
      return ShapeError("scan output changes from iteration to iteration: ", items[0].tensor().TypeString(), ", then ",
                        item.tensor().TypeString());
    }
  }
  ASC_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(dtype, dims, allocator));
  ASC_RETURN_IF_ERROR(MoveItems(dtype, item_dims, axis, [&](auto zero, int64_t outer, int64_t inner) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out.raw());
    for (int64_t i = 0; i < count; ++i) {
      const T* from = static_cast<const T*>(items[static_cast<size_t>(reverse ? count - 1 - i : i)].tensor().raw());
      for (int64_t o = 0; o < outer; ++o) std::copy_n(from + o * inner, inner, to + (o * count + i) * inner);
    }
  }));
  return AnyValue(std::move(out));
}

// Item `index` along `axis`, without that axis.
Result<AnyValue> TakeItem(const Tensor& tensor, int64_t axis, int64_t index, const std::shared_ptr<Allocator>& allocator) {
  Dims dims = tensor.dims();
  const int64_t count = dims[static_cast<size_t>(axis)];
  dims.erase(dims.begin() + axis);
  ASC_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(tensor.dtype(), dims, allocator));
  ASC_RETURN_IF_ERROR(MoveItems(tensor.dtype(), dims, axis, [&](auto zero, int64_t outer, int64_t inner) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(tensor.raw());
    T* to = static_cast<T*>(out.raw());
    for (int64_t o = 0; o < outer; ++o) std::copy_n(from + (o * count + index) * inner, inner, to + o * inner);
  }));
  return AnyValue(std::move(out));
}

Status CheckCancelled(const Execution& execution) {
  return execution.cancel != nullptr && execution.cancel->cancelled() ? Error(Code::kCancelled, "the run was cancelled") : Ok();
}

Values Pointers(const std::vector<AnyValue>& values) {
  Values out;
  for (const AnyValue& value : values) out.push_back(&value);
  return out;
}

void Append(Values& to, const Values& more) { to.insert(to.end(), more.begin(), more.end()); }

// Gives each node with bodies, and each trip through one, random numbers of their own, and the run its seed back at the end.
class BodySeeds {
 public:
  explicit BodySeeds(RunState& state) : state_(state), seed_(state.seed) {}
  ~BodySeeds() { state_.seed = seed_; }
  BodySeeds(const BodySeeds&) = delete;
  BodySeeds& operator=(const BodySeeds&) = delete;
  void Begin(uint64_t key) { state_.seed = HashCombine(seed_, key); }

 private:
  RunState& state_;
  const uint64_t seed_;
};

Result<std::vector<AnyValue>> RunIf(const Executable& executable, const Node& node, const Values& inputs, Execution& execution) {
  ASC_ASSIGN_OR_RETURN(const bool condition, ReadCondition(*inputs[0], "the condition of If"));
  const size_t region = RegionIndex(node, condition ? "then_branch" : "else_branch");
  return ExecuteBody(*executable.Body(node.id, region), CapturesOf(node, region, inputs), execution);
}

// Inputs: trip count (optional), condition (optional), carried values. Body: (iteration, condition, carried...) to
// (condition, carried..., scan outputs...).
Result<std::vector<AnyValue>> RunLoop(const Executable& executable, const Node& node, const Values& inputs, Execution& execution) {
  const Executable& body = *executable.Body(node.id, 0);
  const Values captures = CapturesOf(node, 0, inputs);
  const size_t given = node.inputs.size(), carried_count = given < 2 ? 0 : given - 2;
  int64_t trips = INT64_MAX;
  if (given > 0 && inputs[0] != nullptr) {
    ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> count, ToInt64Vector(inputs[0]->tensor()));
    if (count.size() != 1) return ShapeError("the trip count of Loop must have one element, given ", count.size());
    trips = count[0];
  }
  bool go_on = true;
  if (given > 1 && inputs[1] != nullptr) {
    ASC_ASSIGN_OR_RETURN(go_on, ReadCondition(*inputs[1], "the condition of Loop"));
  }
  std::vector<AnyValue> carried;
  for (size_t i = 0; i < carried_count; ++i) carried.push_back(*inputs[2 + i]);
  const size_t scan_count = body.outputs().size() - 1 - carried_count;
  std::vector<std::vector<AnyValue>> scans(scan_count);
  AnyValue condition = Tensor::Scalar<bool>(go_on);
  int64_t trip = 0;
  BodySeeds seeds(execution.state);
  for (; trip < trips && go_on; ++trip) {
    ASC_RETURN_IF_ERROR(CheckCancelled(execution));
    seeds.Begin(static_cast<uint64_t>(trip));
    const AnyValue iteration = Tensor::Scalar<int64_t>(trip);
    Values arguments = {&iteration, &condition};
    Append(arguments, Pointers(carried));
    Append(arguments, captures);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> results, ExecuteBody(body, arguments, execution));
    ASC_ASSIGN_OR_RETURN(go_on, ReadCondition(results[0], "the condition that the body of Loop returns"));
    condition = std::move(results[0]);
    for (size_t i = 0; i < carried_count; ++i) carried[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < scan_count; ++i) scans[i].push_back(std::move(results[1 + carried_count + i]));
  }
  if (trip == 0) {  // carried values pass through: they get memory of their own
    for (AnyValue& value : carried) {
      if (value.is_tensor()) {
        ASC_ASSIGN_OR_RETURN(value, value.tensor().Clone(execution.state.allocator));
      }
    }
  }
  std::vector<AnyValue> outputs = std::move(carried);
  for (size_t i = 0; i < scan_count; ++i) {
    ASC_ASSIGN_OR_RETURN(AnyValue stacked, Stack(scans[i], body.outputs()[1 + carried_count + i].type, 0, false,
                                                 execution.state.allocator));
    outputs.push_back(std::move(stacked));
  }
  return outputs;
}

// Inputs: states, then sequences that are walked along an axis each. Body: (states..., items...) to (states..., outputs...).
Result<std::vector<AnyValue>> RunScan(const Executable& executable, const Node& node, const Values& inputs, Execution& execution) {
  const Executable& body = *executable.Body(node.id, 0);
  const Values captures = CapturesOf(node, 0, inputs);
  const AttributeMap& attributes = node.attributes;
  const auto scan_inputs = static_cast<size_t>(attributes.Int("num_scan_inputs", 0));
  if (scan_inputs == 0 || scan_inputs > node.inputs.size()) {
    return InvalidArgument("num_scan_inputs of Scan must be from 1 to ", node.inputs.size(), ", given ", scan_inputs);
  }
  const size_t states = node.inputs.size() - scan_inputs;
  const size_t scan_outputs = body.outputs().size() - states;
  const std::vector<int64_t> zeros(std::max(scan_inputs, scan_outputs), 0);
  std::vector<int64_t> axes = attributes.Ints("scan_input_axes", zeros);
  const std::vector<int64_t> directions = attributes.Ints("scan_input_directions", zeros);
  const std::vector<int64_t> output_axes = attributes.Ints("scan_output_axes", zeros);
  const std::vector<int64_t> output_directions = attributes.Ints("scan_output_directions", zeros);
  if (axes.size() < scan_inputs || directions.size() < scan_inputs || output_axes.size() < scan_outputs ||
      output_directions.size() < scan_outputs) {
    return InvalidArgument("Scan needs one axis and one direction for each of its ", scan_inputs, " scan inputs and ",
                           scan_outputs, " scan outputs");
  }
  int64_t length = -1;
  for (size_t i = 0; i < scan_inputs; ++i) {
    const Tensor& tensor = inputs[states + i]->tensor();
    ASC_ASSIGN_OR_RETURN(axes[i], NormalizeAxis(axes[i], static_cast<int64_t>(tensor.rank())));
    const int64_t extent = tensor.dim(static_cast<size_t>(axes[i]));
    if (length >= 0 && extent != length) {
      return ShapeError("the scan inputs of Scan must have equal lengths, given ", length, " and ", extent);
    }
    length = extent;
  }
  std::vector<AnyValue> state;
  for (size_t i = 0; i < states; ++i) {
    ASC_ASSIGN_OR_RETURN(Tensor copy, inputs[i]->tensor().Clone(execution.state.allocator));
    state.emplace_back(std::move(copy));
  }
  std::vector<std::vector<AnyValue>> collected(scan_outputs);
  BodySeeds seeds(execution.state);
  for (int64_t step = 0; step < length; ++step) {
    ASC_RETURN_IF_ERROR(CheckCancelled(execution));
    seeds.Begin(static_cast<uint64_t>(step));
    std::vector<AnyValue> items;
    for (size_t i = 0; i < scan_inputs; ++i) {
      const int64_t index = directions[i] == 1 ? length - 1 - step : step;
      ASC_ASSIGN_OR_RETURN(AnyValue item, TakeItem(inputs[states + i]->tensor(), axes[i], index, execution.state.allocator));
      items.push_back(std::move(item));
    }
    Values arguments = Pointers(state);
    Append(arguments, Pointers(items));
    Append(arguments, captures);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> results, ExecuteBody(body, arguments, execution));
    for (size_t i = 0; i < states; ++i) state[i] = std::move(results[i]);
    for (size_t i = 0; i < scan_outputs; ++i) collected[i].push_back(std::move(results[states + i]));
  }
  std::vector<AnyValue> outputs = std::move(state);
  for (size_t i = 0; i < scan_outputs; ++i) {
    ASC_ASSIGN_OR_RETURN(AnyValue stacked, Stack(collected[i], body.outputs()[states + i].type, output_axes[i],
                                                 output_directions[i] == 1, execution.state.allocator));
    outputs.push_back(std::move(stacked));
  }
  return outputs;
}

// Inputs: a sequence, then sequences (walked along) or tensors (given to each call as they are).
Result<std::vector<AnyValue>> RunSequenceMap(const Executable& executable, const Node& node, const Values& inputs,
                                             Execution& execution) {
  const Executable& body = *executable.Body(node.id, 0);
  const Values captures = CapturesOf(node, 0, inputs);
  const size_t count = inputs[0]->sequence().size();
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (inputs[i]->kind() == ValueKind::kSequence && inputs[i]->sequence().size() != count) {
      return ShapeError("the sequences of SequenceMap must have equal lengths, given ", count, " and ",
                        inputs[i]->sequence().size());
    }
  }
  std::vector<AnyValue::Sequence> collected(body.outputs().size());
  BodySeeds seeds(execution.state);
  for (size_t item = 0; item < count; ++item) {
    ASC_RETURN_IF_ERROR(CheckCancelled(execution));
    seeds.Begin(item);
    Values arguments;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      arguments.push_back(inputs[i]->kind() == ValueKind::kSequence ? &inputs[i]->sequence()[item] : inputs[i]);
    }
    Append(arguments, captures);
    ASC_ASSIGN_OR_RETURN(std::vector<AnyValue> results, ExecuteBody(body, arguments, execution));
    for (size_t i = 0; i < results.size(); ++i) collected[i].push_back(std::move(results[i]));
  }
  std::vector<AnyValue> outputs;
  for (size_t i = 0; i < collected.size(); ++i) {
    outputs.push_back(AnyValue::MakeSequence(std::move(collected[i]), body.outputs()[i].type.dtype));
  }
  return outputs;
}

using Runner = Result<std::vector<AnyValue>> (*)(const Executable&, const Node&, const Values&, Execution&);
constexpr std::pair<std::string_view, Runner> kRunners[] = {
    {"If", RunIf}, {"Loop", RunLoop}, {"Scan", RunScan}, {"SequenceMap", RunSequenceMap}};
}  // namespace

Result<std::vector<AnyValue>> RunRegions(const Executable& executable, const Node& node, const Values& inputs,
                                         Execution& execution) {
  BodySeeds seeds(execution.state);
  seeds.Begin(HashBytes(node.name.data(), node.name.size()));
  for (const auto& [name, run] : kRunners) {
    if (node.Is(name)) return run(executable, node, inputs, execution);
  }
  return Error(Code::kUnsupportedOperator, "operator ", node.schema->FullName(), " has regions, but no way to run them");
}

}  // namespace asc
