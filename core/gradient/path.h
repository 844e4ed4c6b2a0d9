// The part of a graph that leads from some values to another.
#ifndef ASC_CORE_GRADIENT_PATH_H_
#define ASC_CORE_GRADIENT_PATH_H_

#include <functional>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

struct Path {
  std::vector<NodeId> nodes;           // producers first
  std::unordered_set<int32_t> values;  // indices: the starts and what the nodes make of them
  // Values that y needs and that no node makes; no starts or stops among them.
  std::unordered_set<int32_t> borders;

  bool Has(ValueId id) const { return id.valid() && values.contains(id.index); }
};

// What leads from `starts` to y. The walk back from y ends at starts and at `stops`, whatever makes those.
// Values for which `passes` is false are not followed from node to node (null: all are).
Path FindPath(const Graph& graph, ValueId y, const std::vector<ValueId>& starts,
              const std::vector<ValueId>& stops,
              const std::function<bool(const Value&)>& passes = nullptr);

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_PATH_H_
