#include "core/onnx/gradient_node.h"

#include <algorithm>
#include <set>

#include "core/gradient/gradient.h"

namespace asc::onnx {
namespace {
using Strings = std::vector<std::string>;

Strings List(const ImportedNode& node, std::string_view attribute) {
  const Strings* const names = node.attributes.Get<Strings>(attribute);
  return names == nullptr ? Strings() : *names;
}

Status CheckAttributes(const ImportedNode& node) {
  for (const auto& [name, value] : node.attributes) {
    if (name != "xs" && name != "zs" && name != "y") {
      return InvalidArgument("Gradient has no attribute '", name, "'")
          .WithHint("it has xs, zs and y");
    }
    const AttributeType expected = name == "y" ? AttributeType::kString : AttributeType::kStrings;
    if (TypeOf(value) != expected) {
      return InvalidArgument("attribute '", name, "' of Gradient must be ",
                             AttributeTypeName(expected), ", given ",
                             AttributeTypeName(TypeOf(value)));
    }
  }
  for (const char* const name : {"xs", "y"}) {
    if (!node.attributes.Has(name))
      return InvalidArgument("Gradient needs the attribute '", name, "'");
  }
  return Ok();
}
}  // namespace

bool IsGradient(const ImportedNode& node) {
  return node.domain == kTrainingDomain && node.op_type == "Gradient";
}

Result<GradientNames> ReadGradient(const ImportedNode& node) {
  ASC_RETURN_IF_ERROR(CheckAttributes(node));
  GradientNames names;
  names.variables = List(node, "xs");
  names.xs = names.variables.size();
  for (std::string& name : List(node, "zs")) names.variables.push_back(std::move(name));
  names.y = node.attributes.String("y", "");
  std::set<std::string_view> once;
  for (const std::string& name : names.variables) {
    if (!once.insert(name).second)
      return InvalidArgument("'", name, "' is twice in xs and zs of Gradient");
  }
  if (node.inputs.size() != names.variables.size()) {
    return InvalidArgument("Gradient needs an input for each of xs and zs: ",
                           names.variables.size(), ", given ", node.inputs.size());
  }
  if (node.outputs.size() > names.xs) {
    return InvalidArgument("Gradient gives an output for each of xs: ", names.xs, ", asked for ",
                           node.outputs.size());
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty())
      return InvalidArgument("Gradient has no input for '", names.variables[i], "'");
  }
  return names;
}

Strings NamesInAttributes(const ImportedNode& node) {
  if (!IsGradient(node)) return {};
  Strings names = List(node, "xs");
  for (std::string& name : List(node, "zs")) names.push_back(std::move(name));
  names.push_back(node.attributes.String("y", ""));
  return names;
}

Status RenameInAttributes(ImportedNode& node,
                          const std::function<Result<std::string>(const std::string&)>& rename) {
  if (!IsGradient(node)) return Ok();
  for (const char* const list : {"xs", "zs"}) {
    Strings names = List(node, list);
    for (std::string& name : names) {
      ASC_ASSIGN_OR_RETURN(name, rename(name));
    }
    if (!names.empty()) node.attributes.Set(list, std::move(names));
  }
  ASC_ASSIGN_OR_RETURN(std::string y, rename(node.attributes.String("y", "")));
  node.attributes.Set("y", std::move(y));
  return Ok();
}

Result<std::vector<ValueId>> BuildGradient(Graph& graph, const ImportedNode& node,
                                           const GradientCall& call, Reached reached,
                                           size_t node_limit) {
  GradientOptions options;
  options.reason = {node.Label(), node.origins, 0, reached};
  options.node_limit = node_limit;
  // A tensor that is fed for several, or that leads to y in another way too, is another variable each time.
  std::map<ValueId, ValueId> fed;
  OperatorWriter writer(graph, options.reason);
  std::vector<ValueId> variables = call.variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (call.inputs[i] == variables[i]) continue;
    const ValueId input = writer.Add("Identity", {call.inputs[i]});
    fed.emplace(variables[i], input);
    variables[i] = input;
  }
  if (!writer.ok()) return writer.status();
  std::vector<ValueId> xs;
  for (size_t i = 0; i < variables.size(); ++i) {
    const bool wanted = i < call.wanted.size() && call.wanted[i];
    (wanted ? xs : options.fixed).push_back(variables[i]);
  }
  ValueId y = call.y;
  if (!fed.empty()) {
    GradientOptions copying = options;
    copying.fixed = call.variables;
    ASC_ASSIGN_OR_RETURN(y, AddCopy(graph, y, fed, copying));
  }
  return AddGradients(graph, y, xs, options);
}

}  // namespace asc::onnx
