// Gradients of attention: that of the operators of its definition; and of rotary embeddings, which rotate back.
#include <cmath>
#include <limits>

#include "core/gradient/rules.h"
#include "core/gradient/windows.h"
#include "core/ops/attention_shape.h"

namespace asc {
namespace {
// Attention written out, in float32 at least.
class AttentionFormula {
 public:
  explicit AttentionFormula(GradientStep& step) : s_(step) {}

  Expr Write();

 private:
  Expr Wide(size_t i) {
    const Expr x = s_.x(i);
    return x.valid() && x.dtype() != DataType::kFloat64 ? Cast(x, DataType::kFloat32) : x;
  }
  // [batch, heads, steps, size]
  Expr Heads(size_t i, std::string_view heads);
  Expr Scaled(const Expr& scores, const Expr& query);
  Expr Masked(Expr scores);
  Expr Places(const Expr& scores, int64_t axis);  // 0, 1... along an axis of scores, in rank 4
  Expr Hidden(const Expr& scores);

  GradientStep& s_;
  bool rank3_ = false;
};

Expr AttentionFormula::Heads(size_t i, std::string_view heads) {
  const Expr x = Wide(i);
  if (!rank3_) return x;
  const Expr apart = Reshape(x, Ints(x, {0, 0, s_.attributes().Int(heads, 1), -1}));
  return Transpose(apart, {0, 2, 1, 3});
}

Expr AttentionFormula::Scaled(const Expr& scores, const Expr& query) {
  if (s_.attributes().Has("scale"))
    return static_cast<double>(s_.attributes().Float("scale", 1)) * scores;
  const Expr size = Cast(Reshape(Extents(query, 3, 4), Ints(query, {})), DataType::kFloat64);
  return scores * CastLike(1 / Apply("Sqrt", {size}), scores);
}

Expr AttentionFormula::Places(const Expr& scores, int64_t axis) {
  const Expr extent = Reshape(Extents(scores, axis, axis + 1), Ints(scores, {}));
  const Expr range = Apply("Range", {Number(extent, 0), extent, Number(extent, 1)});
  return axis == 2 ? Unsqueeze(range, {1}) : range;
}

// Keys that a query does not see, whatever the mask says; invalid: none.
Expr AttentionFormula::Hidden(const Expr& scores) {
  const bool causal = s_.attributes().Int("is_causal", 0) != 0;
  const int64_t left = s_.attributes().Int("left_window_size", -1);
  const int64_t right = s_.attributes().Int("right_window_size", -1);
  const Expr valid = s_.x(kValidKeys).valid() ? Unsqueeze(s_.x(kValidKeys), {1, 2, 3}) : Expr();
  if (!causal && left < 0 && right < 0 && !valid.valid()) return Expr();
  const Expr keys = Places(scores, 3), queries = Places(scores, 2);
  // A query's place among the keys.
  Expr place = queries;
  if (valid.valid()) {
    place = queries + valid - Extents(scores, 2, 3);
  } else if (s_.x(kPastKey).valid()) {
    place = queries + Extents(s_.x(kPastKey), 2, 3);
  }
  Expr hidden;
  const auto hide = [&](const Expr& more) {
    hidden = hidden.valid() ? Apply("Or", {hidden, more}) : more;
  };
  if (causal) hide(keys > place);
  if (left >= 0) hide(keys < place - static_cast<double>(left));
  if (right >= 0) hide(keys > place + static_cast<double>(right));
  if (valid.valid()) hide(Apply("Not", {keys < valid}));
  return hidden;
}

Expr AttentionFormula::Masked(Expr scores) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Expr mask = s_.x(kMask);
  if (mask.valid()) {
    const bool truth = mask.dtype() == DataType::kBool;
    mask = truth ? mask : CastLike(mask, scores);
    const bool whole = mask.has_rank() && scores.has_rank() &&
                       mask.shape()[mask.shape().rank() - 1] == scores.shape()[3];
    if (!whole) {  // what a short mask does not speak of is masked
      const Expr missing = Extents(scores, 3, 4) - Extents(mask, -1, INT64_MAX);
      const Expr pads = Concat({missing - missing, missing}, 0);
      const Expr fill = truth ? Cast(Number(scores, 0), DataType::kBool) : Number(scores, kNever);
      mask = Apply("Pad", {mask, pads, fill, Ints(scores, {-1})});
    }
    scores = truth ? Where(mask, scores, kNever) : scores + mask;
  }
  const Expr hidden = Hidden(scores);
  return hidden.valid() ? Where(hidden, Number(scores, kNever), scores) : scores;
}

Expr AttentionFormula::Write() {
  if (!s_.x(kQuery).has_rank()) {
    s_.Refuse("needs the rank of its query, which is not known");
    return Expr();
  }
  rank3_ = s_.x(kQuery).shape().rank() == 3;
  const Expr q = Heads(kQuery, "q_num_heads");
  Expr k = Heads(kKey, "kv_num_heads"), v = Heads(kValue, "kv_num_heads");
  if (s_.x(kPastKey).valid()) {
    k = Concat({Wide(kPastKey), k}, 2);
    v = Concat({Wide(kPastValue), v}, 2);
  }
  // Queries of one head of keys together: [batch, heads of keys, queries of each, steps, size].
  const Expr groups = Concat({Extents(k, 0, 2), Ints(q, {-1}), Extents(q, 2, 4)}, 0);
  const Expr turned = Unsqueeze(Transpose(k, {0, 1, 3, 2}), {2});
  Expr scores = Apply("MatMul", {Reshape(q, groups), turned});
  const Expr by_group = ShapeOf(scores);
  scores = Reshape(scores, Concat({Extents(q, 0, 3), Extents(k, 2, 3)}, 0));
  scores = Scaled(scores, q);
  if (const auto cap = static_cast<double>(s_.attributes().Float("softcap", 0)); cap > 0)
    scores = cap * Apply("Tanh", {scores / cap});
  scores = Masked(scores);
  // A query that sees no key gives zeros.
  const Expr best = Apply("ReduceMax", {scores, Ints(scores, {-1})});
  const Expr blind = Apply("IsInf", {best}, Attributes({{"detect_positive", int64_t{0}}}));
  const Expr shares = Apply("Softmax", {Where(blind, Number(scores, 0), scores)});
  const Expr seen = Reshape(Where(blind, Number(scores, 0), shares), by_group);
  const Expr sums = Apply("MatMul", {seen, Unsqueeze(v, {2})});
  const Expr heads = Reshape(sums, Concat({Extents(q, 0, 3), Ints(q, {-1})}, 0));
  const Expr y = rank3_ ? ReshapeLike(Transpose(heads, {0, 2, 1, 3}), s_.y()) : heads;
  return CastLike(y, s_.y());
}

void Attention(GradientStep& s) {
  for (size_t i = 1; i < 4; ++i) s.RefuseOutput(i);
  if (!s.ok()) return;
  s.GiveThrough(AttentionFormula(s).Write());
}

void Rotary(GradientStep& s) {
  if (s.Wants(1) || s.Wants(2)) s.Refuse("with respect to its angles is not there");
  s.Give(0, Apply("RotaryEmbedding", {s.g(), s.x(1), -s.x(2), s.x(3)}, s.attributes()));
}

constexpr GradientRow kRows[] = {{"Attention", Attention}, {"RotaryEmbedding", Rotary}};
}  // namespace

std::span<const GradientRow> AttentionGradients() { return kRows; }

}  // namespace asc
