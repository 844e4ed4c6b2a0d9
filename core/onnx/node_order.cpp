#include "core/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/onnx/gradient_node.h"

namespace asc::onnx {
namespace {
template <typename F>
void VisitUsedNames(const ImportedNode& node, F&& visit) {
  for (const std::string& input : node.inputs) {
    if (!input.empty()) visit(input);
  }
  for (const std::string& used : NamesInAttributes(node)) visit(used);
  for (const auto& [name, region] : node.regions) {
    for (const std::string& used : FreeNames(*region)) visit(used);
  }
}
}  // namespace

std::vector<std::string> FreeNames(const ImportedGraph& graph) {
  std::unordered_set<std::string> known;
  for (const ImportedValue& input : graph.inputs) known.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) known.insert(name);
  for (const ImportedNode& node : graph.nodes)
    known.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string> free;
  const auto visit = [&](const std::string& name) {
    if (known.insert(name).second) free.push_back(name);
  };
  for (const ImportedNode& node : graph.nodes) VisitUsedNames(node, visit);
  for (const ImportedValue& output : graph.outputs) visit(output.name);
  return free;
}

Result<std::vector<size_t>> OrderNodes(const std::vector<ImportedNode>& nodes) {
  std::unordered_map<std::string, size_t> makers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [it, fresh] = makers.emplace(output, i);
      if (!fresh) {
        return Error(Code::kInvalidGraph, "value '", output, "' is made twice, by node '",
                     nodes[it->second].Label(), "' and by node '", nodes[i].Label(), "'")
            .WithNode(nodes[i].Label());
      }
    }
  }
  std::vector<size_t> waits(nodes.size(), 0);
  std::vector<std::vector<size_t>> users(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    VisitUsedNames(nodes[i], [&](const std::string& used) {
      const auto maker = makers.find(used);
      if (maker == makers.end()) return;
      users[maker->second].push_back(i);
      ++waits[i];
    });
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const size_t user : users[next]) {
      if (--waits[user] == 0) ready.push(user);
    }
  }
  if (order.size() == nodes.size()) return order;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] == 0) continue;
    return Error(Code::kInvalidGraph, "the graph is not acyclic: node '", nodes[i].Label(),
                 "' waits for its own result")
        .WithNode(nodes[i].Label());
  }
  return InternalError("nodes could not be ordered");
}

}  // namespace asc::onnx
