#include "core/graph/verify.h"

#include <algorithm>
#include <unordered_set>

#include "core/graph/infer.h"

namespace asc {
namespace {
// Regions nest in models by hand-writing; deeper ones come from hostile files.
constexpr int kDeepestNesting = 64;

template <typename... Args>
Status Illegal(const Args&... args) {
  return Error(Code::kInvalidGraph, args...);
}

class Verifier {
 public:
  Verifier(const Graph& graph, Facts facts, int depth, int loops)
      : graph_(graph), facts_(facts), depth_(depth), loops_(loops) {}

  Status Run() {
    if (depth_ > kDeepestNesting) {
      return Illegal("regions nest deeper than ", kDeepestNesting, " levels");
    }
    if (loops_ > kDeepestLoop) return Illegal("loops nest deeper than ", kDeepestLoop, " levels");
    ASC_RETURN_IF_ERROR(CheckValues());
    for (const NodeId id : graph_.Nodes()) {
      if (Status status = CheckNode(graph_.node(id)); !status.ok()) {
        return std::move(status).WithNode(graph_.node(id).OriginText());
      }
    }
    ASC_RETURN_IF_ERROR(CheckUses());
    ASC_RETURN_IF_ERROR(CheckBorder());
    ASC_RETURN_IF_ERROR(CheckVariables());
    return graph_.TopologicalOrder().status();
  }

 private:
  Status CheckValues() {
    std::unordered_set<std::string> names;
    for (const ValueId id : graph_.Values()) {
      const Value& value = graph_.value(id);
      if (value.id != id) return Illegal("value '", value.name, "' is held under another id");
      if (value.name.empty()) return Illegal("value number ", id.index, " has no name");
      if (!names.insert(value.name).second || graph_.FindValue(value.name) != id) {
        return Illegal("two values are named '", value.name, "'");
      }
      if (Status status = CheckValue(value); !status.ok()) {
        return std::move(status).WithContext(Cat("value '", value.name, "'"));
      }
    }
    return Ok();
  }

  Status CheckValue(const Value& value) {
    switch (value.source) {
      case ValueSource::kInput:
        if (std::count(graph_.inputs().begin(), graph_.inputs().end(), value.id) != 1) {
          return Illegal("an input must be listed once among the graph's inputs");
        }
        break;
      case ValueSource::kConstant:
      case ValueSource::kVariable: {
        if (!value.constant.defined()) return Illegal("its elements are missing");
        const ValueType held =
            ValueType::Tensor(value.constant.dtype(), Shape(value.constant.dims()));
        if (value.source == ValueSource::kConstant && !(held == value.type)) {
          return Illegal("its type is ", value.type, " and its elements are ", held);
        }
        ASC_RETURN_IF_ERROR(MergeTypes(held, value.type).status());
        break;
      }
      case ValueSource::kNode:
        if (!graph_.Has(value.producer)) return Illegal("the node that makes it does not exist");
        if (graph_.node(value.producer).output(value.producer_slot) != value.id) {
          return Illegal("node '", graph_.node(value.producer).name, "' does not make it");
        }
        break;
    }
    if (value.source != ValueSource::kNode && value.producer.valid()) {
      return Illegal("only results of nodes have a producer");
    }
    if (facts_ == Facts::kFull) ASC_RETURN_IF_ERROR(CheckTyped(value.type, 0));
    ASC_RETURN_IF_ERROR(CheckDims(value));
    return CheckStorage(value);
  }

  static Status CheckTyped(const ValueType& type, int depth) {
    if (depth > kDeepestNesting) return Illegal("its type nests too deeply");
    if (type.is_tensor()) {
      if (type.dtype == DataType::kUndefined) {
        return Illegal("its element type is not known").WithHint("run shape inference first");
      }
      for (size_t i = 0; type.shape.has_rank() && i < type.shape.rank(); ++i) {
        if (type.shape[i].is_constant() && type.shape[i].value() < 0) {
          return ShapeError("shape ", type.shape, " has a negative extent");
        }
      }
      return Ok();
    }
    if (!type.element) return Illegal("what its ", ValueKindName(type.kind), " holds is not known");
    if (type.kind == ValueKind::kMap && !IsInteger(type.dtype) && type.dtype != DataType::kString) {
      return TypeError("a map's keys are integers or strings, not ", DataTypeName(type.dtype));
    }
    return CheckTyped(*type.element, depth + 1);
  }

  static Status CheckDims(const Value& value) {
    if (!value.dims) return Ok();
    if (!value.type.is_tensor() ||
        !(IsInteger(value.type.dtype) || value.type.dtype == DataType::kBool)) {
      return TypeError("elements known as dimensions need a tensor of integers or bool, not ",
                       value.type);
    }
    const Shape& shape = value.type.shape;
    if (!shape.has_rank()) return Ok();
    if (shape.rank() > 1) return ShapeError("elements known as dimensions need rank 0 or 1");
    const auto count = static_cast<int64_t>(value.dims->size());
    const Dim wanted = shape.rank() == 0 ? Dim(1) : shape[0];
    if (wanted.is_constant() && wanted.value() != count) {
      return ShapeError(count, " elements are known as dimensions, but its shape is ", shape);
    }
    return Ok();
  }

  static Status CheckStorage(const Value& value) {
    const Layout& storage = value.storage;
    const bool blocked_format =
        storage.format == Format::kNC1HWC0 || storage.format == Format::kNDC1HWC0 ||
        storage.format == Format::kFractalZ || storage.format == Format::kFractalNz;
    if (blocked_format != storage.is_blocked() || storage.c0 < 0) {
      return Error(Code::kLayout, "storage ", storage, " has block size ", storage.c0);
    }
    if (!storage.is_blocked()) {
      if (storage.format == Format::kND || storage.format == value.origin_format) return Ok();
      return Error(Code::kLayout, "storage ", storage, " differs from the origin format ",
                   FormatName(value.origin_format), " and is not a blocked one");
    }
    if (!value.type.is_tensor() || value.type.dtype == DataType::kString ||
        IsSubByte(value.type.dtype)) {
      return Error(Code::kLayout, value.type, " cannot be stored as ", storage);
    }
    return StorageShape(storage, Layout{value.origin_format, 0}, value.type.shape).status();
  }

  Status CheckNode(const Node& node) {
    if (node.schema == nullptr) return Illegal("node '", node.name, "' has no operator");
    if (node.name.empty()) return Illegal("a node of ", node.schema->FullName(), " has no name");
    if (!node_names_.insert(node.name).second || graph_.FindNode(node.name) != node.id) {
      return Illegal("two nodes are named '", node.name, "'");
    }
    for (const ValueId input : graph_.AllInputs(node.id)) {
      if (input.valid() && !graph_.Has(input)) {
        return Illegal("node '", node.name, "' reads a value that does not exist (id ", input.index,
                       ")");
      }
    }
    ASC_RETURN_IF_ERROR(CheckOutputs(node));
    ASC_RETURN_IF_ERROR(CheckSchema(node));
    for (const Region& region : node.regions) {
      if (Status status = CheckRegion(node, region); !status.ok()) {
        return std::move(status).WithContext(Cat("region '", region.name, "'"));
      }
    }
    return Ok();
  }

  Status CheckOutputs(const Node& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!output.valid()) {
        const Parameter* parameter = node.schema->OutputParameter(i);
        if (parameter != nullptr && parameter->kind != ParameterKind::kOptional) {
          return Illegal("output '", parameter->name, "' of ", node.schema->FullName(),
                         " is not optional");
        }
        continue;
      }
      if (!graph_.Has(output)) return Illegal("output ", i, " does not exist");
      const Value& value = graph_.value(output);
      if (value.source != ValueSource::kNode || value.producer != node.id ||
          value.producer_slot != i) {
        return Illegal("value '", value.name, "' does not know that it is output ", i);
      }
    }
    return Ok();
  }

  Status CheckSchema(const Node& node) {
    std::vector<InferInput> inputs = InferInputsOf(graph_, node);
    if (facts_ == Facts::kPartial) {
      // Unknown element types fit anything yet: the counts and attributes are checked without them.
      if (std::any_of(inputs.begin(), inputs.end(), [](const InferInput& input) {
            return input.type != nullptr && input.type->is_tensor() &&
                   input.type->dtype == DataType::kUndefined;
          })) {
        return Ok();
      }
    }
    AttributeMap attributes = node.attributes;
    return CheckAgainstSchema(*node.schema, inputs, node.outputs.size(), attributes);
  }

  Status CheckRegion(const Node& node, const Region& region) {
    const auto& wanted = node.schema->regions;
    if (std::find(wanted.begin(), wanted.end(), region.name) == wanted.end()) {
      return Illegal(node.schema->FullName(), " has no such region");
    }
    if (std::count_if(node.regions.begin(), node.regions.end(),
                      [&](const Region& other) { return other.name == region.name; }) != 1) {
      return Illegal("it is there more than once");
    }
    if (!region.graph) return Illegal("its graph is missing");
    const Graph& body = *region.graph;
    if (body.inputs().size() < region.captures.size()) {
      return Illegal("it has ", body.inputs().size(), " inputs for ", region.captures.size(),
                     " captures");
    }
    const size_t formal = body.inputs().size() - region.captures.size();
    for (size_t i = 0; i < region.captures.size(); ++i) {
      if (!graph_.Has(region.captures[i])) return Illegal("capture ", i, " does not exist");
      if (!body.Has(body.inputs()[formal + i]))
        return Illegal("the input of capture ", i, " does not exist");
      const Value& outer = graph_.value(region.captures[i]);
      const Value& inner = body.value(body.inputs()[formal + i]);
      if (Status status = MergeTypes(outer.type, inner.type).status(); !status.ok()) {
        return std::move(status).WithContext(
            Cat("capture of '", outer.name, "' as '", inner.name, "'"));
      }
      if (outer.storage.is_blocked()) {
        return Error(Code::kLayout, "capture '", outer.name, "' is stored as ", outer.storage);
      }
    }
    return Verifier(body, facts_, depth_ + 1, loops_ + !node.Is("If")).Run();
  }

  Status CheckUses() {
    std::vector<std::vector<Use>> wanted(graph_.value_bound());
    for (const NodeId id : graph_.Nodes()) {
      const std::vector<ValueId> inputs = graph_.AllInputs(id);
      for (size_t slot = 0; slot < inputs.size(); ++slot) {
        if (inputs[slot].valid()) {
          wanted[static_cast<size_t>(inputs[slot].index)].push_back({id, slot});
        }
      }
    }
    for (const ValueId id : graph_.Values()) {
      if (graph_.value(id).uses != wanted[static_cast<size_t>(id.index)]) {
        return Illegal("the uses of value '", graph_.value(id).name, "' are not recorded exactly");
      }
    }
    return Ok();
  }

  Status CheckBorder() {
    for (const ValueId input : graph_.inputs()) {
      if (!graph_.Has(input) || graph_.value(input).source != ValueSource::kInput) {
        return Illegal("a graph input does not exist (id ", input.index, ")");
      }
      ASC_RETURN_IF_ERROR(CheckPlain(graph_.value(input)));
    }
    std::unordered_set<std::string> names;
    for (const GraphOutput& output : graph_.outputs()) {
      if (!graph_.Has(output.value)) {
        return Illegal("the graph output '", output.name, "' does not exist");
      }
      if (output.name.empty()) return Illegal("a graph output has no name");
      if (depth_ == 0 && !names.insert(output.name).second) {
        return Illegal("two graph outputs are named '", output.name, "'");
      }
      ASC_RETURN_IF_ERROR(CheckPlain(graph_.value(output.value)));
    }
    return Ok();
  }

  static Status CheckPlain(const Value& value) {
    if (!value.storage.is_blocked()) return Ok();
    return Error(Code::kLayout, "value '", value.name,
                 "' crosses the border of the graph stored as ", value.storage)
        .WithHint("insert a TransData");
  }

  Status CheckVariables() {
    const auto& variables = graph_.variables();
    std::vector<size_t> versions(variables.size(), 0);
    for (const ValueId id : graph_.Values()) {
      const Value& value = graph_.value(id);
      if (value.variable < 0) {
        if (value.source == ValueSource::kVariable) {
          return Illegal("value '", value.name, "' belongs to no variable");
        }
        continue;
      }
      if (static_cast<size_t>(value.variable) >= variables.size()) {
        return Illegal("value '", value.name, "' is of a variable that does not exist");
      }
      ++versions[static_cast<size_t>(value.variable)];
    }
    for (const NodeId id : graph_.Nodes()) {
      const Node& node = graph_.node(id);
      if (!node.schema->writes_variable) continue;
      const ValueId target = node.input(0);
      if (!graph_.Has(target) || graph_.value(target).variable < 0) {
        return Illegal(node.schema->FullName(), " writes to a value that is not a variable")
            .WithNode(node.OriginText());
      }
      if (!graph_.Has(node.output(0)) ||
          graph_.value(node.output(0)).variable != graph_.value(target).variable) {
        return Illegal("the result of ", node.schema->FullName(),
                       " is not the next version of its variable")
            .WithNode(node.OriginText());
      }
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      if (Status status = CheckChain(variables[i], static_cast<int>(i), versions[i]);
          !status.ok()) {
        return std::move(status).WithContext(Cat("variable '", variables[i].name, "'"));
      }
    }
    return Ok();
  }

  // Follows the writes from the initial version: they must lead through all versions to the final
  // one.
  Status CheckChain(const Variable& variable, int index, size_t versions) {
    if (!graph_.Has(variable.initial) ||
        graph_.value(variable.initial).source != ValueSource::kVariable ||
        graph_.value(variable.initial).variable != index) {
      return Illegal("its initial version does not exist");
    }
    ValueId at = variable.initial;
    for (size_t count = 1;; ++count) {
      if (count > versions) return Illegal("its versions do not form a chain");
      ValueId next;
      for (const Use& use : graph_.value(at).uses) {
        const Node& user = graph_.node(use.node);
        if (!user.schema->writes_variable || use.slot != 0) continue;
        if (next.valid()) {
          return Illegal("version '", graph_.value(at).name, "' is overwritten twice");
        }
        next = user.output(0);
      }
      if (!next.valid()) {
        if (at != variable.final) return Illegal("its final version is not the last one written");
        if (count != versions) return Illegal("some of its versions follow no other");
        return Ok();
      }
      at = next;
    }
  }

  const Graph& graph_;
  const Facts facts_;
  const int depth_, loops_;
  std::unordered_set<std::string> node_names_;
};
}  // namespace

Status Verify(const Graph& graph, Facts facts) { return Verifier(graph, facts, 0, 0).Run(); }

}  // namespace asc
