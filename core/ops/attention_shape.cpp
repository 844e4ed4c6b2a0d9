#include "core/ops/attention_shape.h"

#include <cmath>

namespace asc {
namespace {
Status Agree(const InferContext& context, size_t i, std::string_view what, const Dim& have,
             const Dim& want) {
  if (!have.is_constant() || !want.is_constant() || have == want) return Ok();
  return ShapeError("Attention needs ", what, " ", want, " of input '",
                    context.schema().inputs[i].name, "', given ", context.shape(i));
}

// [batch, heads, steps, size] of an input of rank 3 or 4.
struct Split {
  Dim batch, heads, steps, size;
};

Result<Split> SplitInput(const InferContext& context, size_t i, bool rank3, int64_t heads) {
  const Shape& shape = context.shape(i);
  if (!shape.has_rank()) {
    return Split{Dim::Unknown(), rank3 ? Dim(heads) : Dim::Unknown(), Dim::Unknown(),
                 Dim::Unknown()};
  }
  if (shape.rank() != (rank3 ? 3 : 4)) {
    return ShapeError("Attention needs its query, key and value of one rank, 3 or 4, given '",
                      context.schema().inputs[i].name, "' ", shape);
  }
  if (!rank3) return Split{shape[0], shape[1], shape[2], shape[3]};
  if (shape[2].is_constant() && shape[2].value() % heads != 0) {
    return ShapeError("Attention cannot divide '", context.schema().inputs[i].name, "' ", shape,
                      " into ", heads, " heads");
  }
  return Split{shape[0], Dim(heads), shape[1], Dim::FloorDiv(shape[2], Dim(heads))};
}

Status CheckPast(const InferContext& context, size_t i, const AttentionExtents<Dim>& e,
                 const Dim& size) {
  const Shape& past = context.shape(i);
  if (!past.has_rank()) return Ok();
  if (past.rank() != 4)
    return ShapeError("Attention needs '", context.schema().inputs[i].name, "' of rank 4, given ",
                      past);
  ASC_RETURN_IF_ERROR(Agree(context, i, "batch", past[0], e.batch));
  ASC_RETURN_IF_ERROR(Agree(context, i, "heads", past[1], e.kv_heads));
  ASC_RETURN_IF_ERROR(Agree(context, i, "length", past[2], e.past));
  return Agree(context, i, "head size", past[3], size);
}

Status CheckMask(const InferContext& context, const AttentionExtents<Dim>& e) {
  if (!context.HasInput(kMask) || !context.shape(kMask).has_rank()) return Ok();
  const Shape& mask = context.shape(kMask);
  const Dim want[4] = {e.batch, e.q_heads, e.queries, e.keys()};
  bool fits = mask.rank() >= 1 && mask.rank() <= 4;
  for (size_t i = 0; fits && i < mask.rank(); ++i) {
    const Dim& have = mask[i];
    const Dim& target = want[4 - mask.rank() + i];
    if (!have.is_constant() || !target.is_constant()) continue;
    // The last axis may be shorter: what is missing is masked.
    fits = have == target || have == Dim(1) ||
           (i + 1 == mask.rank() && have.value() <= target.value());
  }
  if (fits) return Ok();
  return ShapeError("Attention needs a mask that broadcasts to [", e.batch, ", ", e.q_heads, ", ",
                    e.queries, ", ", e.keys(), "], given ", mask);
}

Status CheckAttributes(const InferContext& context) {
  const AttributeMap& attributes = context.attributes();
  for (const char* name : {"left_window_size", "right_window_size"}) {
    if (attributes.Int(name, -1) < -1)
      return InvalidArgument("Attention needs ", name, " >= -1, given ", attributes.Int(name, -1));
  }
  const int64_t mode = attributes.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return InvalidArgument("Attention has qk_matmul_output_mode 0 to 3, given ", mode);
  if (context.HasInput(kPastKey) != context.HasInput(kPastValue)) {
    return InvalidArgument("Attention needs past_key and past_value together");
  }
  if (context.HasInput(kPastKey) && context.HasInput(kValidKeys)) {
    return InvalidArgument("Attention takes past_key or nonpad_kv_seqlen, not both");
  }
  return Ok();
}
}  // namespace

Result<std::optional<AttentionExtents<Dim>>> ReadAttention(const InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckAttributes(context));
  const Shape& query = context.shape(kQuery);
  if (!query.has_rank()) return std::optional<AttentionExtents<Dim>>();
  AttentionExtents<Dim> e;
  e.rank3 = query.rank() == 3;
  const int64_t q_heads = context.attributes().Int("q_num_heads", 0),
                kv_heads = context.attributes().Int("kv_num_heads", 0);
  if (e.rank3 && (q_heads < 1 || kv_heads < 1)) {
    return InvalidArgument("Attention of rank 3 needs q_num_heads and kv_num_heads >= 1, given ",
                           q_heads, " and ", kv_heads);
  }
  ASC_ASSIGN_OR_RETURN(const Split q, SplitInput(context, kQuery, e.rank3, q_heads));
  ASC_ASSIGN_OR_RETURN(const Split k, SplitInput(context, kKey, e.rank3, kv_heads));
  ASC_ASSIGN_OR_RETURN(const Split v, SplitInput(context, kValue, e.rank3, kv_heads));
  ASC_RETURN_IF_ERROR(Agree(context, kKey, "batch", k.batch, q.batch));
  ASC_RETURN_IF_ERROR(Agree(context, kValue, "batch", v.batch, q.batch));
  ASC_RETURN_IF_ERROR(Agree(context, kKey, "head size", k.size, q.size));
  ASC_RETURN_IF_ERROR(Agree(context, kValue, "length", v.steps, k.steps));
  ASC_RETURN_IF_ERROR(Agree(context, kValue, "heads", v.heads, k.heads));
  if (q.heads.is_constant() && k.heads.is_constant() &&
      (k.heads.value() == 0 || q.heads.value() % k.heads.value() != 0)) {
    return ShapeError("Attention needs a number of query heads that the key heads divide, given ",
                      q.heads, " and ", k.heads);
  }
  e.batch = q.batch;
  e.q_heads = q.heads;
  e.kv_heads = k.heads;
  e.queries = q.steps;
  e.new_keys = k.steps;
  e.size = q.size;
  e.v_size = v.size;
  if (context.HasInput(kPastKey)) {
    const Shape& past = context.shape(kPastKey);
    e.past = past.has_rank() && past.rank() == 4 ? past[2] : Dim::Unknown();
    ASC_RETURN_IF_ERROR(CheckPast(context, kPastKey, e, e.size));
    ASC_RETURN_IF_ERROR(CheckPast(context, kPastValue, e, e.v_size));
  }
  if (context.HasInput(kValidKeys) && context.shape(kValidKeys).has_rank()) {
    const Shape& valid = context.shape(kValidKeys);
    if (valid.rank() != 1)
      return ShapeError("Attention needs nonpad_kv_seqlen of shape [", e.batch, "], given ", valid);
    ASC_RETURN_IF_ERROR(Agree(context, kValidKeys, "batch", valid[0], e.batch));
  }
  ASC_RETURN_IF_ERROR(CheckMask(context, e));
  return std::optional<AttentionExtents<Dim>>(e);
}

AttentionExtents<int64_t> ReadAttention(const AttributeMap& attributes, const Dims& q,
                                        const Dims& k, const Dims& v, int64_t past) {
  AttentionExtents<int64_t> e;
  e.rank3 = q.size() == 3;
  e.batch = q[0];
  e.past = past;
  if (e.rank3) {
    e.q_heads = attributes.Int("q_num_heads", 1);
    e.kv_heads = attributes.Int("kv_num_heads", 1);
    e.queries = q[1];
    e.new_keys = k[1];
    e.size = q[2] / e.q_heads;
    e.v_size = v[2] / e.kv_heads;
  } else {
    e.q_heads = q[1];
    e.kv_heads = k[1];
    e.queries = q[2];
    e.new_keys = k[2];
    e.size = q[3];
    e.v_size = v[3];
  }
  return e;
}

AttentionExtents<int64_t> ReadAttention(const KernelContext& context) {
  return ReadAttention(context.attributes(), context.input(kQuery).dims(),
                       context.input(kKey).dims(), context.input(kValue).dims(),
                       context.HasInput(kPastKey) ? context.input(kPastKey).dim(2) : 0);
}

double AttentionScale(const AttributeMap& attributes, int64_t size) {
  return attributes.Has("scale") ? static_cast<double>(attributes.Float("scale", 1))
                                 : 1 / std::sqrt(static_cast<double>(size));
}

Status CheckValidKeys(const KernelContext& context, const AttentionExtents<int64_t>& e) {
  if (!context.HasInput(kValidKeys)) return Ok();
  for (const int64_t valid : context.input(kValidKeys).values<int64_t>()) {
    if (valid >= 0 && valid <= e.keys()) continue;
    return Error(Code::kOutOfRange, "Attention has nonpad_kv_seqlen ", valid, ": expected 0 to ",
                 e.keys());
  }
  return Ok();
}

}  // namespace asc
