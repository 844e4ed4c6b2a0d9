#include "core/ops/families.h"

namespace asc {

void AddAllOps(OpTable& table) {
  AddActivationOps(table);
  AddElementwiseBinaryOps(table);
  AddElementwiseUnaryOps(table);
  AddElementwiseVariadicOps(table);
}

}  // namespace asc
