#include "core/onnx/export_graph.h"

#include <algorithm>

#include "core/graph/infer.h"
#include "core/ops/expansion.h"
#include "core/ops/registry.h"

namespace asc::onnx {
namespace {
// Constants of regions that take more are shared with the graph around.
constexpr size_t kLeastShared = 1024;

bool IsSame(const Tensor& a, const Tensor& b) {
  return a.identity() == b.identity() && a.dtype() == b.dtype() && a.dims() == b.dims();
}

Status CheckOperators(const Graph& graph) {
  for (const NodeId id : graph.Nodes()) {
    const Node& node = graph.node(id);
    if (node.schema->domain == "asc" && !node.schema->writes_variable) {
      return Error(Code::kUnsupportedOperator, "operator ", node.schema->FullName(),
                   " has no form in ONNX")
          .WithNode(node.OriginText())
          .WithHint("export the graph before it is optimised");
    }
    for (const Region& region : node.regions) ASC_RETURN_IF_ERROR(CheckOperators(*region.graph));
  }
  return Ok();
}

// Assignments become what they assign.
void ResolveVariables(Graph& graph) {
  for (size_t i = 0; i < graph.variables().size(); ++i) {
    const Variable variable = graph.variables()[i];
    if (variable.final != variable.initial)
      graph.AddOutput(variable.final, variable.name + "_next");
  }
  for (const NodeId id : graph.Nodes()) {
    const Node& node = graph.node(id);
    if (!node.schema->writes_variable) continue;
    graph.ReplaceUses(node.outputs[0], node.inputs[1]);
    graph.RemoveNode(id);
  }
}

Status CheckOutputNames(const Graph& graph) {
  std::set<std::string_view> names;
  for (const GraphOutput& output : graph.outputs()) {
    const auto refuse = [&](std::string_view why) {
      return InvalidArgument("output '", output.name, "' ", why)
          .WithHint("give the output another name");
    };
    if (!names.insert(output.name).second) return refuse("is there twice");
    const ValueId other = graph.FindValue(output.name);
    if (other.valid() && other != output.value &&
        graph.value(other).source == ValueSource::kInput) {
      return refuse("has the name of an input, and values of ONNX have names of their own");
    }
  }
  return Ok();
}

// Outputs that no node of the graph makes, or that are outputs already, go through Identity.
Status SeparateOutputs(Graph& graph, bool is_region) {
  std::set<ValueId> given;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const GraphOutput output = graph.outputs()[i];
    const Value& value = graph.value(output.value);
    const bool passes =
        !is_region && value.source == ValueSource::kInput && value.name == output.name;
    if ((value.source == ValueSource::kNode || passes) && given.insert(output.value).second)
      continue;
    const NodeId copy = graph.AddNode(OpRegistry::Global().Find("", "Identity"), {output.value}, 1,
                                      {}, graph.UniqueNodeName(output.name + "/Identity"));
    ASC_RETURN_IF_ERROR(InferNode(graph, copy));
    graph.outputs()[i].value = graph.node(copy).outputs[0];
  }
  return Ok();
}

Status SeparateRegionOutputs(Graph& graph) {
  for (const NodeId id : graph.Nodes()) {
    for (Region& region : graph.node(id).regions) {
      ASC_RETURN_IF_ERROR(SeparateOutputs(*region.graph, true));
      ASC_RETURN_IF_ERROR(SeparateRegionOutputs(*region.graph));
    }
  }
  return Ok();
}

void ShareConstants(const Graph& region, Graph& graph, std::set<ValueId>& shared) {
  for (const ValueId id : region.Values()) {
    const Value& value = region.value(id);
    if (!value.is_constant() || value.constant.bytes() < kLeastShared) continue;
    const std::vector<ValueId> all = graph.Values();
    const auto found = std::find_if(all.begin(), all.end(), [&](ValueId other) {
      return graph.value(other).is_constant() &&
             IsSame(graph.value(other).constant, value.constant);
    });
    shared.insert(found != all.end() ? *found : graph.AddConstant(value.name, value.constant));
  }
  for (const NodeId id : region.Nodes()) {
    for (const Region& inner : region.node(id).regions) ShareConstants(*inner.graph, graph, shared);
  }
}
}  // namespace

Result<ExportGraph> PrepareForExport(const Graph& graph) {
  ExportGraph ready{graph.Clone(), {}};
  ASC_RETURN_IF_ERROR(ExpandToOnnx(*ready.graph));
  ASC_RETURN_IF_ERROR(CheckOperators(*ready.graph));
  ResolveVariables(*ready.graph);
  ASC_RETURN_IF_ERROR(CheckOutputNames(*ready.graph));
  ASC_RETURN_IF_ERROR(SeparateOutputs(*ready.graph, false));
  ASC_RETURN_IF_ERROR(SeparateRegionOutputs(*ready.graph));
  for (const NodeId id : ready.graph->Nodes()) {
    for (const Region& region : ready.graph->node(id).regions)
      ShareConstants(*region.graph, *ready.graph, ready.shared);
  }
  return ready;
}

const std::string ExportScope::kAbsent;

ExportScope::ExportScope(const Graph& graph, const ExportScope* outer,
                         const std::vector<ValueId>& captures)
    : graph_(graph), outer_(outer), names_(graph.value_bound()) {
  const auto name = [&](ValueId id) -> std::string& {
    return names_[static_cast<size_t>(id.index)];
  };
  inputs_ = graph.inputs();
  for (size_t i = 0; i < captures.size(); ++i) {
    const ValueId inner = graph.inputs()[graph.inputs().size() - captures.size() + i];
    name(inner) = outer->Of(captures[i]);
    outer_values_.insert(inner);
  }
  inputs_.resize(graph.inputs().size() - captures.size());
  if (outer == nullptr) {
    for (const ValueId id : inputs_) name(id) = graph.value(id).name;
    for (const Variable& variable : graph.variables()) name(variable.initial) = variable.name;
    for (const GraphOutput& output : graph.outputs()) name(output.value) = output.name;
    taken_.insert(names_.begin(), names_.end());
  }
  for (const ValueId id : graph.Values()) {
    if (!name(id).empty()) continue;
    const Value& value = graph.value(id);
    const std::string* const shared =
        outer != nullptr && value.is_constant() ? outer->FindShared(value.constant) : nullptr;
    name(id) = shared != nullptr ? *shared : Fresh(value.name);
    if (shared != nullptr) outer_values_.insert(id);
  }
}

bool ExportScope::IsTaken(const std::string& name) const {
  return taken_.contains(name) || (outer_ != nullptr && outer_->IsTaken(name));
}

std::string ExportScope::Fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; IsTaken(name); ++i) name = Cat(base, "_", i);
  taken_.insert(name);
  return name;
}

const std::string* ExportScope::FindShared(const Tensor& constant) const {
  if (constant.bytes() < kLeastShared) return nullptr;
  if (outer_ != nullptr) return outer_->FindShared(constant);
  for (const ValueId id : graph_.Values()) {
    const Value& value = graph_.value(id);
    if (value.is_constant() && IsSame(value.constant, constant)) return &Of(id);
  }
  return nullptr;
}

}  // namespace asc::onnx
