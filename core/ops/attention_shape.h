// Extents of an Attention call.
#ifndef ASC_CORE_OPS_ATTENTION_SHAPE_H_
#define ASC_CORE_OPS_ATTENTION_SHAPE_H_

#include "core/graph/op_schema.h"

namespace asc {

// Inputs of Attention.
enum AttentionInput : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };

// D is Dim in the shape rule, int64_t in kernels.
template <typename D>
struct AttentionExtents {
  D batch{}, q_heads{}, kv_heads{}, queries{}, new_keys{}, past{}, size{}, v_size{};
  bool rank3 = false;  // [batch, steps, heads * size] rather than [batch, heads, steps, size]

  D keys() const { return past + new_keys; }
};

// Reads and checks the shapes as far as they are known; nullopt where the rank of the query is not.
// E5001 and E5003 naming what does not fit.
Result<std::optional<AttentionExtents<Dim>>> ReadAttention(const InferContext& context);

// The same for concrete tensors that passed the shape rule.
AttentionExtents<int64_t> ReadAttention(const KernelContext& context);

}  // namespace asc

#endif  // ASC_CORE_OPS_ATTENTION_SHAPE_H_
