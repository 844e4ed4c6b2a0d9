// A forest laid out for the processor: nodes of 16 bytes (24 for float64) in the order of a walk,
// leaves that lead to themselves, so that eight walks go on side by side without a branch of the
// program that depends on the data.
#ifndef ASC_CORE_OPS_ML_TREES_H_
#define ASC_CORE_OPS_ML_TREES_H_

#include "core/ops/ml/forest.h"

namespace asc {

template <typename T>
class FlatTrees {
 public:
  // E5003 when the forest has 2^31 nodes or more.
  static Result<FlatTrees> Make(const Forest& forest, Aggregate aggregate);

  // The aggregate of each target over the trees, without base values, of rows [0, rows) of `x`
  // [rows, features] into `out` [rows, targets]. A target that no leaf adds to is 0. Trees are added
  // in their order, whatever the rows and the threads.
  void Run(const T* x, int64_t features, int64_t rows, double* out) const;
  // The same with the trees split over the threads: for few rows.
  void RunByTrees(const T* x, int64_t features, int64_t rows, double* out) const;

  int64_t targets() const { return targets_; }
  // Steps of one row through all trees, at most.
  int64_t steps() const { return steps_; }

 private:
  static constexpr int kLanes = 8;
  // Of Node::feature: what the node compares, and where a NaN goes.
  static constexpr uint32_t kFeatureMask = (1u << 28) - 1, kMissingIsTrue = 1u << 28;
  static constexpr int kOpShift = 29;
  // The others are these with the children changed over.
  enum Op : uint32_t { kLeq = 0, kLt = 1, kEq = 2, kMember = 3 };

  struct Node {
    T split;  // a leaf that adds one weight to the only target: that weight
    uint32_t feature;
    int32_t if_false;
    int32_t step;  // from if_false to if_true
  };
  struct Contribution {
    int32_t target;
    double weight;
  };

  static Node MakeBranch(const Forest::Branch& branch, int32_t if_true, int32_t if_false);
  template <int kOps, bool kMissing>
  void Walk(const T* const x[kLanes], int32_t at[kLanes]) const;
  void WalkLanes(const T* const x[kLanes], int32_t at[kLanes]) const;
  bool IsMember(T value, T set) const;
  template <Aggregate kHow>
  void AddLeaf(int32_t node, double* sums, uint8_t* touched) const;
  void AddLeaf(int32_t node, double* sums, uint8_t* touched) const;
  void Finish(double* out, int64_t rows) const;
  std::vector<uint8_t> Start(double* out, int64_t rows) const;

  std::vector<Node> nodes_;
  std::vector<int32_t> roots_;
  std::vector<size_t> blocks_;    // first trees of groups that a cache holds, and the end
  std::vector<int32_t> leaf_of_;  // of each node; empty where leaves hold their weight
  std::vector<size_t> leaf_begin_;
  std::vector<Contribution> contributions_;
  std::vector<std::vector<double>> members_;
  Aggregate aggregate_ = Aggregate::kSum;
  int64_t targets_ = 1, steps_ = 0;
  bool any_missing_ = false;
  int ops_ = kLeq;  // the one that all branches have; kMixed where they differ
  static constexpr int kMixed = -1;
};

extern template class FlatTrees<float>;
extern template class FlatTrees<double>;

}  // namespace asc

#endif  // ASC_CORE_OPS_ML_TREES_H_
