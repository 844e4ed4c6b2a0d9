#include "core/ops/ml/trees.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"

namespace asc {
namespace {
// Half of a level 2 cache, beside which rows and sums fit.
constexpr size_t kBlockBytes = 256 << 10;
}  // namespace

template <typename T>
typename FlatTrees<T>::Node FlatTrees<T>::MakeBranch(const Forest::Branch& branch, int32_t if_true,
                                                     int32_t if_false) {
  bool missing_is_true = branch.missing_is_true;
  Op op = kLeq;
  bool change_over = false;
  switch (branch.mode) {
    case BranchMode::kLeq:
      op = kLeq;
      break;
    case BranchMode::kLt:
      op = kLt;
      break;
    case BranchMode::kGte:
      op = kLt, change_over = true;
      break;
    case BranchMode::kGt:
      op = kLeq, change_over = true;
      break;
    case BranchMode::kEq:
      op = kEq;
      break;
    case BranchMode::kNeq:
      op = kEq, change_over = true;
      break;
    case BranchMode::kMember:
      op = kMember;
      break;
  }
  if (change_over) {
    std::swap(if_true, if_false);
    missing_is_true = !missing_is_true;
  }
  Node node;
  node.split = static_cast<T>(branch.split);
  node.feature = static_cast<uint32_t>(branch.feature) | (uint32_t{op} << kOpShift) |
                 (missing_is_true ? kMissingIsTrue : 0);
  node.if_false = if_false;
  node.step = if_true - if_false;
  return node;
}

template <typename T>
Result<FlatTrees<T>> FlatTrees<T>::Make(const Forest& forest, Aggregate aggregate) {
  FlatTrees trees;
  trees.aggregate_ = aggregate;
  trees.targets_ = forest.targets;
  trees.members_ = forest.members;
  trees.leaf_begin_ = forest.leaf_begin;
  for (const Forest::Contribution& c : forest.contributions)
    trees.contributions_.push_back({c.target, c.weight});
  const size_t leaves = forest.leaf_begin.size() - 1;
  if (forest.branches.size() + leaves >= static_cast<size_t>(INT32_MAX))
    return InvalidArgument("trees have ", forest.branches.size() + leaves, " nodes, too many");
  bool inline_weights =
      forest.targets == 1 && aggregate != Aggregate::kMin && aggregate != Aggregate::kMax;
  for (size_t i = 0; inline_weights && i < leaves; ++i)
    inline_weights = forest.leaf_begin[i + 1] - forest.leaf_begin[i] == 1;

  // Nodes in the order in which a walk along the true sides meets them first; nodes that several lead
  // to are laid out once.
  std::vector<int32_t> branch_at(forest.branches.size(), -1), leaf_at(leaves, -1);
  std::vector<std::pair<int32_t, Forest::Reference>> placed;  // branches: position and source
  const auto place = [&](Forest::Reference reference) {
    int32_t& at = reference < 0 ? leaf_at[static_cast<size_t>(~reference)]
                                : branch_at[static_cast<size_t>(reference)];
    if (at >= 0) return false;
    at = static_cast<int32_t>(trees.nodes_.size());
    Node& node = trees.nodes_.emplace_back(Node{0, 0, at, 0});
    if (reference >= 0) {
      placed.emplace_back(at, reference);
      if (!inline_weights) trees.leaf_of_.push_back(-1);
      return true;
    }
    const auto leaf = static_cast<size_t>(~reference);
    if (inline_weights) {
      node.split = static_cast<T>(forest.contributions[forest.leaf_begin[leaf]].weight);
    } else {
      trees.leaf_of_.push_back(static_cast<int32_t>(leaf));
    }
    return false;
  };
  std::vector<std::pair<Forest::Reference, int64_t>> waiting;  // and depth
  size_t block_start = 0;
  trees.blocks_.push_back(0);
  for (const Forest::Reference root : forest.roots) {
    waiting.emplace_back(root, 0);
    int64_t deepest = 0;
    while (!waiting.empty()) {
      const auto [reference, depth] = waiting.back();
      waiting.pop_back();
      deepest = std::max(deepest, depth);
      if (!place(reference)) continue;
      const Forest::Branch& branch = forest.branches[static_cast<size_t>(reference)];
      waiting.emplace_back(branch.if_false, depth + 1);
      waiting.emplace_back(branch.if_true, depth + 1);
    }
    trees.steps_ += deepest + 1;
    trees.roots_.push_back(root < 0 ? leaf_at[static_cast<size_t>(~root)]
                                    : branch_at[static_cast<size_t>(root)]);
    if ((trees.nodes_.size() - block_start) * sizeof(Node) >= kBlockBytes) {
      trees.blocks_.push_back(trees.roots_.size());
      block_start = trees.nodes_.size();
    }
  }
  if (trees.blocks_.back() != trees.roots_.size()) trees.blocks_.push_back(trees.roots_.size());

  const auto position = [&](Forest::Reference reference) {
    return reference < 0 ? leaf_at[static_cast<size_t>(~reference)]
                         : branch_at[static_cast<size_t>(reference)];
  };
  bool first = true;
  for (const auto& [at, source] : placed) {
    const Forest::Branch& branch = forest.branches[static_cast<size_t>(source)];
    const Node node = MakeBranch(branch, position(branch.if_true), position(branch.if_false));
    trees.nodes_[static_cast<size_t>(at)] = node;
    const int op = static_cast<int>(node.feature >> kOpShift);
    trees.any_missing_ |= (node.feature & kMissingIsTrue) != 0;
    trees.ops_ = first || trees.ops_ == op ? op : kMixed;
    first = false;
  }
  if (trees.ops_ != kLeq && trees.ops_ != kLt) trees.ops_ = kMixed;
  return trees;
}

template <typename T>
bool FlatTrees<T>::IsMember(T value, T set) const {
  const std::vector<double>& members = members_[static_cast<size_t>(set)];
  return value == value &&
         std::binary_search(members.begin(), members.end(), static_cast<double>(value));
}

template <typename T>
template <int kOps, bool kMissing>
void FlatTrees<T>::Walk(const T* const x[kLanes], int32_t at[kLanes]) const {
  const Node* nodes = nodes_.data();
  int32_t moved;
  do {
    moved = 0;
    for (int l = 0; l < kLanes; ++l) {
      const Node& node = nodes[at[l]];
      const T value = x[l][node.feature & kFeatureMask];
      bool is_true;
      if constexpr (kOps == kLeq) {
        is_true = value <= node.split;
      } else if constexpr (kOps == kLt) {
        is_true = value < node.split;
      } else {
        const uint32_t op = node.feature >> kOpShift;
        is_true = op == kLeq  ? value <= node.split
                  : op == kLt ? value < node.split
                  : op == kEq ? value == node.split
                              : node.step != 0 && IsMember(value, node.split);
      }
      if constexpr (kMissing) is_true |= (value != value) & ((node.feature & kMissingIsTrue) != 0);
      const int32_t next = node.if_false + (node.step & -static_cast<int32_t>(is_true));
      moved |= next ^ at[l];
      at[l] = next;
    }
  } while (moved != 0);
}

template <typename T>
void FlatTrees<T>::WalkLanes(const T* const x[kLanes], int32_t at[kLanes]) const {
  if (ops_ == kLeq) return any_missing_ ? Walk<kLeq, true>(x, at) : Walk<kLeq, false>(x, at);
  if (ops_ == kLt) return any_missing_ ? Walk<kLt, true>(x, at) : Walk<kLt, false>(x, at);
  Walk<kMixed, true>(x, at);
}

template <typename T>
template <Aggregate kHow>
void FlatTrees<T>::AddLeaf(int32_t node, double* sums, uint8_t* touched) const {
  const auto leaf = static_cast<size_t>(leaf_of_[static_cast<size_t>(node)]);
  for (size_t i = leaf_begin_[leaf]; i < leaf_begin_[leaf + 1]; ++i) {
    const auto [target, weight] = contributions_[i];
    double& sum = sums[target];
    if constexpr (kHow == Aggregate::kMin || kHow == Aggregate::kMax) {
      const bool better = kHow == Aggregate::kMin ? weight < sum : weight > sum;
      if (touched[target] == 0 || better) sum = weight;
      touched[target] = 1;
    } else {
      sum += weight;
    }
  }
}

template <typename T>
void FlatTrees<T>::AddLeaf(int32_t node, double* sums, uint8_t* touched) const {
  if (aggregate_ == Aggregate::kMin) return AddLeaf<Aggregate::kMin>(node, sums, touched);
  if (aggregate_ == Aggregate::kMax) return AddLeaf<Aggregate::kMax>(node, sums, touched);
  if (!leaf_of_.empty()) return AddLeaf<Aggregate::kSum>(node, sums, touched);
  *sums += static_cast<double>(nodes_[static_cast<size_t>(node)].split);
}

template <typename T>
void FlatTrees<T>::Run(const T* x, int64_t features, int64_t rows, double* out) const {
  std::vector<uint8_t> touched = Start(out, rows);
  for (size_t b = 0; b + 1 < blocks_.size(); ++b) {
    for (int64_t row = 0; row < rows; row += kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(kLanes, rows - row));
      const T* from[kLanes];
      for (int l = 0; l < kLanes; ++l) from[l] = x + (row + std::min(l, lanes - 1)) * features;
      if (lanes > kLanes / 2) {
        for (size_t t = blocks_[b]; t < blocks_[b + 1]; ++t) {
          int32_t at[kLanes];
          std::fill(at, at + kLanes, roots_[t]);
          WalkLanes(from, at);
          for (int l = 0; l < lanes; ++l)
            AddLeaf(at[l], out + (row + l) * targets_, touched.data() + (row + l) * targets_);
        }
        continue;
      }
      // Few rows: eight trees side by side.
      for (int r = 0; r < lanes; ++r) {
        const T* same[kLanes];
        std::fill(same, same + kLanes, from[r]);
        double* sums = out + (row + r) * targets_;
        for (size_t t = blocks_[b]; t < blocks_[b + 1]; t += kLanes) {
          const size_t count = std::min<size_t>(kLanes, blocks_[b + 1] - t);
          int32_t at[kLanes];
          for (size_t l = 0; l < kLanes; ++l) at[l] = roots_[t + std::min(l, count - 1)];
          WalkLanes(same, at);
          for (size_t l = 0; l < count; ++l)
            AddLeaf(at[l], sums, touched.data() + (row + r) * targets_);
        }
      }
    }
  }
  Finish(out, rows);
}

template <typename T>
void FlatTrees<T>::RunByTrees(const T* x, int64_t features, int64_t rows, double* out) const {
  const auto trees = static_cast<int64_t>(roots_.size());
  const int64_t groups = (trees + kLanes - 1) / kLanes;
  std::vector<int32_t> leaves(static_cast<size_t>(rows * groups * kLanes));
  ParallelFor(groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows; ++row) {
      const T* same[kLanes];
      std::fill(same, same + kLanes, x + row * features);
      for (int64_t g = begin; g < end; ++g) {
        int32_t* at = leaves.data() + (row * groups + g) * kLanes;
        for (int64_t l = 0; l < kLanes; ++l)
          at[l] = roots_[static_cast<size_t>(std::min(g * kLanes + l, trees - 1))];
        WalkLanes(same, at);
      }
    }
  });
  std::vector<uint8_t> touched = Start(out, rows);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t t = 0; t < trees; ++t) {
      AddLeaf(leaves[static_cast<size_t>(row * groups * kLanes + t)], out + row * targets_,
              touched.data() + row * targets_);
    }
  }
  Finish(out, rows);
}

template <typename T>
std::vector<uint8_t> FlatTrees<T>::Start(double* out, int64_t rows) const {
  std::fill(out, out + rows * targets_, 0.0);
  const bool needs = aggregate_ == Aggregate::kMin || aggregate_ == Aggregate::kMax;
  return std::vector<uint8_t>(static_cast<size_t>(needs ? rows * targets_ : 0));
}

template <typename T>
void FlatTrees<T>::Finish(double* out, int64_t rows) const {
  if (aggregate_ != Aggregate::kAverage) return;
  const auto trees = static_cast<double>(roots_.size());
  for (int64_t i = 0; i < rows * targets_; ++i) out[i] /= trees;
}

template class FlatTrees<float>;
template class FlatTrees<double>;

}  // namespace asc
