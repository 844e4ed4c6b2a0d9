// Products of scalars and values, seen through the many ways to write them.
#ifndef ASC_CORE_PASSES_PRODUCT_H_
#define ASC_CORE_PASSES_PRODUCT_H_

#include <vector>

#include "core/graph/graph.h"

namespace asc {

// coefficient * factors[0] * factors[1]...: a tree of Mul, Div by and Pow by constant scalars, each
// inner value of which has no other user. `nodes` has the tree's nodes, the root first.
struct FlatProduct {
  double coefficient = 1;
  std::vector<ValueId> factors;  // sorted; one that comes to the n-th power is there n times
  std::vector<NodeId> nodes;

  // coefficient * value, nothing else.
  bool IsMultipleOf(ValueId value) const { return factors.size() == 1 && factors[0] == value; }
};

// Of the value made by such a node; any other value is the one factor of itself.
FlatProduct Flatten(const Graph& graph, ValueId value);

// Equal within what constants of this type can hold, and what people round constants to.
bool NearlyEqual(double value, double wanted, DataType dtype);

// The operand of a sum of two that is not the constant scalar `wanted`; invalid when the node is no
// such sum.
ValueId OtherAddend(const Graph& graph, const Node& sum, double wanted);

}  // namespace asc

#endif  // ASC_CORE_PASSES_PRODUCT_H_
