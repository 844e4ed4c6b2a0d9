#include "core/passes/min_cut.h"

#include <algorithm>

namespace asc {

void MinCut::AddEdge(size_t from, size_t to, double capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

// Distances from the source over edges with capacity left; false when the sink is out of reach.
bool MinCut::Layer() {
  level_.assign(edges_of_.size(), -1);
  level_[kSource] = 0;
  std::vector<size_t> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const size_t e : edges_of_[queue[i]]) {
      if (edges_[e].left <= 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[queue[i]] + 1;
      queue.push_back(edges_[e].to);
    }
  }
  return level_[kSink] >= 0;
}

double MinCut::Push(size_t at, double flow) {
  if (at == kSink) return flow;
  double pushed = 0;
  for (size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
    const size_t e = edges_of_[at][i];
    const size_t to = edges_[e].to;
    if (edges_[e].left <= 0 || level_[to] != level_[at] + 1) continue;
    const double more = Push(to, std::min(flow - pushed, edges_[e].left));
    edges_[e].left -= more;
    edges_[e ^ 1].left += more;
    pushed += more;
    if (pushed >= flow) return pushed;
  }
  return pushed;
}

std::vector<bool> MinCut::Solve() {
  while (Layer()) {
    next_.assign(edges_of_.size(), 0);
    cost_ += Push(kSource, kInfinite);
  }
  std::vector<bool> source_side(edges_of_.size());
  for (size_t i = 0; i < source_side.size(); ++i) source_side[i] = level_[i] >= 0;
  return source_side;
}

}  // namespace asc
