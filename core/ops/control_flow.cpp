// If, Loop, Scan, SequenceMap: operators with regions. They have rules and no kernels: the executor
// runs their regions.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/join_types.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

Status CheckOneElement(const InferContext& context, size_t i) {
  if (!context.HasInput(i) || !context.shape(i).is_static() ||
      context.shape(i).ElementCount().IsConstant(1))
    return Ok();
  return ShapeError(context.schema().FullName(), " input '", context.schema().inputs[i].name,
                    "' must have one element, given shape ", context.shape(i));
}

// ---- If ----

Status InferIf(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckOneElement(context, 0));
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> yes, context.InferRegion("then_branch", {}));
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> no, context.InferRegion("else_branch", {}));
  if (yes.size() != context.output_count() || no.size() != context.output_count()) {
    return Error(Code::kInvalidGraph, "If has ", context.output_count(),
                 " outputs, its branches give ", yes.size(), " and ", no.size());
  }
  const Tensor* condition = context.constant(0);
  const bool decided = condition != nullptr && condition->size() == 1;
  TypeJoin join("If");
  for (size_t i = 0; i < yes.size(); ++i) {
    ASC_ASSIGN_OR_RETURN(ValueType type, join(yes[i], no[i]));
    if (decided) type = *condition->data<bool>() ? yes[i] : no[i];
    context.SetOutput(i, std::move(type));
  }
  return Ok();
}

// ---- Loop and Scan ----

// The types of values that a body hands from one iteration to the next, such that they hold in each
// of them: `types` (the initial ones) grow more general until the body, given them, gives nothing
// more general. `arguments` makes the body's inputs of them, the body's outputs begin at `first`.
// Gives the body's outputs for the final types.
template <typename MakeInputs>
Result<std::vector<ValueType>> Settle(InferContext& context, std::vector<ValueType>& types,
                                      size_t first, MakeInputs make_inputs) {
  constexpr int kMostRounds = 16;
  TypeJoin join(context.schema().name);
  for (int round = 0;; ++round) {
    ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> outputs,
                         context.InferRegion("body", make_inputs(types), true));
    if (outputs.size() < first + types.size()) {
      return Error(Code::kInvalidGraph, context.schema().name, " carries ", types.size(),
                   " values, its body gives ", outputs.size() - std::min(outputs.size(), first));
    }
    bool settled = true;
    for (size_t i = 0; i < types.size(); ++i) {
      ASC_ASSIGN_OR_RETURN(ValueType joined, join(types[i], outputs[first + i]));
      if (round >= kMostRounds) joined.shape = Shape();
      settled &= joined == types[i];
      types[i] = std::move(joined);
    }
    if (settled) break;
  }
  return context.InferRegion("body", make_inputs(types));
}

Status InferLoop(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckOneElement(context, 0));
  ASC_RETURN_IF_ERROR(CheckOneElement(context, 1));
  std::vector<ValueType> carried;
  for (size_t i = 2; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) return InvalidArgument("Loop needs its carried value number ", i - 2);
    carried.push_back(context.type(i));
  }
  const auto trips = context.Ints(0);
  const Tensor* condition = context.constant(1);
  const bool never = (trips && trips->size() == 1 && (*trips)[0] <= 0) ||
                     (condition != nullptr && condition->size() == 1 && !*condition->data<bool>());
  const std::vector<ValueType> initial = carried;
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> outputs,
                       Settle(context, carried, 1, [](const std::vector<ValueType>& types) {
                         const Shape scalar{Dims()};
                         std::vector<ValueType> inputs = {
                             ValueType::Tensor(DataType::kInt64, scalar),
                             ValueType::Tensor(DataType::kBool, scalar)};
                         inputs.insert(inputs.end(), types.begin(), types.end());
                         return inputs;
                       }));
  if (outputs.size() != context.output_count() + 1) {
    return Error(Code::kInvalidGraph, "Loop has ", context.output_count(),
                 " outputs; its body gives a condition and ", outputs.size() - 1, " more values");
  }
  if (outputs[0].dtype != DataType::kBool && outputs[0].dtype != DataType::kUndefined) {
    return TypeError("the first output of Loop's body, the condition, must be bool, given ",
                     outputs[0]);
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    // An optional that the body fills is full after the first iteration, and graphs that do so
    // declare what it holds as the output's type.
    const bool filled =
        carried[i].kind == ValueKind::kOptional && outputs[1 + i].kind != ValueKind::kOptional;
    context.SetOutput(i, never ? initial[i] : filled ? outputs[1 + i] : carried[i]);
  }
  for (size_t i = carried.size() + 1; i < outputs.size(); ++i) {
    if (!outputs[i].is_tensor())
      return TypeError("scan outputs of Loop must be tensors, given ", outputs[i]);
    // The body may stop before the trip count is reached: only no trips at all are sure.
    Shape shape = outputs[i].shape;
    if (shape.has_rank()) {
      std::vector<Dim> dims = {never ? Dim(0) : Dim::Unknown()};
      dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
      shape = Shape(std::move(dims));
    }
    context.SetOutput(i - 1, outputs[i].dtype, std::move(shape));
  }
  return Ok();
}

// One number for each of `count` scanned values; zeros where the attribute is absent.
Result<std::vector<int64_t>> PerScan(const InferContext& context, std::string_view name,
                                     size_t count) {
  std::vector<int64_t> values = context.attributes().Ints(name, std::vector<int64_t>(count, 0));
  if (values.size() != count) {
    return InvalidArgument("Scan attribute '", name, "' must have ", count, " elements, given ",
                           values.size());
  }
  return values;
}

Status CheckDirections(const InferContext& context, std::string_view name, size_t count) {
  ASC_ASSIGN_OR_RETURN(const std::vector<int64_t> directions, PerScan(context, name, count));
  for (const int64_t direction : directions) {
    if (direction != 0 && direction != 1) {
      return InvalidArgument("Scan attribute '", name,
                             "' must be 0 (forward) or 1 (backward), given ", directions);
    }
  }
  return Ok();
}

Status InferScan(InferContext& context) {
  const int64_t scanned = context.attributes().Int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<int64_t>(context.input_count())) {
    return InvalidArgument("Scan num_scan_inputs must be from 1 to ", context.input_count(),
                           ", given ", scanned);
  }
  const size_t states = context.input_count() - static_cast<size_t>(scanned);
  if (context.output_count() < states) {
    return Error(Code::kInvalidGraph, "Scan carries ", states, " states but has ",
                 context.output_count(), " outputs");
  }
  const size_t scan_outputs = context.output_count() - states;
  ASC_ASSIGN_OR_RETURN(const auto axes,
                       PerScan(context, "scan_input_axes", static_cast<size_t>(scanned)));
  ASC_ASSIGN_OR_RETURN(const auto output_axes, PerScan(context, "scan_output_axes", scan_outputs));
  ASC_RETURN_IF_ERROR(
      CheckDirections(context, "scan_input_directions", static_cast<size_t>(scanned)));
  ASC_RETURN_IF_ERROR(CheckDirections(context, "scan_output_directions", scan_outputs));
  std::vector<ValueType> carried, items;
  Dim length = Dim::Unknown();
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) return InvalidArgument("Scan needs its input number ", i);
    if (!context.type(i).is_tensor())
      return TypeError("Scan takes tensors, given ", context.type(i), " as input number ", i);
    if (i < states) {
      carried.push_back(context.type(i));
      continue;
    }
    const Shape& shape = context.shape(i);
    if (!shape.has_rank()) {
      items.push_back(ValueType::Tensor(context.dtype(i)));
      continue;
    }
    Result<int64_t> axis = NormalizeAxis(axes[i - states], static_cast<int64_t>(shape.rank()));
    if (!axis.ok()) return std::move(axis).status().WithContext("Scan attribute 'scan_input_axes'");
    std::vector<Dim> dims = shape.dims();
    const Dim extent = dims[static_cast<size_t>(*axis)];
    if (length.is_constant() && extent.is_constant() && !(length == extent)) {
      return ShapeError("Scan walks inputs of equal length, given ", length, " and ", extent);
    }
    if (length.is_unknown() || extent.is_constant()) length = extent;
    dims.erase(dims.begin() + *axis);
    items.push_back(ValueType::Tensor(context.dtype(i), Shape(std::move(dims))));
  }
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> outputs,
                       Settle(context, carried, 0, [&](const std::vector<ValueType>& types) {
                         std::vector<ValueType> inputs = types;
                         inputs.insert(inputs.end(), items.begin(), items.end());
                         return inputs;
                       }));
  if (outputs.size() != context.output_count()) {
    return Error(Code::kInvalidGraph, "Scan has ", context.output_count(),
                 " outputs, its body gives ", outputs.size());
  }
  for (size_t i = 0; i < states; ++i) context.SetOutput(i, carried[i]);
  for (size_t i = states; i < outputs.size(); ++i) {
    if (!outputs[i].is_tensor())
      return TypeError("scan outputs of Scan must be tensors, given ", outputs[i]);
    Shape shape = outputs[i].shape;
    if (shape.has_rank()) {
      std::vector<Dim> dims = shape.dims();
      Result<int64_t> axis =
          NormalizeAxis(output_axes[i - states], static_cast<int64_t>(dims.size()) + 1);
      if (!axis.ok())
        return std::move(axis).status().WithContext("Scan attribute 'scan_output_axes'");
      dims.insert(dims.begin() + *axis, length);
      shape = Shape(std::move(dims));
    }
    context.SetOutput(i, outputs[i].dtype, std::move(shape));
  }
  return Ok();
}

// ---- SequenceMap ----

Status InferSequenceMap(InferContext& context) {
  std::vector<ValueType> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) return InvalidArgument("SequenceMap needs its input number ", i);
    const ValueType& type = context.type(i);
    if (i == 0 && type.kind != ValueKind::kSequence)
      return TypeError("SequenceMap maps a sequence, given ", type);
    const bool walked = type.kind == ValueKind::kSequence;
    inputs.push_back(!walked ? type : type.element ? *type.element : ValueType());
  }
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> outputs, context.InferRegion("body", inputs));
  if (outputs.size() != context.output_count()) {
    return Error(Code::kInvalidGraph, "SequenceMap has ", context.output_count(),
                 " outputs, its body gives ", outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) context.SetOutput(i, ValueType::Sequence(outputs[i]));
  return Ok();
}
}  // namespace

void AddControlFlowOps(OpTable& table) {
  table.Add("If", 25)
      .Doc("runs one of two regions")
      .Input("cond", "B")
      .Output("outputs", "", ParameterKind::kVariadic, false)
      .Types("B", types::kBool)
      .HasRegion("then_branch")
      .HasRegion("else_branch")
      .Infer(InferIf);
  table.Add("Loop", 25)
      .Doc("repeats a region: at most M times, while the condition that it returns holds")
      .OptionalInput("M", "I")
      .OptionalInput("cond", "B")
      .Input("v_initial", "", ParameterKind::kVariadic, false)
      .Output("v_final_and_scan_outputs", "", ParameterKind::kVariadic, false)
      .Types("I", types::kInt64)
      .Types("B", types::kBool)
      .HasRegion("body")
      .Infer(InferLoop);
  table.Add("Scan", 25)
      .Doc("walks sequences along an axis with a region, carrying states and collecting outputs")
      .Input("initial_state_and_scan_inputs", "", ParameterKind::kVariadic, false)
      .Output("final_state_and_scan_outputs", "", ParameterKind::kVariadic, false)
      .RequiredAttr("num_scan_inputs", AttributeType::kInt)
      .OptionalAttr("scan_input_axes", AttributeType::kInts)
      .OptionalAttr("scan_input_directions", AttributeType::kInts)
      .OptionalAttr("scan_output_axes", AttributeType::kInts)
      .OptionalAttr("scan_output_directions", AttributeType::kInts)
      .HasRegion("body")
      .Infer(InferScan);
  table.Add("SequenceMap", 17)
      .Doc("applies a region to each element of a sequence")
      .Input("input_sequence", "")
      .Input("additional_inputs", "", ParameterKind::kVariadic, false)
      .Output("out_sequence", "", ParameterKind::kVariadic, false)
      .HasRegion("body")
      .Infer(InferSequenceMap);
}

}  // namespace asc
