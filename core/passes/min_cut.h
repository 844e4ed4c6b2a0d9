// Minimum cut of a small flow network, by Dinic's algorithm.
#ifndef ASC_CORE_PASSES_MIN_CUT_H_
#define ASC_CORE_PASSES_MIN_CUT_H_

#include <cstddef>
#include <limits>
#include <vector>

namespace asc {

class MinCut {
 public:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  MinCut() : edges_of_(2) {}
  static constexpr size_t kSource = 0, kSink = 1;
  size_t AddVertex() {
    edges_of_.emplace_back();
    return edges_of_.size() - 1;
  }
  // Costs `capacity` when `from` is on the source's side and `to` on the sink's.
  void AddEdge(size_t from, size_t to, double capacity);
  // By vertex: on the source's side of the cheapest cut; of several cheapest ones, the one with the
  // fewest vertices there.
  std::vector<bool> Solve();
  // What the cut costs; known once solved.
  double cost() const { return cost_; }

 private:
  struct Edge {
    size_t to;
    double left;
  };
  bool Layer();
  double Push(size_t at, double flow);

  std::vector<Edge> edges_;                    // edge i and its reverse i ^ 1
  std::vector<std::vector<size_t>> edges_of_;  // by vertex
  std::vector<int> level_;
  std::vector<size_t> next_;
  double cost_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_PASSES_MIN_CUT_H_
