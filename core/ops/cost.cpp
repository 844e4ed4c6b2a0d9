#include "core/ops/cost.h"

#include <algorithm>

namespace asc {
namespace {
double SumOfElements(const std::vector<ValueType>& values) {
  double sum = 0;
  for (const ValueType& value : values) sum += KnownElementCount(value);
  return sum;
}
}  // namespace

CostEstimate EstimateCost(const OpSchema& schema, const std::vector<ValueType>& inputs,
                          const std::vector<ValueType>& outputs, const AttributeMap& attributes) {
  if (schema.cost != nullptr) return schema.cost(inputs, outputs, attributes);
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  switch (schema.op_class) {
    case OpClass::kDataMovement:
    case OpClass::kView:
      cost.bytes = 2 * DenseBytes({}, outputs);  // of a table only the rows that are taken
      break;
    case OpClass::kReduction:
      cost.flops = SumOfElements(inputs);
      break;
    case OpClass::kNormalization:
      cost.flops = 5 * SumOfElements(outputs);
      break;
    case OpClass::kPooling: {
      double window = 1;
      for (const int64_t extent : attributes.Ints("kernel_shape"))
        window *= static_cast<double>(extent);
      // A global pool has no kernel shape: each input element is looked at once.
      cost.flops = std::max(window * SumOfElements(outputs), SumOfElements(inputs));
      break;
    }
    default:
      cost.flops = SumOfElements(outputs);
  }
  return cost;
}

}  // namespace asc
