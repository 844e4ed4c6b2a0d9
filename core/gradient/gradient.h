// Gradients of values of a graph, by reverse-mode automatic differentiation: what is added are ordinary operators.
#ifndef ASC_CORE_GRADIENT_GRADIENT_H_
#define ASC_CORE_GRADIENT_GRADIENT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/ops/operator_writer.h"

namespace asc {

struct GradientOptions {
  // Of new nodes: their names begin with it, and its origins come before those of the nodes that they stand for.
  WrittenFor reason;
  ValueId seed;                  // the gradient of y itself, of y's shape; invalid: ones
  std::vector<ValueId> fixed;    // values that count as constants, whatever makes them
  size_t node_limit = SIZE_MAX;  // of nodes that may be added
};

// The gradients of sum(seed * y) with respect to each of `xs`, of the shapes and types of those: zeros where y does not depend on
// one. xs are independent: what makes them (it may be others of them) is not looked at. The values between xs and y are
// used again. E5002 where y or one of xs is not a tensor of floating-point numbers, E5033 naming a node between them that has
// no gradient; then the graph is of no use any more.
Result<std::vector<ValueId>> AddGradients(Graph& graph, ValueId y, const std::vector<ValueId>& xs,
                                          const GradientOptions& options);

// y as it would be with other values in the place of some: copies the nodes that lead from those to y. Gives y itself where it does not
// depend on any.
Result<ValueId> AddCopy(Graph& graph, ValueId y, const std::map<ValueId, ValueId>& in_place_of,
                        const GradientOptions& options);

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_GRADIENT_H_
