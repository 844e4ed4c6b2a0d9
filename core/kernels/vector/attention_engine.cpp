#include "core/kernels/vector/attention_engine.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/kernels/gemm/micro_kernel.h"
#include "core/tensor/tensor.h"

namespace asc::simd {
namespace {
constexpr int64_t kBlockScores = 12 << 10;  // elements: leaves room for the keys beside it in L1
// Queries of a block where they see different keys: more of them share keys that some do not see.
constexpr int64_t kOrderedRows = 32;
// Up to here reading keys and values as they lie is faster than packing them.
constexpr int64_t kFewQueries = 5;
constexpr int64_t kFewScores = 640;  // of a head
constexpr int64_t kTogether = 8;     // heads whose few queries read shared keys at once
constexpr int64_t kNearQueries = 4;  // neighbours, whose keys are multiplied for all of them
constexpr double kPartFlops = 4e5;   // worth a thread of their own
constexpr double kFewPartFlops =
    1e5;  // the same where keys and values come from memory for one use
constexpr int64_t kLine = kAlignment / sizeof(float);

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t count) { return CeilDiv(count, kLine) * kLine; }
}  // namespace

AttentionEngine::AttentionEngine(AttentionForm form, int threads) : form_(std::move(form)) {
  const int64_t tile = gemm::Tiles().rows;
  int64_t rows = kBlockScores / form_.keys;
  if (form_.left < form_.keys || form_.right < form_.keys) rows = std::min(rows, kOrderedRows);
  rows = std::max(tile, rows / tile * tile);
  blocks_ = CeilDiv(form_.queries, rows);
  rows_ = CeilDiv(form_.queries, blocks_);
  score_row_ = RoundUp(form_.keys);
  if (!form_.batch.empty() && form_.k.batch.back() == 0 && form_.v.batch.back() == 0)
    group_ = form_.batch.back();
  if (few()) together_ = std::min({group_, kTogether, CeilDiv(form_.batches(), threads)});
  chunks_ = CeilDiv(group_, together_);
  units_ = groups() * chunks_ * blocks_;
  const double flops = 2.0 * static_cast<double>(form_.batches() * form_.queries * form_.keys) *
                       static_cast<double>(form_.size + form_.v_size);
  parts_ = std::clamp<int64_t>(static_cast<int64_t>(flops / (few() ? kFewPartFlops : kPartFlops)),
                               1, std::min<int64_t>(threads, units_));
  if (!few()) {
    packed_k_ = RoundUp(gemm::PackedCount(form_.size, form_.keys));
    packed_v_ = RoundUp(gemm::PackedCount(form_.keys, form_.v_size));
  }
  part_floats_ = packed_k_ + packed_v_ + together_ * rows_ * score_row_;
}

bool AttentionEngine::few() const {
  return form_.queries <= kFewQueries || form_.queries * form_.keys <= kFewScores;
}

size_t AttentionEngine::scratch_bytes() const {
  return static_cast<size_t>(parts_ * part_floats_) * sizeof(float);
}

void AttentionEngine::Run(const AttentionOperands& operands, void* scratch,
                          const std::function<void(int64_t)>& prepare) const {
  // Where no two parts share a group, what a part prepares is in its cache when it reads it.
  const bool apart = groups() % parts_ == 0;
  if (prepare && !apart) {
    ParallelFor(groups(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) prepare(group);
    });
  }
  ParallelFor(parts_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      RunPart(operands, static_cast<float*>(scratch) + part * part_floats_, part,
              apart ? prepare : nullptr);
  });
}

AttentionEngine::Head AttentionEngine::HeadAt(const AttentionOperands& operands,
                                              int64_t batch) const {
  Head head{operands, {}};
  AttentionOperands& at = head.at;
  at.q += form_.q.offset;
  at.k += form_.k.offset;
  at.v += form_.v.offset;
  for (size_t axis = form_.batch.size(); axis-- > 0;) {
    const int64_t i = batch % form_.batch[axis];
    batch /= form_.batch[axis];
    at.q += i * form_.q.batch[axis];
    at.k += i * form_.k.batch[axis];
    at.v += i * form_.v.batch[axis];
    at.y += i * form_.y.batch[axis];
    if (form_.has_mask) at.mask += i * form_.mask.batch[axis];
    if (form_.has_condition) at.condition += i * form_.condition.batch[axis];
    if (form_.has_lengths && axis == 0) at.lengths += i;
  }
  const int64_t place = form_.has_lengths ? *at.lengths - form_.queries : form_.place;
  head.seen.begin = place - form_.left;
  head.seen.end = place + form_.right + 1;
  head.seen.high = std::min(form_.keys, form_.mask_keys);
  if (form_.has_lengths) head.seen.high = std::min(head.seen.high, *at.lengths);
  return head;
}

// Later queries see later keys.
bool AttentionEngine::SeesAll(const SeenKeys& seen) const {
  return seen.Begin(form_.queries - 1) == 0 && seen.End(0) == form_.keys;
}

bool AttentionEngine::ValuesAreFinite(const float* v, int64_t first, int64_t last) const {
  v += first * form_.v.row;
  return form_.v.step == 1 ? AreFinite(v, form_.v.row, last - first, form_.v_size)
                           : AreFinite(v, form_.v.step, form_.v_size, last - first);
}

AttentionEngine::Needed AttentionEngine::NeededBy(const Head& head) const {
  Needed needed{head.at.k, head.at.v, head.seen, 0, form_.keys, 0, form_.keys, false};
  if (SeesAll(head.seen)) return needed;
  needed.first_key = head.seen.Begin(0);
  needed.last_key = std::max(needed.first_key, head.seen.End(form_.queries - 1));
  // The weights of hidden keys are 0, and 0 times infinity or NaN is NaN: hidden values count
  // unless they are finite. Few queries are weighed with all values that one of them sees.
  needed.trim =
      form_.assume_finite || (few() ? ValuesAreFinite(head.at.v, 0, needed.first_key) &&
                                          ValuesAreFinite(head.at.v, needed.last_key, form_.keys)
                                    : ValuesAreFinite(head.at.v, 0, form_.keys));
  if (needed.trim) {
    needed.first_value = needed.first_key;
    needed.last_value = needed.last_key;
  }
  return needed;
}

void AttentionEngine::Pack(const Needed& needed, const Scratch& scratch) const {
  const int64_t keys = needed.last_key - needed.first_key,
                values = needed.last_value - needed.first_value;
  gemm::Pack(needed.k + needed.first_key * form_.k.row, form_.k.step, form_.k.row, form_.size, keys,
             0, form_.size, scratch.keys);
  gemm::Pack(needed.v + needed.first_value * form_.v.row, form_.v.row, form_.v.step, values,
             form_.v_size, 0, values, scratch.values);
}

void AttentionEngine::RunPart(const AttentionOperands& operands, float* floats, int64_t part,
                              const std::function<void(int64_t)>& prepare) const {
  const Scratch scratch{floats, floats + packed_k_, floats + packed_k_ + packed_v_};
  Needed needed;
  int64_t prepared = -1;
  for (int64_t unit = units_ * part / parts_; unit < units_ * (part + 1) / parts_; ++unit) {
    const int64_t block = unit % blocks_, chunk = unit / blocks_ % chunks_,
                  group = unit / blocks_ / chunks_;
    const Head head = HeadAt(operands, group * group_ + chunk * together_);
    const int64_t first = form_.queries * block / blocks_,
                  count = form_.queries * (block + 1) / blocks_ - first;
    if (prepare && prepared != group) prepare(prepared = group);
    if (head.at.k != needed.k || head.at.v != needed.v || head.seen != needed.seen) {
      needed = NeededBy(head);
      if (!few()) Pack(needed, scratch);
    }
    if (few()) {
      AttendFew(head, needed, std::min(together_, group_ - chunk * together_), first, count,
                scratch.scores);
    } else {
      Attend(head, needed, first, count, scratch);
    }
  }
}

// Queries [first, first + count) of one head.
void AttentionEngine::Attend(const Head& head, const Needed& needed, int64_t first, int64_t count,
                             const Scratch& scratch) const {
  const int64_t width = gemm::Tiles().width;
  // Keys that one of the queries sees.
  const int64_t low = head.seen.Begin(first),
                high = std::max(low, head.seen.End(first + count - 1));
  // From the beginning of a panel on.
  const int64_t first_key = needed.first_key + (low - needed.first_key) / width * width;
  const int64_t first_value = needed.trim ? low : needed.first_value,
                last_value = needed.trim ? high : needed.last_value;
  gemm::Product product;
  product.m = count;
  product.n = high - first_key;
  product.k = form_.size;
  product.a = head.at.q + first * form_.q.row;
  product.a_row = form_.q.row;
  product.b = scratch.keys + (first_key - needed.first_key) * form_.size;
  product.b_panel = width * form_.size;
  product.b_block = width * form_.size;
  product.c = scratch.scores + first_key;
  product.c_row = score_row_;
  product.alpha = form_.scale;
  // A mask without a condition or a bound before it is added by the product.
  const bool added = head.at.mask != nullptr && !form_.has_condition && !(form_.softcap > 0) &&
                     form_.mask.step == 1;
  if (added && form_.mask.row == 0) product.bias = head.at.mask + first_key;
  if (added && form_.mask.row != 0) {
    product.residual = head.at.mask + first * form_.mask.row + first_key;
    product.residual_row = form_.mask.row;
  }
  if (high > low) gemm::Multiply(product);
  Weight(head, first, count, first_value, last_value, scratch.scores, added);
  product = {};
  product.m = count;
  product.n = form_.v_size;
  product.k = last_value - first_value;
  product.a = scratch.scores + first_value;
  product.a_row = score_row_;
  product.b = scratch.values + (first_value - needed.first_value) * width;
  product.b_panel = width * (needed.last_value - needed.first_value);
  product.b_block = product.b_panel;
  product.c = head.at.y + first * form_.y.row;
  product.c_row = form_.y.row;
  if (product.k > 0) {
    gemm::Multiply(product);
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::fill_n(product.c + i * form_.y.row, form_.v_size, 0.0f);
}

// The same of `heads` heads of a group.
void AttentionEngine::AttendFew(const Head& head, const Needed& needed, int64_t heads,
                                int64_t first, int64_t count, float* scores) const {
  const auto next_head = [&](const AttentionStack& stack) {
    return form_.batch.empty() ? 0 : stack.batch.back();
  };
  RowProduct product;
  // Several queries of one head at once, those that see much the same keys, or one of several heads.
  int64_t step = heads > 1 ? 1 : SeesAll(head.seen) ? count : kNearQueries;
  product.x_row = heads == 1 ? form_.q.row : next_head(form_.q);
  product.y_row = heads == 1 ? score_row_ : count * score_row_;
  product.scale = form_.scale;
  for (int64_t i = 0; i < count; i += step) {
    const int64_t queries = std::min(step, count - i);
    const int64_t low = head.seen.Begin(first + i),
                  keys = std::max(low, head.seen.End(first + i + queries - 1)) - low;
    product.vectors = queries * heads;
    product.x = head.at.q + (first + i) * form_.q.row;
    product.y = scores + i * score_row_ + low;
    product.rows = head.at.k + low * form_.k.row;
    if (form_.k.step == 1) {
      product.row = form_.k.row, product.count = keys, product.n = form_.size;
      MultiplyByRows(product);
    } else {
      product.row = form_.k.step, product.count = form_.size, product.n = keys;
      AddUpRows(product);
    }
  }
  Head other = head;
  for (int64_t h = 0; h < heads; ++h) {
    Weight(other, first, count, needed.first_value, needed.last_value,
           scores + h * count * score_row_, false);
    if (form_.has_mask) other.at.mask += next_head(form_.mask);
    if (form_.has_condition) other.at.condition += next_head(form_.condition);
  }
  const int64_t values = needed.last_value - needed.first_value;
  step = heads == 1 ? count : 1;
  product.vectors = step * heads;
  product.x_row = product.y_row;
  product.y_row = heads == 1 ? form_.y.row : next_head(form_.y);
  product.scale = 1;
  product.rows = head.at.v + needed.first_value * form_.v.row;
  for (int64_t i = 0; i < count; i += step) {
    product.x = scores + i * score_row_ + needed.first_value;
    product.y = head.at.y + (first + i) * form_.y.row;
    if (form_.v.step == 1) {
      product.row = form_.v.row, product.count = values, product.n = form_.v_size;
      AddUpRows(product);
    } else {
      product.row = form_.v.step, product.count = form_.v_size, product.n = values;
      MultiplyByRows(product);
    }
  }
}

// Weights of keys [first_key, last_key). `masked`: the mask is in the scores already.
void AttentionEngine::Weight(const Head& head, int64_t first, int64_t count, int64_t first_key,
                             int64_t last_key, float* scores, bool masked) const {
  AttentionScores s;
  s.scores = scores;
  s.row = score_row_;
  s.rows = count;
  s.seen = head.seen.From(first);
  s.first_key = first_key;
  s.last_key = last_key;
  s.softcap = form_.softcap;
  if (head.at.mask != nullptr && !masked) s.mask = head.at.mask + first * form_.mask.row;
  s.mask_row = form_.mask.row;
  s.mask_step = form_.mask.step;
  if (head.at.condition != nullptr) s.condition = head.at.condition + first * form_.condition.row;
  s.condition_row = form_.condition.row;
  s.condition_step = form_.condition.step;
  s.fill = form_.fill;
  s.fill_where = form_.fill_where;
  s.clear_nan = form_.clear_nan;
  s.clear_hidden = form_.clear_hidden;
  WeightScores(s);
}

}  // namespace asc::simd
