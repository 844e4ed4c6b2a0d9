// asc.FusedAttention of float32: a block of queries at a time, whose scores stay in the caches.
#include <algorithm>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/vector/attention.h"
#include "core/kernels/vector/common.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/fused_attention.h"

namespace asc {
namespace {
constexpr int64_t kBlockScores = 12 << 10;  // elements: leaves room for the keys beside it in L1
constexpr int64_t kFewQueries =
    6;  // reading keys and values as they lie is faster than packing them
constexpr double kPartFlops = 4e5;  // worth a thread of their own
constexpr double kFewPartFlops =
    1e5;  // the same where keys and values come from memory for one use
constexpr int64_t kLine = kAlignment / sizeof(float);

int64_t RoundUp(int64_t count) { return (count + kLine - 1) / kLine * kLine; }

// A stack of matrices: where the matrix of a batch begins, and its strides.
struct Stack {
  int64_t offset = 0;
  Dims batch;  // strides; 0 where one matrix serves several
  int64_t row = 0, step = 0;
};

struct Form {
  Dims batch;  // extents
  int64_t queries = 0, keys = 0, size = 0, v_size = 0;
  Stack q, k, v, y, mask, condition;
  bool has_mask = false, has_condition = false;
  float scale = 1, fill = 0;
  bool fill_where = false, clear_nan = false;

  int64_t batches() const { return ElementCount(batch); }
  bool few() const { return queries < kFewQueries; }
};

// Batch axes are aligned at their ends, as in broadcasting.
Stack StackOf(const ArrangedView& view, size_t batch_rank) {
  const size_t own = view.dims.size() - 2;
  Stack stack{view.offset, Dims(batch_rank, 0), view.strides[own], view.strides[own + 1]};
  for (size_t i = 0; i < own; ++i) {
    stack.batch[batch_rank - own + i] = view.dims[i] == 1 ? 0 : view.strides[i];
  }
  return stack;
}

// A mask or condition that broadcasts to the scores; nullopt where it would make them larger.
std::optional<Stack> BroadcastStack(const Dims& dims, const Form& form) {
  ArrangedView view{dims, ContiguousStrides(dims), 0};
  while (view.dims.size() < 2) {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
  }
  const size_t own = view.dims.size() - 2;
  if (own > form.batch.size()) return std::nullopt;
  for (const auto& [axis, extent] : {std::pair{own, form.queries}, {own + 1, form.keys}}) {
    if (view.dims[axis] != extent && view.dims[axis] != 1) return std::nullopt;
    if (view.dims[axis] == 1) view.strides[axis] = 0;
  }
  for (size_t i = 0; i < own; ++i) {
    const int64_t extent = form.batch[form.batch.size() - own + i];
    if (view.dims[i] != extent && view.dims[i] != 1) return std::nullopt;
  }
  return StackOf(view, form.batch.size());
}

bool IsContiguousMatrix(const Stack& stack) { return stack.row == 1 || stack.step == 1; }

std::optional<Form> FormOf(const KernelRequest& request) {
  const FusedAttentionForm attributes = ReadFusedAttention(request.node.attributes);
  ArrangedView views[3];
  Form form;
  for (size_t i = 0; i < 3; ++i) {
    views[i] = Arrange(request.inputs[i].dims, attributes.operands[i]);
    const Dims leading(views[i].dims.begin(), views[i].dims.end() - 2);
    const auto batch = BroadcastDims(form.batch, leading);
    if (!batch.ok()) return std::nullopt;
    form.batch = *batch;
  }
  const auto extent = [&](size_t i, size_t from_end) {
    return views[i].dims[views[i].dims.size() - from_end];
  };
  form.queries = extent(kFusedQuery, 2);
  form.keys = extent(kFusedKey, 2);
  form.size = extent(kFusedQuery, 1);
  form.v_size = extent(kFusedValue, 1);
  // A mask may make scores of one key those of many.
  if (extent(kFusedValue, 2) != form.keys) return std::nullopt;
  Stack* const stacks[] = {&form.q, &form.k, &form.v};
  for (size_t i = 0; i < 3; ++i) *stacks[i] = StackOf(views[i], form.batch.size());
  if (form.q.step != 1 || !IsContiguousMatrix(form.k) || !IsContiguousMatrix(form.v))
    return std::nullopt;
  for (const size_t i : {kFusedCondition, kFusedMask}) {
    if (i >= request.inputs.size() || !request.inputs[i].present) continue;
    const auto stack = BroadcastStack(request.inputs[i].dims, form);
    if (!stack) return std::nullopt;
    (i == kFusedMask ? form.mask : form.condition) = *stack;
    (i == kFusedMask ? form.has_mask : form.has_condition) = true;
  }
  // Axis k of the output is axis y_perm[k] of the result.
  const Dims& out = request.outputs[0].dims;
  ArrangedView y{out, ContiguousStrides(out), 0};
  for (size_t k = 0; k < attributes.y_perm.size(); ++k) {
    const auto axis = static_cast<size_t>(attributes.y_perm[k]);
    y.dims[axis] = out[k];
    y.strides[axis] = ContiguousStrides(out)[k];
  }
  form.y = StackOf(y, form.batch.size());
  if (form.y.step != 1 && form.v_size != 1) return std::nullopt;
  form.scale = attributes.scale;
  form.fill = attributes.fill;
  form.fill_where = attributes.fill_where;
  form.clear_nan = attributes.clear_nan;
  return form;
}

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(Form form, int threads) : form_(std::move(form)) {
    const int64_t tile = gemm::Tiles().rows;
    const int64_t rows = std::max(tile, kBlockScores / form_.keys / tile * tile);
    blocks_ = (form_.queries + rows - 1) / rows;
    rows_ = (form_.queries + blocks_ - 1) / blocks_;
    score_row_ = RoundUp(form_.keys);
    const double flops = 2.0 * static_cast<double>(form_.batches() * form_.queries * form_.keys) *
                         static_cast<double>(form_.size + form_.v_size);
    parts_ = std::clamp<int64_t>(
        static_cast<int64_t>(flops / (form_.few() ? kFewPartFlops : kPartFlops)), 1,
        std::min<int64_t>(threads, form_.batches() * blocks_));
    if (!form_.few()) {
      packed_k_ = RoundUp(gemm::PackedCount(form_.size, form_.keys));
      packed_v_ = RoundUp(gemm::PackedCount(form_.keys, form_.v_size));
    }
    part_floats_ = packed_k_ + packed_v_ + rows_ * score_row_;
  }

  Status Run(KernelContext& context) const override {
    const Operands operands{
        context.input(kFusedQuery).data<float>(),
        context.input(kFusedKey).data<float>(),
        context.input(kFusedValue).data<float>(),
        form_.has_mask ? context.input(kFusedMask).data<float>() : nullptr,
        form_.has_condition ? context.input(kFusedCondition).data<bool>() : nullptr,
        context.output(0).data<float>(),
        static_cast<float*>(context.planned_scratch())};
    ParallelFor(parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) RunPart(operands, part);
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(parts_ * part_floats_) * sizeof(float);
  }
  std::string_view name() const override { return "vector:attention"; }

 private:
  struct Operands {
    const float *q, *k, *v, *mask;
    const bool* condition;
    float* y;
    float* scratch;
  };
  // Moved to one batch.
  struct Head {
    const float *q, *k, *v, *mask;
    const bool* condition;
    float* y;
  };

  Head HeadAt(const Operands& operands, int64_t batch) const {
    Head head{operands.q + form_.q.offset, operands.k + form_.k.offset,
              operands.v + form_.v.offset, operands.mask,
              operands.condition,          operands.y};
    for (size_t axis = form_.batch.size(); axis-- > 0;) {
      const int64_t at = batch % form_.batch[axis];
      batch /= form_.batch[axis];
      head.q += at * form_.q.batch[axis];
      head.k += at * form_.k.batch[axis];
      head.v += at * form_.v.batch[axis];
      head.y += at * form_.y.batch[axis];
      if (form_.has_mask) head.mask += at * form_.mask.batch[axis];
      if (form_.has_condition) head.condition += at * form_.condition.batch[axis];
    }
    return head;
  }

  void RunPart(const Operands& operands, int64_t part) const {
    const int64_t units = form_.batches() * blocks_;
    float* const packed_k = operands.scratch + part * part_floats_;
    float* const packed_v = packed_k + packed_k_;
    float* const scores = packed_v + packed_v_;
    int64_t packed = -1;
    for (int64_t unit = units * part / parts_; unit < units * (part + 1) / parts_; ++unit) {
      const int64_t batch = unit / blocks_, block = unit % blocks_;
      const Head head = HeadAt(operands, batch);
      const int64_t first = form_.queries * block / blocks_,
                    count = form_.queries * (block + 1) / blocks_ - first;
      if (form_.few()) {
        AttendFew(head, first, count, scores);
        continue;
      }
      if (packed != batch) {
        packed = batch;
        gemm::Pack(head.k, form_.k.step, form_.k.row, form_.size, form_.keys, 0, form_.size,
                   packed_k);
        gemm::Pack(head.v, form_.v.row, form_.v.step, form_.keys, form_.v_size, 0, form_.keys,
                   packed_v);
      }
      Attend(head, first, count, packed_k, packed_v, scores);
    }
  }

  // Queries [first, first + count) of one head.
  void Attend(const Head& head, int64_t first, int64_t count, const float* packed_k,
              const float* packed_v, float* scores) const {
    const int64_t width = gemm::Tiles().width;
    gemm::Product product;
    product.m = count;
    product.n = form_.keys;
    product.k = form_.size;
    product.a = head.q + first * form_.q.row;
    product.a_row = form_.q.row;
    product.b = packed_k;
    product.b_panel = width * form_.size;
    product.b_block = width * form_.size;
    product.c = scores;
    product.c_row = score_row_;
    product.alpha = form_.scale;
    // A mask without a condition before it is added by the product.
    const bool added = head.mask != nullptr && !form_.has_condition && form_.mask.step == 1;
    if (added && form_.mask.row == 0) product.bias = head.mask;
    if (added && form_.mask.row != 0) {
      product.residual = head.mask + first * form_.mask.row;
      product.residual_row = form_.mask.row;
    }
    gemm::Multiply(product);
    Weight(head, first, count, scores, added);
    product = {};
    product.m = count;
    product.n = form_.v_size;
    product.k = form_.keys;
    product.a = scores;
    product.a_row = score_row_;
    product.b = packed_v;
    product.b_panel = width * form_.keys;
    product.b_block = width * form_.keys;
    product.c = head.y + first * form_.y.row;
    product.c_row = form_.y.row;
    gemm::Multiply(product);
  }

  void AttendFew(const Head& head, int64_t first, int64_t count, float* scores) const {
    for (int64_t i = 0; i < count; ++i) {
      const float* q = head.q + (first + i) * form_.q.row;
      float* row = scores + i * score_row_;
      if (form_.k.step == 1) {
        simd::MultiplyByRows(q, head.k, form_.k.row, form_.keys, form_.size, form_.scale, row);
      } else {
        simd::AddUpRows(q, head.k, form_.k.step, form_.size, form_.keys, form_.scale, row);
      }
    }
    Weight(head, first, count, scores, false);
    for (int64_t i = 0; i < count; ++i) {
      const float* row = scores + i * score_row_;
      float* y = head.y + (first + i) * form_.y.row;
      if (form_.v.step == 1) {
        simd::AddUpRows(row, head.v, form_.v.row, form_.keys, form_.v_size, 1, y);
      } else {
        simd::MultiplyByRows(row, head.v, form_.v.step, form_.v_size, form_.keys, 1, y);
      }
    }
  }

  // `masked`: the mask is in the scores already.
  void Weight(const Head& head, int64_t first, int64_t count, float* scores, bool masked) const {
    simd::AttentionScores s;
    s.scores = scores;
    s.row = score_row_;
    s.rows = count;
    s.keys = form_.keys;
    if (head.mask != nullptr && !masked) s.mask = head.mask + first * form_.mask.row;
    s.mask_row = form_.mask.row;
    s.mask_step = form_.mask.step;
    if (head.condition != nullptr) s.condition = head.condition + first * form_.condition.row;
    s.condition_row = form_.condition.row;
    s.condition_step = form_.condition.step;
    s.fill = form_.fill;
    s.fill_where = form_.fill_where;
    s.clear_nan = form_.clear_nan;
    simd::WeightScores(s);
  }

  Form form_;
  int64_t blocks_, rows_, score_row_, parts_;
  int64_t packed_k_ = 0, packed_v_ = 0, part_floats_;
};

bool Supports(const KernelRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const OperandDesc& operand = request.inputs[i];
    if (!operand.present) continue;
    const DataType type = i == kFusedCondition ? DataType::kBool : DataType::kFloat32;
    if (operand.dtype != type || !simd::IsPlain(operand) || ElementCount(operand.dims) == 0)
      return false;
  }
  return simd::IsPlainFloat(request.outputs[0]) && FormOf(request).has_value();
}

Result<std::unique_ptr<Kernel>> MakeAttention(const KernelRequest& request) {
  return simd::Make<AttentionKernel>(*FormOf(request), request.threads);
}
}  // namespace

void AddVectorAttention(KernelTable& table) {
  table.push_back({"FusedAttention", "asc", "vector.attention", Supports, nullptr, MakeAttention});
}

}  // namespace asc
