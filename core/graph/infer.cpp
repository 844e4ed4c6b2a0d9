#include "core/graph/infer.h"

#include <algorithm>

namespace asc {
namespace {
Result<Dim> MergeDims(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (a.is_constant() && b.is_constant()) return ShapeError("extent ", a, " contradicts ", b);
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  // Of two unknowns the older fact stays, so that inferring again does not part values that are known to be equal.
  if (a.is_unknown() && a.is_symbol() && b.is_unknown()) return b;
  return a.is_unknown() && !b.is_unknown() ? b : a;
}

Result<Shape> MergeShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return ShapeError("shape ", a, " contradicts ", b, ": their ranks differ");
  std::vector<Dim> dims(a.rank());
  for (size_t i = 0; i < a.rank(); ++i) {
    Result<Dim> dim = MergeDims(a[i], b[i]);
    if (!dim.ok()) return ShapeError("shape ", a, " contradicts ", b, " on axis ", i);
    dims[i] = *dim;
  }
  return Shape(std::move(dims));
}

// What a region may know of the elements of a captured value: constants stay outside.
std::optional<std::vector<Dim>> CapturedElements(const Value& outer) {
  constexpr int64_t kMost = 128;  // longer integer tensors are data, not shapes
  if (!outer.is_constant()) return outer.dims;
  const Tensor& tensor = outer.constant;
  if (!types::kIndex.Contains(tensor.dtype()) || tensor.rank() > 1 || tensor.size() > kMost) return std::nullopt;
  const auto ints = ToInt64Vector(tensor);
  return std::vector<Dim>(ints->begin(), ints->end());
}

// Types a region's inputs, infers it, and gives the types of its outputs.
Result<std::vector<ValueType>> InferRegionGraph(Graph& graph, const Node& node, std::string_view name,
                                                const std::vector<ValueType>& inputs, bool trial, Reached reached) {
  for (const Region& region : node.regions) {
    if (region.name != name) continue;
    const std::unique_ptr<Graph> copy = trial ? region.graph->Clone() : nullptr;
    Graph& body = trial ? *copy : *region.graph;
    const size_t formal = body.inputs().size() - region.captures.size();
    if (inputs.size() != formal) {
      return InvalidArgument("region '", name, "' has ", formal, " inputs, given ", inputs.size());
    }
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      Value& inner = body.value(body.inputs()[i]);
      const bool capture = i >= formal;
      const Value* outer = capture ? &graph.value(region.captures[i - formal]) : nullptr;
      ASC_ASSIGN_OR_RETURN(inner.type, MergeTypes(capture ? outer->type : inputs[i], inner.type));
      if (capture) inner.dims = CapturedElements(*outer);
    }
    if (node.Is("If") && MayBeSkipped(graph.Constant(node.input(0)), name)) reached = Reached::kPerhaps;
    ASC_RETURN_IF_ERROR(InferGraph(body, reached));
    std::vector<ValueType> outputs;
    for (const GraphOutput& output : body.outputs()) outputs.push_back(body.value(output.value).type);
    return outputs;
  }
  return Error(Code::kInvalidGraph, node.schema->FullName(), " has no region '", name, "'");
}

bool IsOfShapes(const Status& status) {
  return status.code() == Code::kShapeMismatch || status.code() == Code::kInvalidArgument || status.code() == Code::kOutOfRange;
}

// Runs the shape rule with element types and attributes alone. An error: the node cannot run for any shapes.
Status InferWithoutShapes(const Node& node, const std::vector<InferInput>& inputs, const InferContext::RegionInfer& regions,
                          InferContext& context) {
  std::vector<ValueType> types(inputs.size());
  std::vector<InferInput> bare(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type == nullptr) continue;
    types[i] = *inputs[i].type;
    if (types[i].is_tensor()) types[i].shape = Shape();
    bare[i].type = &types[i];
  }
  InferContext again(*node.schema, node.attributes, std::move(bare), node.outputs.size());
  again.set_region_infer(regions);
  ASC_RETURN_IF_ERROR(node.schema->infer(again));
  context.outputs() = std::move(again.outputs());
  return Ok();
}
}  // namespace

bool MayBeSkipped(const Tensor* condition, std::string_view branch) {
  if (condition == nullptr || condition->dtype() != DataType::kBool || condition->size() != 1) return true;
  return *condition->data<bool>() != (branch == "then_branch");
}

Result<ValueType> MergeTypes(const ValueType& a, const ValueType& b) {
  const auto empty = [](const ValueType& t) { return t.is_tensor() && t.dtype == DataType::kUndefined && !t.shape.has_rank(); };
  if (empty(a)) return b;
  if (empty(b)) return a;
  if (a.kind != b.kind) return TypeError(a, " contradicts ", b);
  if (a.dtype != b.dtype && a.dtype != DataType::kUndefined && b.dtype != DataType::kUndefined) {
    return TypeError("type ", DataTypeName(a.dtype), " contradicts ", DataTypeName(b.dtype));
  }
  ValueType out = a;
  if (a.dtype == DataType::kUndefined) out.dtype = b.dtype;
  ASC_ASSIGN_OR_RETURN(out.shape, MergeShapes(a.shape, b.shape));
  if (a.element && b.element) {
    ASC_ASSIGN_OR_RETURN(ValueType element, MergeTypes(*a.element, *b.element));
    out.element = std::make_shared<ValueType>(std::move(element));
  } else if (!a.element) {
    out.element = b.element;
  }
  return out;
}

std::vector<InferInput> InferInputsOf(const Graph& graph, const Node& node) {
  std::vector<InferInput> inputs;
  inputs.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) {
    InferInput input;
    if (id.valid()) {
      const Value& value = graph.value(id);
      input.type = &value.type;
      if (value.is_constant()) input.constant = &value.constant;
      if (value.dims) input.dims = &*value.dims;
    }
    inputs.push_back(input);
  }
  return inputs;
}

Status InferNode(Graph& graph, NodeId id, Reached reached) {
  Node& node = graph.node(id);
  const auto located = [&](Status status) { return std::move(status).WithNode(node.OriginText()); };
  std::vector<InferInput> inputs = InferInputsOf(graph, node);
  if (Status status = CheckAgainstSchema(*node.schema, inputs, node.outputs.size(), node.attributes); !status.ok()) {
    return located(std::move(status));
  }
  for (const std::string& wanted : node.schema->regions) {
    if (std::none_of(node.regions.begin(), node.regions.end(), [&](const Region& r) { return r.name == wanted; })) {
      return located(Error(Code::kInvalidGraph, node.schema->FullName(), " needs the region '", wanted, "'"));
    }
  }
  const InferContext::RegionInfer regions = [&](std::string_view name, const std::vector<ValueType>& types, bool trial) {
    return InferRegionGraph(graph, node, name, types, trial, reached);
  };
  InferContext context(*node.schema, node.attributes, inputs, node.outputs.size());
  context.set_region_infer(regions);
  if (node.schema->infer != nullptr) {
    Status status = node.schema->infer(context);
    const bool may_pass = !status.ok() && reached == Reached::kPerhaps && IsOfShapes(status);
    if (may_pass && InferWithoutShapes(node, inputs, regions, context).ok()) status = Ok();
    if (!status.ok()) return located(std::move(status));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    Value& value = graph.value(node.outputs[i]);
    Result<ValueType> merged = MergeTypes(context.outputs()[i].type, value.type);
    if (!merged.ok()) return located(std::move(merged).status().WithContext(Cat("output '", value.name, "'")));
    value.type = std::move(merged).value();
    if (context.outputs()[i].dims) value.dims = std::move(context.outputs()[i].dims);
  }
  return Ok();
}

Status InferGraph(Graph& graph, Reached reached) {
  ASC_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order) ASC_RETURN_IF_ERROR(InferNode(graph, id, reached));
  return Ok();
}

}  // namespace asc
