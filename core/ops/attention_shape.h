// Extents of an Attention call.
#ifndef ASC_CORE_OPS_ATTENTION_SHAPE_H_
#define ASC_CORE_OPS_ATTENTION_SHAPE_H_

#include <algorithm>

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

// The same for concrete shapes that passed the shape rule; `past` is the length of the cache.
AttentionExtents<int64_t> ReadAttention(const AttributeMap& attributes, const Dims& q,
                                        const Dims& k, const Dims& v, int64_t past);
AttentionExtents<int64_t> ReadAttention(const KernelContext& context);

// What scores are multiplied with: the attribute, or 1 / sqrt(head size).
double AttentionScale(const AttributeMap& attributes, int64_t size);

// E5007 where nonpad_kv_seqlen counts keys that are not there.
Status CheckValidKeys(const KernelContext& context, const AttentionExtents<int64_t>& e);

// One head of keys or values, [keys, size] at `to`: the rows of the cache and then the new ones.
// `plane` counts the heads of all batches; `past` may be null where the cache is empty.
template <typename T>
void JoinCache(const AttentionExtents<int64_t>& e, int64_t plane, int64_t size, const T* past,
               const T* added, T* to) {
  if (e.past > 0) to = std::copy_n(past + plane * e.past * size, e.past * size, to);
  const int64_t b = plane / e.kv_heads, head = plane % e.kv_heads;
  const int64_t first = e.rank3 ? b * e.new_keys * e.kv_heads + head : plane * e.new_keys,
                step = e.rank3 ? e.kv_heads : 1;
  for (int64_t i = 0; i < e.new_keys; ++i)
    to = std::copy_n(added + (first + i * step) * size, size, to);
}

}  // namespace asc

#endif  // ASC_CORE_OPS_ATTENTION_SHAPE_H_
