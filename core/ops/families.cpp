#include "core/ops/families.h"

namespace asc {

void AddAllOps(OpTable& table) {
  AddElementwiseUnaryOps(table);
}

}  // namespace asc
