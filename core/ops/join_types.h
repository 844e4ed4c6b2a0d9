// What the types of a value on several ways have in common: branches of If, iterations of Loop,
// elements of a sequence.
#ifndef ASC_CORE_OPS_JOIN_TYPES_H_
#define ASC_CORE_OPS_JOIN_TYPES_H_

#include <set>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/tensor/any_value.h"

namespace asc {

// Extents that differ become fresh unknowns, which stay themselves in later joins of the same
// object: so repeated joining comes to rest.
class TypeJoin {
 public:
  // `op` stands in messages and must outlive the object.
  explicit TypeJoin(std::string_view op) : op_(op) {}

  // E5002 when kinds or element types differ; a value that is an optional on one way and what it
  // holds on the other is an optional.
  Result<ValueType> operator()(const ValueType& a, const ValueType& b);

 private:
  Shape JoinShapes(const Shape& a, const Shape& b);

  std::string_view op_;
  std::set<std::string> open_;  // the unknowns made here
};

}  // namespace asc

#endif  // ASC_CORE_OPS_JOIN_TYPES_H_
