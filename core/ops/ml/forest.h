// A tree ensemble as its attributes describe it, checked: the common form of TreeEnsemble,
// TreeEnsembleClassifier and TreeEnsembleRegressor.
#ifndef ASC_CORE_OPS_ML_FOREST_H_
#define ASC_CORE_OPS_ML_FOREST_H_

#include "core/ops/ml/common.h"

namespace asc {

// The numbers are those of TreeEnsemble's `nodes_modes`.
enum class BranchMode : uint8_t { kLeq = 0, kLt, kGte, kGt, kEq, kNeq, kMember };

enum class Aggregate : uint8_t { kAverage = 0, kSum = 1, kMin = 2, kMax = 3 };

struct Forest {
  // A node by its position, or a leaf as the complement of its position.
  using Reference = int64_t;

  struct Branch {
    double split = 0;  // kMember: position in `members`
    Reference if_true = 0, if_false = 0;
    int32_t feature = 0;
    BranchMode mode = BranchMode::kLeq;
    bool missing_is_true = false;  // where a NaN goes
  };
  struct Contribution {
    int32_t target;
    double weight;
  };

  std::vector<Branch> branches;
  // Those of leaf i: from leaf_begin[i] to leaf_begin[i + 1].
  std::vector<size_t> leaf_begin = {0};
  std::vector<Contribution> contributions;
  std::vector<std::vector<double>> members;  // each sorted
  std::vector<Reference> roots;
  std::vector<double> base;  // none, or one for each target
  int64_t targets = 0;
  int64_t features = 1;    // the highest feature that a branch reads, plus one; at least 1
  bool is_double = false;  // thresholds or weights are float64
};

// Of the flat attributes `nodes_*` with tree and node numbers; what leaves contribute is in
// `<prefix>_treeids`, `_nodeids`, `_ids` and `_weights`. Refuses (E5003) lists of other lengths,
// numbers out of range, unknown modes, nodes that are missing or come twice, trees without a root of
// their own, cycles.
Result<Forest> ReadNumberedForest(const AttributeMap& attributes, std::string_view op,
                                  std::string_view prefix, int64_t targets);

// Of TreeEnsemble's attributes; refuses the like.
Result<Forest> ReadIndexedForest(const AttributeMap& attributes);

// E5003 when a branch leads back to itself. References must be in range. Done by the readers.
Status CheckAcyclic(const Forest& forest, std::string_view op);

}  // namespace asc

#endif  // ASC_CORE_OPS_ML_FOREST_H_
