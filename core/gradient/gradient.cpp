#include "core/gradient/gradient.h"

#include <algorithm>

#include "core/gradient/path.h"
#include "core/gradient/rules.h"
#include "core/gradient/step.h"

namespace asc {
namespace {
// Gradients come by floating-point numbers alone. What is no tensor may hold some: its operators have no rules, and say so.
bool MayHaveGradient(const Value& value) {
  return !value.type.is_tensor() || types::kFloats.Contains(value.type.dtype);
}

class Reverse {
 public:
  Reverse(Graph& graph, const GradientOptions& options)
      : graph_(graph), options_(options), first_(graph.mark().nodes) {}

  Result<std::vector<ValueId>> Run(ValueId y, const std::vector<ValueId>& xs);

 private:
  Status CheckFloat(ValueId id, std::string_view what) const;
  Status Visit(const Node& node, const Path& path);
  WrittenFor ReasonOf(const Node& node) const;
  // The sum of what came for the value; invalid: nothing did.
  ValueId Collect(OperatorWriter& writer, ValueId of);

  Graph& graph_;
  const GradientOptions& options_;
  const size_t first_;
  std::map<ValueId, std::vector<ValueId>> parts_;
};

Status Reverse::CheckFloat(ValueId id, std::string_view what) const {
  const Value& value = graph_.value(id);
  if (value.type.is_tensor() && types::kFloats.Contains(value.type.dtype)) return Ok();
  return TypeError(what, " '", value.name, "' is ", value.type,
                   ": gradients are of tensors of floating-point numbers");
}

WrittenFor Reverse::ReasonOf(const Node& node) const {
  WrittenFor reason = options_.reason;
  reason.name = Cat(reason.name, "/", node.name);
  AppendOrigins(reason.origins, node.origins);
  return reason;
}

ValueId Reverse::Collect(OperatorWriter& writer, ValueId of) {
  const auto found = parts_.find(of);
  if (found == parts_.end()) return ValueId();
  std::vector<ValueId>& parts = found->second;
  if (parts.size() > 1) {
    const ValueId sum = writer.Add(parts.size() == 2 ? "Add" : "Sum", parts);
    parts = {sum};
  }
  return parts[0];
}

Status Reverse::Visit(const Node& node, const Path& path) {
  const auto located = [&](Status status) { return std::move(status).WithNode(node.OriginText()); };
  OperatorWriter sums(graph_, ReasonOf(node));
  std::vector<ValueId> gradients;
  for (const ValueId output : node.outputs)
    gradients.push_back(path.Has(output) ? Collect(sums, output) : ValueId());
  if (!sums.ok()) return located(sums.status());
  if (std::none_of(gradients.begin(), gradients.end(), [](ValueId id) { return id.valid(); }))
    return Ok();
  const GradientRule rule = FindGradient(*node.schema);
  if (rule == nullptr) {
    return located(Error(Code::kUnsupportedOperator, "operator ", node.schema->FullName(),
                         " has no gradient, and is on the way from xs to y")
                       .WithHint(kOtherWays));
  }
  std::vector<bool> wanted;
  for (const ValueId input : node.inputs) wanted.push_back(path.Has(input));
  GradientStep step(graph_, node, std::move(gradients), wanted, ReasonOf(node));
  rule(step);
  if (!step.ok()) return located(step.status());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (step.given(i).valid()) parts_[node.inputs[i]].push_back(step.given(i));
  }
  const size_t added = graph_.mark().nodes - first_;
  if (added <= options_.node_limit) return Ok();
  return Error(Code::kInvalidModel, "gradients add more than ", options_.node_limit, " nodes");
}

Result<std::vector<ValueId>> Reverse::Run(ValueId y, const std::vector<ValueId>& xs) {
  ASC_RETURN_IF_ERROR(CheckFloat(y, "y"));
  for (const ValueId x : xs) ASC_RETURN_IF_ERROR(CheckFloat(x, "x"));
  const Path path = FindPath(graph_, y, xs, options_.fixed, MayHaveGradient);
  OperatorWriter ends(graph_, options_.reason);
  if (path.Has(y))
    parts_[y] = {options_.seed.valid() ? options_.seed : Fill(Expr(ends, y), 1).id()};
  for (auto it = path.nodes.rbegin(); it != path.nodes.rend(); ++it)
    ASC_RETURN_IF_ERROR(Visit(graph_.node(*it), path));
  std::vector<ValueId> gradients;
  for (const ValueId x : xs) {
    const ValueId gradient = Collect(ends, x);
    gradients.push_back(gradient.valid() ? gradient : Fill(Expr(ends, x), 0).id());
  }
  if (!ends.ok()) return ends.status();
  return gradients;
}
}  // namespace

Result<std::vector<ValueId>> AddGradients(Graph& graph, ValueId y, const std::vector<ValueId>& xs,
                                          const GradientOptions& options) {
  return Reverse(graph, options).Run(y, xs);
}

Result<ValueId> AddCopy(Graph& graph, ValueId y, const std::map<ValueId, ValueId>& in_place_of,
                        const GradientOptions& options) {
  std::map<ValueId, ValueId> copies = in_place_of;
  std::vector<ValueId> starts;
  for (const auto& [from, to] : in_place_of) starts.push_back(from);
  const auto copy_of = [&](ValueId id) {
    const auto found = copies.find(id);
    return found == copies.end() ? id : found->second;
  };
  const Path path = FindPath(graph, y, starts, options.fixed);
  if (path.nodes.size() > options.node_limit)
    return Error(Code::kInvalidModel, "gradients add more than ", options.node_limit, " nodes");
  for (const NodeId id : path.nodes) {
    const Node& node = graph.node(id);
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(copy_of(input));
    const NodeId copy =
        graph.AddNode(node.schema, std::move(inputs), node.outputs.size(), node.attributes,
                      graph.UniqueNodeName(Cat(options.reason.name, "/", node.name)));
    graph.node(copy).origins = options.reason.origins;
    AppendOrigins(graph.node(copy).origins, node.origins);
    graph.node(copy).scope = node.scope;
    for (const Region& region : node.regions) {
      std::vector<ValueId> captures;
      for (const ValueId captured : region.captures) captures.push_back(copy_of(captured));
      graph.AddRegion(copy, region.name, region.graph->Clone(), std::move(captures));
    }
    ASC_RETURN_IF_ERROR(InferNode(graph, copy, options.reason.reached));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) copies.emplace(node.outputs[i], graph.node(copy).outputs[i]);
    }
  }
  return copy_of(y);
}

}  // namespace asc
