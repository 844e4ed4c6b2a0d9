#include "core/onnx/functions.h"

#include <algorithm>
#include <unordered_map>

#include "core/onnx/gradient_node.h"
#include "core/onnx/node_order.h"

namespace asc::onnx {
namespace {
using Renames = std::unordered_map<std::string, std::string>;

class Expansion {
 public:
  Expansion(const ImportedFunction& function, const ImportedNode& call, NameSupply& names)
      : function_(function), call_(call), names_(names) {}

  Result<std::vector<ImportedNode>> Run();

 private:
  Status CheckCall() const;
  std::string Fresh(const std::string& name) { return names_.Fresh(Cat(call_.Label(), "/", name)); }
  Result<ImportedNode> Instantiate(const ImportedNode& node, const Renames& renames);
  Result<std::shared_ptr<const ImportedGraph>> Instantiate(const ImportedGraph& graph,
                                                           Renames renames);
  Result<std::string> Renamed(const std::string& name, const Renames& renames) const;
  void FillAttributes(ImportedNode& node) const;

  const ImportedFunction& function_;
  const ImportedNode& call_;
  NameSupply& names_;
};

Status Expansion::CheckCall() const {
  const auto refuse = [&](const auto&... what) {
    return Error(Code::kInvalidModel, "function '", function_.name, "' ", what...);
  };
  if (call_.inputs.size() > function_.inputs.size()) {
    return refuse("takes ", function_.inputs.size(), " inputs, given ", call_.inputs.size());
  }
  if (call_.outputs.size() > function_.outputs.size()) {
    return refuse("gives ", function_.outputs.size(), " outputs, asked for ", call_.outputs.size());
  }
  for (const auto& [name, value] : call_.attributes) {
    if (std::find(function_.parameters.begin(), function_.parameters.end(), name) ==
            function_.parameters.end() &&
        !function_.defaults.attributes.Has(name)) {
      return refuse("has no attribute '", name, "'; it has ", function_.parameters);
    }
  }
  return Ok();
}

Result<std::string> Expansion::Renamed(const std::string& name, const Renames& renames) const {
  if (name.empty()) return name;
  const auto it = renames.find(name);
  if (it != renames.end()) return it->second;
  return Error(Code::kInvalidModel, "function '", function_.name, "' uses '", name,
               "', which nothing in it makes");
}

void Expansion::FillAttributes(ImportedNode& node) const {
  for (const auto& [attribute, parameter] : node.attribute_references) {
    const AttributeValue* value = call_.attributes.Find(parameter);
    if (value == nullptr) value = function_.defaults.attributes.Find(parameter);
    if (value != nullptr) node.attributes.Set(attribute, *value);
    for (const auto& [name, region] : call_.regions) {
      if (name == parameter) node.regions.emplace_back(attribute, region);
    }
  }
  node.attribute_references.clear();
}

Result<ImportedNode> Expansion::Instantiate(const ImportedNode& node, const Renames& renames) {
  ImportedNode copy = node;
  for (std::string& input : copy.inputs) {
    ASC_ASSIGN_OR_RETURN(input, Renamed(input, renames));
  }
  for (std::string& output : copy.outputs) {
    ASC_ASSIGN_OR_RETURN(output, Renamed(output, renames));
  }
  for (auto& [name, region] : copy.regions) {
    ASC_ASSIGN_OR_RETURN(region, Instantiate(*region, renames));
  }
  ASC_RETURN_IF_ERROR(RenameInAttributes(
      copy, [&](const std::string& name) { return Renamed(name, renames); }));
  FillAttributes(copy);  // after the regions: a region that the caller gave has the caller's names
  copy.name = Cat(call_.Label(), "/", node.Label());
  copy.origins = call_.origins;
  return copy;
}

// Names that the graph makes become fresh ones as well: they might hide the caller's.
Result<std::shared_ptr<const ImportedGraph>> Expansion::Instantiate(const ImportedGraph& graph,
                                                                    Renames renames) {
  auto copy = std::make_shared<ImportedGraph>();
  copy->name = graph.name;
  const auto made = [&](const std::string& name) { return renames[name] = Fresh(name); };
  for (const auto& [name, tensor] : graph.initializers)
    copy->initializers.emplace_back(made(name), tensor);
  for (const ImportedValue& input : graph.inputs) {
    const bool is_initializer =
        std::any_of(graph.initializers.begin(), graph.initializers.end(),
                    [&](const auto& entry) { return entry.first == input.name; });
    copy->inputs.push_back({is_initializer ? renames[input.name] : made(input.name), input.type});
  }
  for (const ImportedNode& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) made(output);
    }
  }
  for (const auto& [name, type] : graph.value_info) {
    if (const auto it = renames.find(name); it != renames.end())
      copy->value_info.emplace(it->second, type);
  }
  for (const ImportedNode& node : graph.nodes) {
    ASC_ASSIGN_OR_RETURN(ImportedNode inner, Instantiate(node, renames));
    copy->nodes.push_back(std::move(inner));
  }
  for (const ImportedValue& output : graph.outputs) {
    ASC_ASSIGN_OR_RETURN(std::string name, Renamed(output.name, renames));
    copy->outputs.push_back({std::move(name), output.type});
  }
  return std::shared_ptr<const ImportedGraph>(std::move(copy));
}

Result<std::vector<ImportedNode>> Expansion::Run() {
  ASC_RETURN_IF_ERROR(CheckCall());
  Renames renames;
  for (size_t i = 0; i < function_.inputs.size(); ++i) {
    renames[function_.inputs[i]] = i < call_.inputs.size() ? call_.inputs[i] : "";
  }
  Renames made;
  for (const ImportedNode& node : function_.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) made.emplace(output, "");
    }
  }
  // A result takes the caller's name where it can; an input handed through, and a value that is two
  // results, are copied.
  std::vector<std::pair<std::string, std::string>> copies;  // inner name, the caller's
  for (size_t i = 0; i < call_.outputs.size(); ++i) {
    if (call_.outputs[i].empty()) continue;
    const auto it = made.find(function_.outputs[i]);
    if (it != made.end() && it->second.empty()) {
      it->second = call_.outputs[i];
    } else {
      copies.emplace_back(function_.outputs[i], call_.outputs[i]);
    }
  }
  for (auto& [inner, outer] : made) renames[inner] = outer.empty() ? Fresh(inner) : outer;

  ASC_ASSIGN_OR_RETURN(const std::vector<size_t> order, OrderNodes(function_.nodes));
  std::vector<ImportedNode> nodes;
  nodes.reserve(order.size() + copies.size());
  for (const size_t i : order) {
    ASC_ASSIGN_OR_RETURN(ImportedNode node, Instantiate(function_.nodes[i], renames));
    nodes.push_back(std::move(node));
  }
  for (const auto& [inner, outer] : copies) {
    ASC_ASSIGN_OR_RETURN(std::string source, Renamed(inner, renames));
    ImportedNode identity;
    identity.op_type = "Identity";
    identity.name = Cat(call_.Label(), "/", inner);
    identity.inputs = {std::move(source)};
    identity.outputs = {outer};
    identity.origins = call_.origins;
    nodes.push_back(std::move(identity));
  }
  return nodes;
}
}  // namespace

Status FunctionLibrary::Add(const std::vector<ImportedFunction>& functions) {
  for (const ImportedFunction& function : functions) {
    if (!functions_.emplace(Key(function.domain, function.name, function.overload), &function)
             .second) {
      return Error(Code::kInvalidModel, "function '", function.name, "' of domain '",
                   function.domain, "' is defined twice");
    }
  }
  return Ok();
}

const ImportedFunction* FunctionLibrary::Find(const ImportedNode& call) const {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find(Key(call.domain, call.op_type, call.overload));
  return it == functions_.end() ? nullptr : it->second;
}

Result<std::vector<ImportedNode>> ExpandCall(const ImportedFunction& function,
                                             const ImportedNode& call, NameSupply& names) {
  return Expansion(function, call, names).Run();
}

}  // namespace asc::onnx
