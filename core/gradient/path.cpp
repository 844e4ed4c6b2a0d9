#include "core/gradient/path.h"

#include <algorithm>

namespace asc {

Path FindPath(const Graph& graph, ValueId y, const std::vector<ValueId>& starts,
              const std::vector<ValueId>& stops, const std::function<bool(const Value&)>& passes) {
  Path path;
  std::unordered_set<int32_t> ends;
  for (const ValueId id : starts) {
    path.values.insert(id.index);
    ends.insert(id.index);
  }
  for (const ValueId id : stops) ends.insert(id.index);

  struct Visit {
    NodeId node;
    std::vector<ValueId> inputs;
    size_t next = 0;
  };
  std::vector<Visit> stack;  // graphs are deeper than call stacks
  std::unordered_set<int32_t> seen;
  const auto enter = [&](ValueId id) {
    if (!id.valid() || ends.contains(id.index)) return;
    const NodeId producer = graph.value(id).producer;
    if (!producer.valid()) {
      path.borders.insert(id.index);
    } else if (seen.insert(producer.index).second) {
      stack.push_back({producer, graph.AllInputs(producer)});
    }
  };
  enter(y);
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next < top.inputs.size()) {
      enter(top.inputs[top.next++]);  // `top` may dangle now
      continue;
    }
    const bool leads =
        std::any_of(top.inputs.begin(), top.inputs.end(), [&](ValueId id) { return path.Has(id); });
    if (leads) {
      path.nodes.push_back(top.node);
      for (const ValueId id : graph.node(top.node).outputs) {
        if (id.valid() && !ends.contains(id.index) && (!passes || passes(graph.value(id))))
          path.values.insert(id.index);
      }
    }
    stack.pop_back();
  }
  return path;
}

}  // namespace asc
