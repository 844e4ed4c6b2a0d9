// Parts of cost estimates that operators share.
#ifndef ASC_CORE_OPS_COST_H_
#define ASC_CORE_OPS_COST_H_

#include "core/graph/op_schema.h"

namespace asc {

// Elements of a value whose shape is known; 0 otherwise.
inline double KnownElementCount(const ValueType& value) {
  const auto dims = value.shape.ToDims();
  return dims ? static_cast<double>(ElementCount(*dims)) : 0;
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

}  // namespace asc

#endif  // ASC_CORE_OPS_COST_H_
