#include "core/ops/scalar.h"

#include "core/tensor/element.h"

namespace asc {

Result<Tensor> ScalarOf(DataType type, double value) {
  Tensor scalar;
  const auto make = [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      scalar = Tensor::Scalar(T(static_cast<float>(value)));
    } else {
      scalar = Tensor::Scalar(static_cast<T>(value));
    }
  };
  if (!VisitNumeric(type, make)) {
    return TypeError("expected a number, given ", DataTypeName(type));
  }
  return scalar;
}

}  // namespace asc
