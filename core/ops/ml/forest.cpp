#include "core/ops/ml/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asc {
namespace {
constexpr int64_t kMostFeatures = 1 << 28;
constexpr int64_t kMostTargets = 1 << 24;

// A list of numbers that is a list of floats or a tensor of floats.
struct Numbers {
  const float* floats = nullptr;
  const Tensor* tensor = nullptr;
  size_t size() const { return tensor != nullptr ? static_cast<size_t>(tensor->size()) : count; }
  double operator[](size_t i) const {
    return tensor != nullptr ? ReadAsDouble(tensor->dtype(), tensor->raw(), static_cast<int64_t>(i))
                             : static_cast<double>(floats[i]);
  }
  bool is_double() const { return tensor != nullptr && tensor->dtype() == DataType::kFloat64; }
  size_t count = 0;
};

Result<Numbers> ReadNumbers(const AttributeMap& attributes, std::string_view op,
                            const std::string& name) {
  Numbers numbers;
  const auto list = ListAttribute<float>(attributes, name);
  numbers.floats = list.data(), numbers.count = list.size();
  const Tensor* tensor = attributes.Get<Tensor>(name);
  if (tensor == nullptr) tensor = attributes.Get<Tensor>(name + "_as_tensor");
  if (tensor == nullptr || tensor->size() == 0) return numbers;
  if (numbers.count != 0)
    return InvalidArgument(op, " has both '", name, "' and '", name, "_as_tensor'");
  constexpr TypeSet kTypes = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16};
  if (!kTypes.Contains(tensor->dtype())) {
    return TypeError(op, " attribute '", name, "' is of ", DataTypeName(tensor->dtype()),
                     ", expected one of ", kTypes.ToString());
  }
  numbers.tensor = tensor;
  return numbers;
}

Status CheckLength(std::string_view op, std::string_view name, size_t length,
                   std::string_view other, size_t expected) {
  if (length == expected) return Ok();
  return InvalidArgument(op, " has ", length, " '", name, "' and ", expected, " '", other,
                         "': they go together");
}

Status CheckFeature(std::string_view op, int64_t feature) {
  if (feature >= 0 && feature < kMostFeatures) return Ok();
  return InvalidArgument(op, " attribute 'nodes_featureids' has ", feature,
                         ", expected a feature from 0 on");
}

Status CheckTarget(std::string_view op, std::string_view name, int64_t target, int64_t targets) {
  if (target >= 0 && target < targets) return Ok();
  return InvalidArgument(op, " attribute '", name, "' has ", target, ", expected 0 to ",
                         targets - 1);
}

Status ReadBase(const AttributeMap& attributes, std::string_view op, Forest& forest) {
  ASC_ASSIGN_OR_RETURN(const Numbers base, ReadNumbers(attributes, op, "base_values"));
  const auto targets = static_cast<size_t>(forest.targets);
  if (base.size() == 0) return Ok();
  if (base.size() != 1 && base.size() != targets) {
    return InvalidArgument(op, " has ", base.size(),
                           " 'base_values', expected 1 or one for each of ", targets, " targets");
  }
  forest.base.resize(targets);
  for (size_t i = 0; i < targets; ++i) forest.base[i] = base[base.size() == 1 ? 0 : i];
  return Ok();
}

// nullopt for a leaf; E5003 for no mode.
Result<std::optional<BranchMode>> ParseMode(std::string_view op, std::string_view name) {
  constexpr std::pair<std::string_view, BranchMode> kModes[] = {
      {"BRANCH_LEQ", BranchMode::kLeq}, {"BRANCH_LT", BranchMode::kLt},
      {"BRANCH_GTE", BranchMode::kGte}, {"BRANCH_GT", BranchMode::kGt},
      {"BRANCH_EQ", BranchMode::kEq},   {"BRANCH_NEQ", BranchMode::kNeq}};
  if (name == "LEAF") return std::optional<BranchMode>();
  for (const auto& [known, mode] : kModes) {
    if (name == known) return std::optional<BranchMode>(mode);
  }
  return InvalidArgument(op, " attribute 'nodes_modes' has '", name,
                         "', expected LEAF or BRANCH_LEQ, _LT, _GTE, _GT, _EQ or _NEQ");
}

// Finds nodes by the numbers of their tree and of themselves.
class NodeNumbers {
 public:
  NodeNumbers(std::span<const int64_t> trees, std::span<const int64_t> nodes)
      : trees_(trees), nodes_(nodes), order_(trees.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto before = [&](size_t a, size_t b) { return Key(a) < Key(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), before))
      std::sort(order_.begin(), order_.end(), before);
  }
  // Nullopt when there is none. `near`: the position of a node of the tree; exporters number nodes in
  // order, which makes it a look-up.
  std::optional<size_t> Find(int64_t tree, int64_t node, size_t near) const {
    const uint64_t guess = near + static_cast<uint64_t>(node) - static_cast<uint64_t>(nodes_[near]);
    const std::pair key(tree, node);
    if (guess < trees_.size() && Key(guess) == key) return guess;
    const auto it = std::lower_bound(order_.begin(), order_.end(), key,
                                     [&](size_t a, const auto& k) { return Key(a) < k; });
    return it != order_.end() && Key(*it) == key ? std::optional(*it) : std::nullopt;
  }
  Status CheckUnique(std::string_view op) const {
    for (size_t i = 1; i < order_.size(); ++i) {
      if (Key(order_[i]) == Key(order_[i - 1])) {
        return InvalidArgument(op, " has two nodes ", nodes_[order_[i]], " in tree ",
                               trees_[order_[i]]);
      }
    }
    return Ok();
  }
  // Positions ordered by tree and node.
  const std::vector<size_t>& order() const { return order_; }

 private:
  std::pair<int64_t, int64_t> Key(size_t i) const { return {trees_[i], nodes_[i]}; }

  std::span<const int64_t> trees_, nodes_;
  std::vector<size_t> order_;
};
}  // namespace

Status CheckAcyclic(const Forest& forest, std::string_view op) {
  enum : uint8_t { kUnseen, kOpen, kDone };
  std::vector<uint8_t> state(forest.branches.size(), kUnseen);
  std::vector<size_t> path;
  for (size_t start = 0; start < state.size(); ++start) {
    if (state[start] == kUnseen) path.push_back(start);
    while (!path.empty()) {
      const size_t at = path.back();
      if (state[at] != kUnseen) {
        state[at] = kDone;
        path.pop_back();
        continue;
      }
      state[at] = kOpen;
      const Forest::Branch& branch = forest.branches[at];
      for (const Forest::Reference next : {branch.if_false, branch.if_true}) {
        if (next < 0) continue;
        const auto to = static_cast<size_t>(next);
        if (state[to] == kOpen)
          return InvalidArgument(op, " has a cycle in a tree: node at position ", at,
                                 " leads back to the one at ", to);
        if (state[to] == kUnseen) path.push_back(to);
      }
    }
  }
  return Ok();
}

Result<Forest> ReadNumberedForest(const AttributeMap& attributes, std::string_view op,
                                  std::string_view prefix, int64_t targets) {
  if (targets < 1 || targets > kMostTargets)
    return InvalidArgument(op, " has ", targets, " targets or classes, expected at least one");
  const auto trees = ListAttribute<int64_t>(attributes, "nodes_treeids");
  const auto nodes = ListAttribute<int64_t>(attributes, "nodes_nodeids");
  const auto features = ListAttribute<int64_t>(attributes, "nodes_featureids");
  const auto if_true = ListAttribute<int64_t>(attributes, "nodes_truenodeids");
  const auto if_false = ListAttribute<int64_t>(attributes, "nodes_falsenodeids");
  const auto missing = ListAttribute<int64_t>(attributes, "nodes_missing_value_tracks_true");
  const auto modes = ListAttribute<std::string>(attributes, "nodes_modes");
  ASC_ASSIGN_OR_RETURN(const Numbers splits, ReadNumbers(attributes, op, "nodes_values"));
  const size_t count = trees.size();
  if (count == 0) return InvalidArgument(op, " has no nodes");
  for (const auto& [name, length] : {std::pair("nodes_nodeids", nodes.size()),
                                     {"nodes_featureids", features.size()},
                                     {"nodes_truenodeids", if_true.size()},
                                     {"nodes_falsenodeids", if_false.size()},
                                     {"nodes_modes", modes.size()},
                                     {"nodes_values", splits.size()}}) {
    ASC_RETURN_IF_ERROR(CheckLength(op, name, length, "nodes_treeids", count));
  }
  if (!missing.empty()) {
    ASC_RETURN_IF_ERROR(
        CheckLength(op, "nodes_missing_value_tracks_true", missing.size(), "nodes_treeids", count));
  }
  const NodeNumbers numbers(trees, nodes);
  ASC_RETURN_IF_ERROR(numbers.CheckUnique(op));

  Forest forest;
  forest.targets = targets;
  forest.is_double = splits.is_double();
  std::vector<Forest::Reference> references(count);
  std::vector<std::optional<BranchMode>> parsed(count);
  int64_t branches = 0, leaves = 0;
  for (size_t i = 0; i < count; ++i) {
    ASC_ASSIGN_OR_RETURN(parsed[i], ParseMode(op, modes[i]));
    references[i] = parsed[i] ? branches++ : ~leaves++;
  }
  forest.branches.resize(static_cast<size_t>(branches));
  forest.leaf_begin.assign(static_cast<size_t>(leaves) + 1, 0);
  std::vector<bool> is_child(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (!parsed[i]) continue;
    ASC_RETURN_IF_ERROR(CheckFeature(op, features[i]));
    const auto child = [&](int64_t node) -> Result<Forest::Reference> {
      const auto at = numbers.Find(trees[i], node, i);
      if (!at)
        return InvalidArgument(op, " node ", nodes[i], " of tree ", trees[i], " leads to node ",
                               node, ", which that tree does not have");
      is_child[*at] = true;
      return references[*at];
    };
    Forest::Branch& branch = forest.branches[static_cast<size_t>(references[i])];
    branch.split = splits[i];
    branch.feature = static_cast<int32_t>(features[i]);
    branch.mode = *parsed[i];
    branch.missing_is_true = !missing.empty() && missing[i] != 0;
    ASC_ASSIGN_OR_RETURN(branch.if_true, child(if_true[i]));
    ASC_ASSIGN_OR_RETURN(branch.if_false, child(if_false[i]));
    forest.features = std::max(forest.features, features[i] + 1);
  }
  // Each tree has one node that no other leads to.
  const std::vector<size_t>& order = numbers.order();
  for (size_t i = 0; i < count;) {
    const int64_t tree = trees[order[i]];
    size_t roots = 0;
    for (; i < count && trees[order[i]] == tree; ++i) {
      if (is_child[order[i]]) continue;
      if (++roots == 1) forest.roots.push_back(references[order[i]]);
    }
    if (roots != 1) {
      return InvalidArgument(op, " tree ", tree, " has ", roots,
                             " nodes that no other leads to, expected one, its root",
                             roots == 0 ? ": it has a cycle" : "");
    }
  }
  ASC_RETURN_IF_ERROR(CheckAcyclic(forest, op));

  const std::string ids_name = Cat(prefix, "_ids");
  const auto leaf_trees = ListAttribute<int64_t>(attributes, Cat(prefix, "_treeids"));
  const auto leaf_nodes = ListAttribute<int64_t>(attributes, Cat(prefix, "_nodeids"));
  const auto ids = ListAttribute<int64_t>(attributes, ids_name);
  ASC_ASSIGN_OR_RETURN(const Numbers weights, ReadNumbers(attributes, op, Cat(prefix, "_weights")));
  forest.is_double |= weights.is_double();
  for (const auto& [name, length] : {std::pair("_nodeids", leaf_nodes.size()),
                                     {"_ids", ids.size()},
                                     {"_weights", weights.size()}}) {
    ASC_RETURN_IF_ERROR(
        CheckLength(op, Cat(prefix, name), length, Cat(prefix, "_treeids"), leaf_trees.size()));
  }
  constexpr size_t kNoLeaf = SIZE_MAX;  // weights of branches have no meaning
  std::vector<size_t> leaf_of(ids.size(), kNoLeaf);
  size_t near = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    ASC_RETURN_IF_ERROR(CheckTarget(op, ids_name, ids[i], targets));
    const auto at = numbers.Find(leaf_trees[i], leaf_nodes[i], near);
    if (!at) {
      return InvalidArgument(op, " has a weight for node ", leaf_nodes[i], " of tree ",
                             leaf_trees[i], ", which is not there");
    }
    near = *at;
    if (parsed[*at]) continue;
    leaf_of[i] = static_cast<size_t>(~references[*at]);
    ++forest.leaf_begin[leaf_of[i] + 1];
  }
  std::partial_sum(forest.leaf_begin.begin(), forest.leaf_begin.end(), forest.leaf_begin.begin());
  forest.contributions.resize(forest.leaf_begin.back());
  std::vector<size_t> next(forest.leaf_begin.begin(), forest.leaf_begin.end() - 1);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (leaf_of[i] == kNoLeaf) continue;
    forest.contributions[next[leaf_of[i]]++] = {static_cast<int32_t>(ids[i]), weights[i]};
  }
  ASC_RETURN_IF_ERROR(ReadBase(attributes, op, forest));
  return forest;
}

namespace {
// Sets of values separated by NaN, one for each node of mode kMember, in the order of the nodes.
Status ReadMembers(const AttributeMap& attributes, std::string_view op, Forest& forest) {
  ASC_ASSIGN_OR_RETURN(const Numbers values, ReadNumbers(attributes, op, "membership_values"));
  std::vector<double> set;
  const auto finish = [&] {
    std::sort(set.begin(), set.end());
    forest.members.push_back(std::move(set));
    set.clear();
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      finish();
    } else {
      set.push_back(values[i]);
    }
  }
  if (!set.empty()) finish();  // the last NaN may be left out
  size_t wanted = 0;
  for (Forest::Branch& branch : forest.branches) {
    if (branch.mode == BranchMode::kMember) branch.split = static_cast<double>(wanted++);
  }
  if (wanted == forest.members.size()) return Ok();
  return InvalidArgument(op, " has ", forest.members.size(), " sets of 'membership_values' for ",
                         wanted, " nodes of mode BRANCH_MEMBER");
}
}  // namespace

Result<Forest> ReadIndexedForest(const AttributeMap& attributes) {
  constexpr std::string_view kOp = "TreeEnsemble";
  Forest forest;
  forest.targets = attributes.Int("n_targets", 1);
  if (forest.targets < 1 || forest.targets > kMostTargets)
    return InvalidArgument(kOp, " has ", forest.targets, " targets, expected at least one");
  const auto features = ListAttribute<int64_t>(attributes, "nodes_featureids");
  const auto if_true = ListAttribute<int64_t>(attributes, "nodes_truenodeids");
  const auto if_false = ListAttribute<int64_t>(attributes, "nodes_falsenodeids");
  const auto true_leafs = ListAttribute<int64_t>(attributes, "nodes_trueleafs");
  const auto false_leafs = ListAttribute<int64_t>(attributes, "nodes_falseleafs");
  const auto missing = ListAttribute<int64_t>(attributes, "nodes_missing_value_tracks_true");
  const auto roots = ListAttribute<int64_t>(attributes, "tree_roots");
  const auto leaf_targets = ListAttribute<int64_t>(attributes, "leaf_targetids");
  ASC_ASSIGN_OR_RETURN(const Numbers splits, ReadNumbers(attributes, kOp, "nodes_splits"));
  ASC_ASSIGN_OR_RETURN(const Numbers weights, ReadNumbers(attributes, kOp, "leaf_weights"));
  const Tensor* modes = attributes.Get<Tensor>("nodes_modes");
  if (modes == nullptr || modes->dtype() != DataType::kUInt8)
    return TypeError(kOp, " needs 'nodes_modes' as a tensor of uint8");
  const size_t count = features.size();
  for (const auto& [name, length] : {std::pair("nodes_truenodeids", if_true.size()),
                                     {"nodes_falsenodeids", if_false.size()},
                                     {"nodes_trueleafs", true_leafs.size()},
                                     {"nodes_falseleafs", false_leafs.size()},
                                     {"nodes_splits", splits.size()},
                                     {"nodes_modes", static_cast<size_t>(modes->size())}}) {
    ASC_RETURN_IF_ERROR(CheckLength(kOp, name, length, "nodes_featureids", count));
  }
  if (!missing.empty()) {
    ASC_RETURN_IF_ERROR(CheckLength(kOp, "nodes_missing_value_tracks_true", missing.size(),
                                    "nodes_featureids", count));
  }
  ASC_RETURN_IF_ERROR(
      CheckLength(kOp, "leaf_targetids", leaf_targets.size(), "leaf_weights", weights.size()));
  if (roots.empty()) return InvalidArgument(kOp, " has no 'tree_roots'");

  forest.is_double = splits.is_double() || weights.is_double();
  for (size_t i = 0; i < leaf_targets.size(); ++i) {
    ASC_RETURN_IF_ERROR(CheckTarget(kOp, "leaf_targetids", leaf_targets[i], forest.targets));
    forest.contributions.push_back({static_cast<int32_t>(leaf_targets[i]), weights[i]});
    forest.leaf_begin.push_back(i + 1);
  }
  for (size_t i = 0; i < count; ++i) {
    ASC_RETURN_IF_ERROR(CheckFeature(kOp, features[i]));
    const uint8_t mode = modes->data<uint8_t>()[i];
    if (mode > static_cast<uint8_t>(BranchMode::kMember))
      return InvalidArgument(kOp, " attribute 'nodes_modes' has ", int{mode}, ", expected 0 to 6");
    const auto child = [&](std::string_view name, int64_t to,
                           bool is_leaf) -> Result<Forest::Reference> {
      const size_t end = is_leaf ? leaf_targets.size() : count;
      if (to < 0 || static_cast<size_t>(to) >= end) {
        return InvalidArgument(kOp, " attribute '", name, "' has ", to, ", expected one of ", end,
                               is_leaf ? " leaves" : " nodes");
      }
      return is_leaf ? ~to : to;
    };
    Forest::Branch branch;
    branch.split = splits[i];
    branch.feature = static_cast<int32_t>(features[i]);
    branch.mode = static_cast<BranchMode>(mode);
    branch.missing_is_true = !missing.empty() && missing[i] != 0;
    ASC_ASSIGN_OR_RETURN(branch.if_true,
                         child("nodes_truenodeids", if_true[i], true_leafs[i] != 0));
    ASC_ASSIGN_OR_RETURN(branch.if_false,
                         child("nodes_falsenodeids", if_false[i], false_leafs[i] != 0));
    forest.branches.push_back(branch);
    forest.features = std::max(forest.features, features[i] + 1);
  }
  for (const int64_t root : roots) {
    if (root < 0 || static_cast<size_t>(root) >= count)
      return InvalidArgument(kOp, " attribute 'tree_roots' has ", root, ", expected one of ", count,
                             " nodes");
    forest.roots.push_back(root);
  }
  ASC_RETURN_IF_ERROR(CheckAcyclic(forest, kOp));
  ASC_RETURN_IF_ERROR(ReadMembers(attributes, kOp, forest));
  return forest;
}

}  // namespace asc
