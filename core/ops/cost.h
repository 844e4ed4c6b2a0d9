// Cost estimates: the floating-point operations and bytes of one call of an operator.
#ifndef ASC_CORE_OPS_COST_H_
#define ASC_CORE_OPS_COST_H_

#include "core/graph/op_schema.h"

namespace asc {

// Elements of a value whose shape is known; 0 otherwise.
inline double KnownElementCount(const ValueType& value) {
  const auto dims = value.is_tensor() ? value.shape.ToDims() : std::nullopt;
  return dims ? static_cast<double>(CheckedElementCount(*dims).value_or(0)) : 0;
}

// Bytes of all values, each read or written once.
inline double DenseBytes(const std::vector<ValueType>& inputs,
                         const std::vector<ValueType>& outputs) {
  double bits = 0;
  for (const std::vector<ValueType>* values : {&inputs, &outputs}) {
    for (const ValueType& value : *values) bits += KnownElementCount(value) * BitWidth(value.dtype);
  }
  return bits / 8;
}

// The schema's own estimate where it has one. Otherwise all values move once, and by the class of the operator: one operation an
// output element, one an input element of reductions, one an element of the window for pooling, five an element for
// normalisations (subtract, square, two sums, scale), none where elements are moved only: those are read and written once. Types are the origin ones; values of
// unknown shape count as empty.
CostEstimate EstimateCost(const OpSchema& schema, const std::vector<ValueType>& inputs,
                          const std::vector<ValueType>& outputs, const AttributeMap& attributes);

}  // namespace asc

#endif  // ASC_CORE_OPS_COST_H_
