#include "core/onnx/graph_builder.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/gradient/path.h"
#include "core/graph/infer.h"
#include "core/graph/verify.h"
#include "core/onnx/adapters/adapter.h"
#include "core/onnx/declared_types.h"
#include "core/onnx/flex_attention.h"
#include "core/onnx/functions.h"
#include "core/onnx/gradient_node.h"
#include "core/onnx/model_reader.h"
#include "core/onnx/names.h"
#include "core/onnx/node_order.h"
#include "core/ops/registry.h"

namespace asc::onnx {
namespace {
// Functions that call functions may multiply without end while the file stays small.
constexpr size_t kMostNodes = 500'000;
constexpr size_t kDeepestCall = 64;
constexpr int64_t kLastIrThatListsInitializers = 3;

// What all graphs of one import share.
struct Shared {
  FunctionLibrary functions;
  NameSupply names;
  std::set<std::string> input_symbols;  // that the model's inputs bind
  std::set<std::string> open_inputs;    // initializers of the model's graph that are to be inputs
  size_t nodes = 0;
  bool has_gradients = false;
  std::vector<const ImportedFunction*> calls;  // being expanded, outermost first
};

class ScopeBuilder : public AdapterScope {
 public:
  // `outer`: of the graph that has the node whose body this is; null for the model's graph.
  // `reached`: whether the body runs in every run that comes to its owner.
  ScopeBuilder(Shared& shared, Graph& graph, ScopeBuilder* outer, bool is_loop = false,
               Reached reached = Reached::kSurely)
      : shared_(shared),
        graph_(graph),
        outer_(outer),
        depth_(outer == nullptr ? 0 : outer->depth_ + 1),
        loop_depth_((outer == nullptr ? 0 : outer->loop_depth_) + is_loop),
        reached_(outer == nullptr || reached == Reached::kPerhaps ? reached : outer->reached_) {}

  // `formal`: what the owner of a body knows of the body's inputs.
  Status Build(const ImportedGraph& source, const std::vector<ValueType>& formal);
  // Values of the outer graph, in order of the inputs that stand for them.
  const std::vector<ValueId>& captures() const { return captures_; }

  const ValueType* TypeOf(const std::string& name) override;
  const Tensor* ConstantOf(const std::string& name) override;
  std::string FreshName(std::string_view base) override { return shared_.names.Fresh(base); }
  std::string AddConstant(std::string_view base, Tensor value) override;
  Status Emit(ImportedNode node) override;

 private:
  Status AddInputs(const ImportedGraph& source, const std::vector<ValueType>& formal);
  Status AddInput(const std::string& name, ValueType type, const std::string& graph_name);
  Status AddOutputs(const ImportedGraph& source);
  void RemoveUnusedConstants();
  Status Define(const std::string& name, ValueId value);
  // Invalid when neither this graph nor one around it has the name.
  ValueId Find(const std::string& name);
  Result<ValueId> Use(const std::string& name);

  Status BuildNode(ImportedNode node);
  Status BuildCall(const ImportedFunction& function, const ImportedNode& call);
  Status BuildFlexAttention(const ImportedNode& call);
  Status BuildGradientCall(const ImportedNode& call);
  // Where y depends on a variable by way of a graph around this one: E5033.
  Status CheckInside(ValueId y, const GradientNames& names);
  Status BuildNodes(std::vector<ImportedNode> nodes);
  Status BuildConstant(const ImportedNode& node);
  Status BuildOperator(const ImportedNode& node);
  Status AddNode(const ImportedNode& node, const OpSchema* schema);

  Shared& shared_;
  Graph& graph_;
  ScopeBuilder* outer_;
  const int depth_, loop_depth_;
  const Reached reached_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, const Tensor*>
      initializers_;  // become values when they are first used
  std::map<std::string, ValueType, std::less<>> declared_;
  std::vector<ValueId> captures_;
  const ImportedNode* adapted_ = nullptr;  // the node that is being upgraded
};

Status ScopeBuilder::Define(const std::string& name, ValueId value) {
  if (initializers_.contains(name) || !values_.emplace(name, value).second) {
    return Error(Code::kInvalidGraph, "value '", name, "' is made twice in graph '", graph_.name(),
                 "'");
  }
  return Ok();
}

ValueId ScopeBuilder::Find(const std::string& name) {
  if (const auto it = values_.find(name); it != values_.end()) return it->second;
  if (const auto it = initializers_.find(name); it != initializers_.end()) {
    return values_[name] = graph_.AddConstant(name, *it->second);
  }
  if (outer_ == nullptr) return ValueId();
  const ValueId outer_id = outer_->Find(name);
  if (!outer_id.valid()) return outer_id;
  const Value& outer_value = outer_->graph_.value(outer_id);
  // A constant is shared rather than captured: the body then knows its value, for shapes, folding
  // and packing.
  if (outer_value.is_constant())
    return values_[name] = graph_.AddConstant(name, outer_value.constant);
  const ValueId inner = graph_.AddInput(name, outer_value.type);
  graph_.value(inner).dims = outer_value.dims;
  captures_.push_back(outer_id);
  return values_[name] = inner;
}

Result<ValueId> ScopeBuilder::Use(const std::string& name) {
  const ValueId id = Find(name);
  if (id.valid()) return id;
  std::vector<std::string> known;
  for (const auto& [other, value] : values_) known.push_back(other);
  std::sort(known.begin(), known.end());
  Status status = Error(Code::kInvalidGraph, "value '", name, "' is used, but nothing makes it");
  const std::string nearest = NearestMatch(name, known);
  return nearest.empty() ? status
                         : Status(std::move(status).WithHint(Cat("did you mean '", nearest, "'?")));
}

const ValueType* ScopeBuilder::TypeOf(const std::string& name) {
  const ValueId id = name.empty() ? ValueId() : Find(name);
  return id.valid() ? &graph_.value(id).type : nullptr;
}

const Tensor* ScopeBuilder::ConstantOf(const std::string& name) {
  return name.empty() ? nullptr : graph_.Constant(Find(name));
}

std::string ScopeBuilder::AddConstant(std::string_view base, Tensor value) {
  std::string name = FreshName(base);
  values_[name] = graph_.AddConstant(name, std::move(value));
  return name;
}

Status ScopeBuilder::Emit(ImportedNode node) {
  if (node.origins.empty() && adapted_ != nullptr) node.origins = adapted_->origins;
  node.opset = ImportedNode::kCanonical;
  return BuildNode(std::move(node));
}

Status ScopeBuilder::AddInputs(const ImportedGraph& source, const std::vector<ValueType>& formal) {
  for (const auto& [name, tensor] : source.initializers) {
    if (!initializers_.emplace(name, &tensor).second) {
      return Error(Code::kInvalidGraph, "initializer '", name, "' is given twice in graph '",
                   source.name, "'");
    }
  }
  std::vector<std::pair<std::string, ValueType>> open;
  size_t position = 0;
  for (const ImportedValue& input : source.inputs) {
    ValueType type = input.type.value_or(ValueType());
    const auto located = [&](Status status) {
      return std::move(status).WithContext(Cat("graph input '", input.name, "'"));
    };
    if (input.name.empty())
      return Error(Code::kInvalidModel, "an input of graph '", source.name, "' has no name");
    if (const auto it = initializers_.find(input.name); it != initializers_.end()) {
      const Result<ValueType> merged =
          MergeTypes(ValueType::Tensor(it->second->dtype(), Shape(it->second->dims())), type);
      if (!merged.ok()) return located(merged.status());
      if (outer_ == nullptr && shared_.open_inputs.contains(input.name)) {
        type.dtype = it->second->dtype();
        open.emplace_back(input.name, std::move(type));
        initializers_.erase(it);
      }
      continue;
    }
    if (position < formal.size()) {
      if (type.is_tensor()) type.shape = Shape();
      Result<ValueType> merged = MergeTypes(type, formal[position]);
      if (!merged.ok()) return located(std::move(merged).status());
      type = std::move(merged).value();
    }
    ++position;
    ASC_RETURN_IF_ERROR(AddInput(input.name, std::move(type), source.name));
  }
  for (auto& [name, type] : open) ASC_RETURN_IF_ERROR(AddInput(name, std::move(type), source.name));
  return Ok();
}

Status ScopeBuilder::AddInput(const std::string& name, ValueType type,
                              const std::string& graph_name) {
  if (type.is_tensor() && type.dtype == DataType::kUndefined) {
    return Error(Code::kInvalidModel, "input '", name, "' of graph '", graph_name,
                 "' has no element type")
        .WithNode(name);
  }
  if (outer_ == nullptr && type.shape.has_rank()) {
    for (const Dim& dim : type.shape.dims()) dim.CollectSymbols(shared_.input_symbols);
  }
  return Define(name, graph_.AddInput(name, std::move(type)));
}

Status ScopeBuilder::AddOutputs(const ImportedGraph& source) {
  std::set<std::string_view> names;
  for (const ImportedValue& output : source.outputs) {
    Result<ValueId> id = Use(output.name);
    if (!id.ok())
      return std::move(id).status().WithContext(Cat("output of graph '", source.name, "'"));
    // Users ask for outputs by name; a body's are known by position and may repeat.
    if (!names.insert(output.name).second && outer_ == nullptr) {
      return Error(Code::kInvalidGraph, "output '", output.name, "' is listed twice in graph '",
                   source.name, "'");
    }
    graph_.AddOutput(*id, output.name);
  }
  return Ok();
}

Status ScopeBuilder::Build(const ImportedGraph& source, const std::vector<ValueType>& formal) {
  if (depth_ > kDeepestGraph)
    return Error(Code::kInvalidModel, "graphs are nested deeper than ", kDeepestGraph);
  if (loop_depth_ > kDeepestLoop)
    return Error(Code::kInvalidModel, "loops are nested deeper than ", kDeepestLoop);
  declared_ = source.value_info;
  for (const ImportedValue& output : source.outputs) {
    if (output.type) declared_.insert_or_assign(output.name, *output.type);
  }
  ASC_RETURN_IF_ERROR(AddInputs(source, formal));
  ASC_ASSIGN_OR_RETURN(const std::vector<size_t> order, OrderNodes(source.nodes));
  for (const size_t i : order) ASC_RETURN_IF_ERROR(BuildNode(source.nodes[i]));
  ASC_RETURN_IF_ERROR(AddOutputs(source));
  RemoveUnusedConstants();
  return Ok();
}

// Inputs that became attributes or were looked at by adapters only.
void ScopeBuilder::RemoveUnusedConstants() {
  std::set<ValueId> outputs;
  for (const GraphOutput& output : graph_.outputs()) outputs.insert(output.value);
  for (const ValueId id : graph_.Values()) {
    const Value& value = graph_.value(id);
    if (value.is_constant() && value.uses.empty() && !outputs.contains(id)) graph_.RemoveValue(id);
  }
}

Status ScopeBuilder::BuildNode(ImportedNode node) {
  const auto located = [&](Status status) { return std::move(status).WithNode(node.Label()); };
  if (++shared_.nodes > kMostNodes) {
    return located(Error(Code::kInvalidModel, "the model has more than ", kMostNodes,
                         " nodes once functions are expanded"));
  }
  if (!node.attribute_references.empty()) {
    return located(Error(Code::kInvalidModel, "attribute '", node.attribute_references[0].first,
                         "' refers to a function's parameter outside of a function"));
  }
  if (const ImportedFunction* function = shared_.functions.Find(node)) {
    Status status = BuildCall(*function, node);
    return status.ok() ? Ok() : located(std::move(status));
  }
  if (node.domain.empty() && node.op_type == "Constant") {
    Status status = BuildConstant(node);
    return status.ok() ? Ok() : located(std::move(status));
  }
  // Adapters ask for the facts of inputs: all of them must exist.
  for (const std::string& input : node.inputs) {
    if (input.empty()) continue;
    if (Result<ValueId> id = Use(input); !id.ok()) return located(std::move(id).status());
  }
  if (IsFlexAttention(node)) {
    Status status = BuildFlexAttention(node);
    return status.ok() ? Ok() : located(std::move(status));
  }
  if (IsGradient(node)) {
    Status status = BuildGradientCall(node);
    return status.ok() ? Ok() : located(std::move(status));
  }
  Adaptation adaptation{*this, node};
  const ImportedNode* const before = adapted_;
  adapted_ = &node;
  Status status = UpgradeNode(adaptation);
  if (status.ok() && !adaptation.replaced) status = BuildOperator(node);
  for (ImportedNode& next : adaptation.after) {
    if (status.ok()) status = Emit(std::move(next));
  }
  adapted_ = before;
  return status.ok() ? Ok() : located(std::move(status));
}

Status ScopeBuilder::BuildCall(const ImportedFunction& function, const ImportedNode& call) {
  if (std::find(shared_.calls.begin(), shared_.calls.end(), &function) != shared_.calls.end()) {
    return Error(Code::kInvalidModel, "function '", function.name, "' calls itself");
  }
  if (shared_.calls.size() >= kDeepestCall) {
    return Error(Code::kInvalidModel, "function calls are nested deeper than ", kDeepestCall);
  }
  ASC_ASSIGN_OR_RETURN(std::vector<ImportedNode> nodes, ExpandCall(function, call, shared_.names));
  shared_.calls.push_back(&function);
  Status status = BuildNodes(std::move(nodes));
  shared_.calls.pop_back();
  return status;
}

Status ScopeBuilder::BuildFlexAttention(const ImportedNode& call) {
  const ValueType* types[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    types[i] = i < call.inputs.size() ? TypeOf(call.inputs[i]) : nullptr;
    if (types[i] == nullptr) return InvalidArgument("FlexAttention needs 3 inputs");
  }
  ASC_ASSIGN_OR_RETURN(std::vector<ImportedNode> nodes,
                       ExpandFlexAttention(call, *types[0], *types[1], shared_.names));
  return BuildNodes(std::move(nodes));
}

Status ScopeBuilder::CheckInside(ValueId y, const GradientNames& names) {
  std::vector<ValueId> around = {y};
  for (ScopeBuilder* scope = this; scope != nullptr; scope = scope->outer_) {
    std::vector<ValueId> variables;
    for (const std::string& name : names.variables) {
      if (const ValueId id = scope->Find(name); id.valid()) variables.push_back(id);
    }
    std::vector<ValueId> next;
    for (const ValueId value : around) {
      const Path path = FindPath(scope->graph_, value, variables, {});
      if (scope != this && path.Has(value)) {
        return Error(Code::kUnsupportedOperator, "Gradient has its y depend on xs or zs by way of '",
                     scope->graph_.value(value).name, "', which graph '", scope->graph_.name(),
                     "' around it makes")
            .WithHint("name that value in xs or zs, or put the Gradient into that graph");
      }
      const std::vector<ValueId>& inputs = scope->graph_.inputs();
      const size_t formal = inputs.size() - scope->captures_.size();
      for (size_t i = 0; i < scope->captures_.size(); ++i) {
        if (path.borders.contains(inputs[formal + i].index)) next.push_back(scope->captures_[i]);
      }
    }
    around = std::move(next);
  }
  return Ok();
}

Status ScopeBuilder::BuildGradientCall(const ImportedNode& call) {
  ASC_ASSIGN_OR_RETURN(const GradientNames names, ReadGradient(call));
  GradientCall values;
  for (const std::string& name : names.variables) {
    ASC_ASSIGN_OR_RETURN(const ValueId id, Use(name));
    values.variables.push_back(id);
  }
  for (const std::string& name : call.inputs) values.inputs.push_back(Find(name));
  for (const std::string& name : call.outputs) values.wanted.push_back(!name.empty());
  ASC_ASSIGN_OR_RETURN(values.y, Use(names.y));
  ASC_RETURN_IF_ERROR(CheckInside(values.y, names));
  const size_t before = graph_.mark().nodes;
  ASC_ASSIGN_OR_RETURN(
      const std::vector<ValueId> gradients,
      BuildGradient(graph_, call, values, reached_, kMostNodes - shared_.nodes));
  shared_.nodes += graph_.mark().nodes - before;
  size_t next = 0;
  for (const std::string& name : call.outputs) {
    if (name.empty()) continue;
    // Gradients may be one value under two names, or a value that was there.
    ImportedNode identity;
    identity.op_type = "Identity";
    identity.name = Cat(call.Label(), "/", name);
    identity.origins = call.origins;
    identity.inputs = {FreshName(identity.name)};
    identity.outputs = {name};
    ASC_RETURN_IF_ERROR(Define(identity.inputs[0], gradients[next++]));
    ASC_RETURN_IF_ERROR(Emit(std::move(identity)));
  }
  return Ok();
}

Status ScopeBuilder::BuildNodes(std::vector<ImportedNode> nodes) {
  for (ImportedNode& node : nodes) ASC_RETURN_IF_ERROR(BuildNode(std::move(node)));
  return Ok();
}

Status ScopeBuilder::BuildConstant(const ImportedNode& node) {
  if (node.outputs.size() != 1 || node.outputs[0].empty() || !node.inputs.empty() ||
      node.attributes.size() != 1) {
    return Error(Code::kInvalidModel, "Constant needs one value, no input and one output, given ",
                 node.attributes.size(), " attributes, ", node.inputs.size(), " inputs and ",
                 node.outputs.size(), " outputs");
  }
  const auto& [name, value] = *node.attributes.begin();
  Tensor tensor;
  const auto list = [](const auto& items) {
    using T = typename std::decay_t<decltype(items)>::value_type;
    return Tensor::FromValues<T>({static_cast<int64_t>(items.size())}, std::span<const T>(items));
  };
  if (const auto* t = std::get_if<Tensor>(&value); t && (name == "value" || name == "sparse_value"))
    tensor = *t;
  if (const auto* i = std::get_if<int64_t>(&value); i && name == "value_int")
    tensor = Tensor::Scalar(*i);
  if (const auto* f = std::get_if<float>(&value); f && name == "value_float")
    tensor = Tensor::Scalar(*f);
  if (const auto* s = std::get_if<std::string>(&value); s && name == "value_string")
    tensor = Tensor::Scalar(*s);
  if (const auto* i = std::get_if<std::vector<int64_t>>(&value); i && name == "value_ints")
    tensor = list(*i);
  if (const auto* f = std::get_if<std::vector<float>>(&value); f && name == "value_floats")
    tensor = list(*f);
  if (const auto* s = std::get_if<std::vector<std::string>>(&value); s && name == "value_strings")
    tensor = list(*s);
  if (!tensor.defined()) {
    return Error(Code::kInvalidModel, "Constant has no attribute '", name, "' of type ",
                 AttributeTypeName(asc::TypeOf(value)));
  }
  return Define(node.outputs[0], graph_.AddConstant(node.outputs[0], std::move(tensor)));
}

Status ScopeBuilder::BuildOperator(const ImportedNode& node) {
  const OpRegistry& registry = OpRegistry::Global();
  const OpSchema* schema = registry.Find(node.domain, node.op_type);
  if (schema != nullptr) return AddNode(node, schema);
  Status status =
      Error(Code::kUnsupportedOperator, "operator ", node.domain.empty() ? "" : node.domain + ".",
            node.op_type, " is not supported");
  const std::string nearest = registry.Nearest(node.op_type);
  if (!nearest.empty()) return std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
  return status;
}

Status ScopeBuilder::AddNode(const ImportedNode& node, const OpSchema* schema) {
  std::vector<ValueId> inputs;
  std::vector<const ValueType*> types;
  for (const std::string& name : node.inputs) {
    inputs.push_back(name.empty() ? ValueId() : Find(name));
    types.push_back(TypeOf(name));
  }
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  size_t output_count = node.outputs.size();
  while (output_count > 0 && node.outputs[output_count - 1].empty()) --output_count;
  // Where a model has gradients, Dropout may have one, which needs its mask.
  if (shared_.has_gradients && node.op_type == "Dropout" && inputs.size() > 2) output_count = 2;

  struct Body {
    std::string name;
    std::unique_ptr<Graph> graph;
    std::vector<ValueId> captures;
  };
  std::vector<Body> bodies;
  const bool is_loop = node.op_type != "If";
  for (const auto& [name, source] : node.regions) {
    if (std::find(schema->regions.begin(), schema->regions.end(), name) == schema->regions.end()) {
      return InvalidArgument(schema->FullName(), " has no graph attribute '", name, "'; it has ",
                             schema->regions);
    }
    auto graph = std::make_unique<Graph>(source->name);
    const Tensor* condition = node.inputs.empty() ? nullptr : ConstantOf(node.inputs[0]);
    const bool perhaps = !is_loop && MayBeSkipped(condition, name);
    ScopeBuilder body(shared_, *graph, this, is_loop,
                      perhaps ? Reached::kPerhaps : Reached::kSurely);
    if (Status status = body.Build(*source, BodyInputTypes(node, types)); !status.ok()) {
      return std::move(status).WithContext(Cat("in '", name, "'"));
    }
    bodies.push_back({name, std::move(graph), body.captures()});
  }

  const NodeId id = graph_.AddNode(schema, std::move(inputs), output_count, node.attributes,
                                   node.name.empty() ? node.Label() : node.name);
  graph_.node(id).origins = node.origins;
  for (Body& body : bodies)
    graph_.AddRegion(id, body.name, std::move(body.graph), std::move(body.captures));
  for (size_t i = 0; i < std::min(output_count, node.outputs.size()); ++i) {
    const std::string& name = node.outputs[i];
    if (name.empty()) continue;
    const ValueId value = graph_.node(id).outputs[i];
    graph_.RenameValue(value, name);
    ASC_RETURN_IF_ERROR(Define(name, value));
  }
  ASC_RETURN_IF_ERROR(InferNode(graph_, id, reached_));
  for (size_t i = 0; i < std::min(output_count, node.outputs.size()); ++i) {
    const auto declared = declared_.find(node.outputs[i]);
    if (declared == declared_.end()) continue;
    Status status = FillFromDeclared(declared->second, shared_.input_symbols,
                                     graph_.value(graph_.node(id).outputs[i]));
    if (!status.ok())
      return std::move(status).WithContext(Cat("declared type of '", node.outputs[i], "'"));
  }
  return Ok();
}
}  // namespace

std::set<std::string> OverridableNames(const ImportedModel& model) {
  std::set<std::string> names;
  if (model.ir_version <= kLastIrThatListsInitializers) return names;
  std::set<std::string_view> initializers;
  for (const auto& [name, tensor] : model.graph.initializers) initializers.insert(name);
  for (const ImportedValue& input : model.graph.inputs) {
    if (initializers.contains(input.name)) names.insert(input.name);
  }
  return names;
}

Result<std::unique_ptr<Graph>> BuildGraph(const ImportedModel& model, Overridable overridable) {
  Shared shared;
  if (overridable == Overridable::kInputs) shared.open_inputs = OverridableNames(model);
  ASC_RETURN_IF_ERROR(shared.functions.Add(model.functions));
  shared.names.Reserve(model.graph);
  shared.has_gradients = model.opsets.contains(kTrainingDomain);
  auto graph =
      std::make_unique<Graph>(model.graph.name.empty() ? std::string("graph") : model.graph.name);
  ScopeBuilder builder(shared, *graph, nullptr);
  ASC_RETURN_IF_ERROR(builder.Build(model.graph, {}));
  graph->metadata() = model.metadata;
  return graph;
}

}  // namespace asc::onnx
