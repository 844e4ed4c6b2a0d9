#include "core/ops/row_copy.h"

namespace asc {

Result<std::vector<int64_t>> CheckIndices(const Tensor& indices, int64_t extent,
                                          std::string_view op) {
  ASC_ASSIGN_OR_RETURN(std::vector<int64_t> out, ToInt64Vector(indices));
  for (int64_t& index : out) {
    if (index >= 0 && index < extent) continue;
    ASC_ASSIGN_OR_RETURN(index, CheckIndex(index, extent, op));
  }
  return out;
}

}  // namespace asc
