// Permutations of axes: output axis i of a Transpose is input axis perm[i].
#ifndef ASC_CORE_PASSES_PERMUTATION_H_
#define ASC_CORE_PASSES_PERMUTATION_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace asc {

using Permutation = std::vector<int64_t>;

// Of a Transpose node; nullopt when the rank is not known.
inline std::optional<Permutation> PermutationOf(const Graph& graph, const Node& transpose) {
  const Shape& shape = graph.value(transpose.inputs[0]).type.shape;
  if (!shape.has_rank()) return std::nullopt;
  Permutation perm = transpose.attributes.Ints("perm");
  if (perm.empty()) {
    for (size_t i = shape.rank(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  }
  return perm.size() == shape.rank() ? std::optional(std::move(perm)) : std::nullopt;
}

inline bool IsIdentity(const Permutation& perm) { return std::is_sorted(perm.begin(), perm.end()); }

// First `first`, then `second`.
inline Permutation Compose(const Permutation& first, const Permutation& second) {
  Permutation both;
  for (const int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  return both;
}

inline Permutation Inverse(const Permutation& perm) {
  Permutation inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

}  // namespace asc

#endif  // ASC_CORE_PASSES_PERMUTATION_H_
