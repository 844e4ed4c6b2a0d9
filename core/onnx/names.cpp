#include "core/onnx/names.h"

namespace asc::onnx {

void NameSupply::Reserve(const ImportedGraph& graph) {
  for (const ImportedValue& input : graph.inputs) taken_.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) taken_.insert(name);
  for (const ImportedNode& node : graph.nodes) {
    taken_.insert(node.outputs.begin(), node.outputs.end());
    for (const auto& [name, region] : node.regions) Reserve(*region);
  }
}

std::string NameSupply::Fresh(std::string_view base) {
  // A long name in a function that is called often would multiply.
  constexpr size_t kLongest = 256;
  base = base.substr(0, kLongest);
  std::string name(base);
  int& counter = counters_[name];
  while (!taken_.insert(name).second) name = Cat(base, "_", ++counter);
  return name;
}

}  // namespace asc::onnx
