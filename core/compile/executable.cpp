#include "core/compile/executable.h"

#include <algorithm>

#include "core/compile/planner.h"
#include "core/graph/infer.h"
#include "core/kernels/layouts.h"
#include "core/passes/driver.h"

namespace asc {
namespace {
std::vector<Port> PortsOf(const Graph& graph, bool inputs) {
  std::vector<Port> ports;
  if (inputs) {
    for (const ValueId id : graph.inputs()) ports.push_back({graph.value(id).name, graph.value(id).type});
  } else {
    for (const GraphOutput& output : graph.outputs()) ports.push_back({output.name, graph.value(output.value).type});
  }
  return ports;
}

// The nodes that a run may need, in order: those that the outputs or variables depend on. Nothing is asked of the others, so that
// they do no harm where no pass has removed them.
Result<std::vector<NodeId>> NeededNodes(const Graph& graph) {
  ASC_ASSIGN_OR_RETURN(std::vector<NodeId> order, graph.TopologicalOrder());
  std::vector<char> needed(graph.value_bound(), 0);
  const auto need = [&](ValueId id) {
    if (id.valid()) needed[static_cast<size_t>(id.index)] = 1;
  };
  for (const GraphOutput& output : graph.outputs()) need(output.value);
  std::vector<NodeId> reversed;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph.node(*it);
    const bool is_needed = node.schema->writes_variable ||
                           std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
                             return id.valid() && needed[static_cast<size_t>(id.index)];
                           });
    if (!is_needed) continue;
    reversed.push_back(*it);
    for (const ValueId id : graph.AllInputs(*it)) need(id);
  }
  order.assign(reversed.rbegin(), reversed.rend());
  return order;
}

PassOptions PassOptionsOf(const CompileOptions& options, const Device& device) {
  PassOptions passes;
  passes.graph_opt_level = options.graph_opt_level;
  passes.enable_const_fold = options.enable_const_fold;
  passes.assume_finite = options.assume_finite;
  passes.fusion = options.fusion;
  passes.disabled = options.disabled;
  passes.dump_path = options.dump_path;
  passes.rewrite_limit = options.rewrite_limit;
  passes.verify = passes.verify || options.verify_passes;
  passes.c0[DataType::kFloat32] = device.BlockSizes(DataType::kFloat32);
  passes.accepts_layout = AcceptsLayoutOnHost;
  return passes;
}

// Kinds and element types, of items too. A bare value is taken for an optional that holds it.
Status CheckTypes(const std::string& name, const ValueType& type, const AnyValue& value) {
  if (type.kind == ValueKind::kOptional && value.kind() != ValueKind::kOptional) {
    return type.element ? CheckTypes(name, *type.element, value) : Ok();
  }
  if (value.kind() != type.kind) {
    return TypeError("input '", name, "' must be a ", ValueKindName(type.kind), ", given a ", ValueKindName(value.kind()));
  }
  if (type.is_tensor()) {
    const DataType given = value.tensor().dtype();
    if (given == type.dtype || type.dtype == DataType::kUndefined) return Ok();
    return TypeError("input '", name, "' must be ", DataTypeName(type.dtype), ", given ", DataTypeName(given))
        .WithHint("convert the array to the expected type");
  }
  if (type.element == nullptr || value.is_none()) return Ok();
  const auto check_entries = [&](const auto& map) -> Status {
    for (const auto& [key, item] : map) ASC_RETURN_IF_ERROR(CheckTypes(name, *type.element, item));
    return Ok();
  };
  if (type.kind == ValueKind::kOptional) return CheckTypes(name, *type.element, value.optional_value());
  if (type.kind == ValueKind::kMap) {
    if (value.has_string_keys() != (type.dtype == DataType::kString)) {
      return TypeError("input '", name, "' must be a map with keys of ", DataTypeName(type.dtype));
    }
    return value.has_string_keys() ? check_entries(value.string_map()) : check_entries(value.int_map());
  }
  for (const AnyValue& item : value.sequence()) ASC_RETURN_IF_ERROR(CheckTypes(name, *type.element, item));
  return Ok();
}

Status CheckExtents(const Port& port, const Tensor& tensor, DimBindings& bindings) {
  const Shape& shape = port.type.shape;
  if (!shape.has_rank()) return Ok();
  if (shape.rank() != tensor.rank()) {
    return ShapeError("input '", port.name, "' must have shape ", shape, " (rank ", shape.rank(), "), given ", tensor.dims());
  }
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_constant() && shape[i].value() != tensor.dim(i)) {
      return ShapeError("input '", port.name, "' must have shape ", shape, ", given ", tensor.dims(), ": axis ", i, " is ",
                        tensor.dim(i), ", expected ", shape[i]);
    }
    if (!shape[i].is_symbol() || shape[i].is_unknown()) continue;
    const auto [it, fresh] = bindings.emplace(shape[i].ToString(), tensor.dim(i));
    if (!fresh && it->second != tensor.dim(i)) {
      return ShapeError("input '", port.name, "' has ", tensor.dim(i), " on axis ", i, " ('", it->first,
                        "'), but another input or axis gave '", it->first, "' = ", it->second);
    }
  }
  return Ok();
}
}  // namespace

Executable::Executable(std::unique_ptr<Graph> graph, Device& device, CompileOptions options)
    : graph_(std::move(graph)), device_(device), options_(std::move(options)), threads_(options_.ResolvedThreads()),
      inputs_(PortsOf(*graph_, true)), outputs_(PortsOf(*graph_, false)),
      plan_cache_(std::make_unique<PlanCache>(static_cast<size_t>(options_.plan_cache_size))),
      arenas_(std::make_unique<ArenaPool>(device.allocator())) {}

Result<std::shared_ptr<Executable>> Executable::Compile(std::unique_ptr<Graph> graph, Device& device, CompileOptions options) {
  ASC_RETURN_IF_ERROR(options.Validate());
  ASC_RETURN_IF_ERROR(InferGraph(*graph));
  PassDriver driver(PassOptionsOf(options, device));
  ASC_RETURN_IF_ERROR(driver.Run(*graph));
  auto constants = std::make_shared<ConstantStore>(device.allocator());
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Executable> made, Prepare(std::move(graph), device, options, std::move(constants)));
  made->pass_report_ = driver.report().ToJson();
  return made;
}

Result<std::shared_ptr<Executable>> Executable::FromOptimized(std::unique_ptr<Graph> graph, Device& device,
                                                              CompileOptions options) {
  ASC_RETURN_IF_ERROR(options.Validate());
  auto constants = std::make_shared<ConstantStore>(device.allocator());
  return Prepare(std::move(graph), device, options, std::move(constants));
}

Result<std::shared_ptr<Executable>> Executable::Prepare(std::unique_ptr<Graph> graph, Device& device,
                                                        const CompileOptions& options,
                                                        std::shared_ptr<ConstantStore> constants) {
  std::shared_ptr<Executable> made(new Executable(std::move(graph), device, options));
  made->constants_ = constants;
  ASC_ASSIGN_OR_RETURN(made->order_, NeededNodes(*made->graph_));
  made->bodies_.resize(made->graph_->node_bound());
  for (const NodeId id : made->order_) {
    Node& node = made->graph_->node(id);
    if (!device.Supports(*node.schema)) {
      return Error(Code::kUnsupportedOperator, "operator ", node.schema->FullName(), " is not available on ", device.properties().id)
          .WithNode(node.OriginText());
    }
    for (Region& region : node.regions) {
      ASC_ASSIGN_OR_RETURN(std::shared_ptr<Executable> body, Prepare(region.graph->Clone(), device, options, constants));
      made->bodies_[static_cast<size_t>(id.index)].push_back(std::move(body));
    }
  }
  return made;
}

Status Executable::CheckInputs(const std::vector<const AnyValue*>& values) const {
  if (values.size() != inputs_.size()) {
    return InvalidArgument("the graph has ", inputs_.size(), " inputs, given ", values.size());
  }
  DimBindings bindings;
  for (size_t i = 0; i < values.size(); ++i) {
    const Port& port = inputs_[i];
    ASC_RETURN_IF_ERROR(CheckTypes(port.name, port.type, *values[i]));
    if (port.type.is_tensor()) ASC_RETURN_IF_ERROR(CheckExtents(port, values[i]->tensor(), bindings));
  }
  return Ok();
}

Status Executable::CheckInputTypes(const std::vector<const AnyValue*>& values) const {
  if (values.size() != inputs_.size()) {
    return InvalidArgument("a body has ", inputs_.size(), " inputs, given ", values.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    ASC_RETURN_IF_ERROR(CheckTypes(inputs_[i].name, inputs_[i].type, *values[i]));
  }
  return Ok();
}

std::shared_ptr<const Plan> Executable::CachedPlan(const std::vector<const AnyValue*>& values) const {
  return plan_cache_->Find(values);
}

Result<std::shared_ptr<const Plan>> Executable::PlanFor(const std::vector<const AnyValue*>& values) const {
  return plan_cache_->GetOrMake(values, [&] { return Planner(*this, values).Make(); });
}

Result<std::shared_ptr<const Plan>> Executable::StaticPlan() const {
  // Planning looks at types and extents only: these tensors have no elements.
  const std::shared_ptr<Buffer> nothing = Buffer::Wrap(nullptr, 0, nullptr);
  std::vector<AnyValue> values;
  std::vector<const AnyValue*> pointers;
  for (const Port& port : inputs_) {
    const auto dims = port.type.is_tensor() ? port.type.shape.ToDims() : std::nullopt;
    if (!dims) {
      return InvalidArgument("the shape of input '", port.name, "' is not fixed: ", port.type)
          .WithHint("run the model once, or give the shapes");
    }
    values.emplace_back(Tensor::Unchecked(port.type.dtype, *dims, nothing, 0));
  }
  for (const AnyValue& value : values) pointers.push_back(&value);
  return PlanFor(pointers);
}

const std::shared_ptr<Executable>& Executable::Body(NodeId node, size_t region) const {
  return bodies_[static_cast<size_t>(node.index)][region];
}

}  // namespace asc
