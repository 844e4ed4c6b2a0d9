// CommonSubexpressions: of two deterministic nodes with the same operator, operands and attributes
// one stays; so does one of two equal constants.
#include <algorithm>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/passes/passes.h"

namespace asc {
namespace {
// Larger constants are the same only where they share memory: comparing them would read whole
// weight files.
constexpr size_t kMostComparedBytes = size_t{64} << 10;

class CommonSubexpressions : public Pass {
 public:
  std::string_view name() const override { return "CommonSubexpressions"; }
  bool ChangesFacts() const override { return false; }

  void Run(PassContext& context) override {
    MergeConstants(context);
    const Graph& graph = context.graph();
    const Result<std::vector<NodeId>> order = graph.TopologicalOrder();
    if (!order.ok()) return;
    std::unordered_multimap<uint64_t, NodeId> seen;
    for (const NodeId id : *order) {
      const Node& node = graph.node(id);
      if (!node.schema->deterministic || node.schema->writes_variable || !node.regions.empty())
        continue;
      const uint64_t hash = Hash(node);
      const auto [begin, end] = seen.equal_range(hash);
      bool merged = false;
      for (auto it = begin; it != end && !merged; ++it) {
        if (Same(graph, graph.node(it->second), node))
          merged = Merge(context, graph.node(it->second), node);
      }
      if (!merged) seen.emplace(hash, id);
    }
  }

 private:
  static uint64_t Hash(const Node& node) {
    uint64_t hash = reinterpret_cast<uintptr_t>(node.schema);
    for (const ValueId input : node.inputs)
      hash = HashCombine(hash, static_cast<uint64_t>(input.index));
    return HashCombine(hash, node.outputs.size());
  }

  static bool Same(const Graph& graph, const Node& a, const Node& b) {
    if (a.schema != b.schema || a.inputs != b.inputs || a.outputs.size() != b.outputs.size())
      return false;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if (!b.outputs[i].valid()) continue;
      if (!a.outputs[i].valid() ||
          graph.value(a.outputs[i]).storage != graph.value(b.outputs[i]).storage)
        return false;
    }
    return a.attributes == b.attributes;
  }

  static bool Merge(PassContext& context, const Node& kept, const Node& node) {
    Patch patch("Merge equal nodes", node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) patch.Replace(node.outputs[i], kept.outputs[i]);
    }
    patch.Remove(node.id);
    patch.JoinOrigins(kept.id);
    return context.Submit(patch);
  }

  static bool SameConstant(const Value& a, const Value& b, bool small) {
    if (a.origin_format != b.origin_format) return false;
    if (small) return a.constant.ContentEquals(b.constant);
    return a.constant.identity() == b.constant.identity() && a.type == b.type;
  }

  // All constants that equal one go in one patch: they often are operands of one node, which no
  // other patch of the round may touch.
  static void MergeConstants(PassContext& context) {
    const Graph& graph = context.graph();
    std::unordered_multimap<uint64_t, size_t> seen;  // places in `groups`
    std::vector<std::vector<ValueId>> groups;        // of equal ones
    for (const ValueId id : graph.Values()) {
      const Value& value = graph.value(id);
      if (!value.is_constant() || value.uses.empty()) continue;
      const Tensor& tensor = value.constant;
      const bool small =
          tensor.dtype() == DataType::kString || tensor.bytes() <= kMostComparedBytes;
      const uint64_t hash =
          small ? tensor.ContentHash() : reinterpret_cast<uintptr_t>(tensor.identity());
      const auto [begin, end] = seen.equal_range(hash);
      const auto it = std::find_if(begin, end, [&](const auto& entry) {
        return SameConstant(graph.value(groups[entry.second][0]), value, small);
      });
      if (it != end) {
        groups[it->second].push_back(id);
      } else {
        seen.emplace(hash, groups.size());
        groups.push_back({id});
      }
    }
    for (const std::vector<ValueId>& group : groups) {
      if (group.size() < 2) continue;
      Patch patch("Merge equal constants", graph.node(graph.value(group[1]).uses[0].node));
      for (size_t i = 1; i < group.size(); ++i) patch.Replace(group[i], group[0]);
      context.Submit(patch);
    }
  }
};
}  // namespace

std::unique_ptr<Pass> MakeCommonSubexpressions() {
  return std::make_unique<CommonSubexpressions>();
}

}  // namespace asc
