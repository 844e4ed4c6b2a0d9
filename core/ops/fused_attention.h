// How asc.FusedAttention sees its operands.
#ifndef ASC_CORE_OPS_FUSED_ATTENTION_H_
#define ASC_CORE_OPS_FUSED_ATTENTION_H_

#include "core/graph/attributes.h"
#include "core/tensor/shape.h"

namespace asc {

// Inputs of asc.FusedAttention.
enum FusedAttentionInput : size_t {
  kFusedQuery,
  kFusedKey,
  kFusedValue,
  kFusedCondition,
  kFusedMask
};

// Which part of an input is the operand: its axes in another order, and then, where `index` is not
// negative, one place along the first of them. An empty order is the input's own.
struct Arrangement {
  std::vector<int64_t> perm;
  int64_t index = -1;
};

struct FusedAttentionForm {
  Arrangement operands[3];      // query, key, value: [..., steps, size] once arranged
  std::vector<int64_t> y_perm;  // of the result
  float scale = 1, fill = 0;
  bool fill_where = false;  // true: filled where the condition is true, not where it is false
  bool clear_nan = false;
};
FusedAttentionForm ReadFusedAttention(const AttributeMap& attributes);

// A row-major array of extents `dims` as the arrangement sees it: element i of the operand is
// element `offset + sum(i[k] * strides[k])` of the array.
struct ArrangedView {
  Dims dims, strides;
  int64_t offset = 0;
};
ArrangedView Arrange(const Dims& dims, const Arrangement& arrangement);

}  // namespace asc

#endif  // ASC_CORE_OPS_FUSED_ATTENTION_H_
