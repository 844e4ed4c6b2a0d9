// Attention: softmax(q * k^T * scale + bias) * v, for heads and groups of heads, with caches, masks
// and windows. Formulae: the ONNX definition of Attention 25.
#include <cmath>
#include <limits>
#include <mutex>

#include "core/ops/attention_shape.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"

namespace asc {
namespace {
constexpr int64_t kQueryBlock = 32;  // queries whose scores are held at once

Status InferAttention(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const auto extents, ReadAttention(context));
  const DataType types[] = {context.dtype(kQuery), context.dtype(kQuery), context.dtype(kValue),
                            context.dtype(kQuery)};
  for (size_t i = 0; i < context.output_count(); ++i) context.SetOutput(i, types[i]);
  if (!extents) return Ok();
  const AttentionExtents<Dim>& e = *extents;
  const std::vector<Dim> shapes[] = {
      e.rank3 ? std::vector<Dim>{e.batch, e.queries, e.q_heads * e.v_size}
              : std::vector<Dim>{e.batch, e.q_heads, e.queries, e.v_size},
      {e.batch, e.kv_heads, e.keys(), e.size},
      {e.batch, e.kv_heads, e.keys(), e.v_size},
      {e.batch, e.q_heads, e.queries, e.keys()}};
  for (size_t i = 0; i < context.output_count(); ++i)
    context.SetOutput(i, types[i], Shape(shapes[i]));
  return Ok();
}

// Past and new rows of one cache as [batch, heads, keys, size].
template <typename A>
Status JoinCaches(KernelContext& context, size_t past, size_t fresh,
                  const AttentionExtents<int64_t>& e, int64_t size, A* out) {
  ASC_ASSIGN_OR_RETURN(const auto added, ComputeInput<A>::Make(context, context.input(fresh)));
  ASC_ASSIGN_OR_RETURN(const auto before, ComputeInput<A>::MakeOptional(context, past));
  for (int64_t plane = 0; plane < e.batch * e.kv_heads; ++plane)
    JoinCache(e, plane, size, before.data(), added.data(), out + plane * e.keys() * size);
  return Ok();
}

// What is added to scores: the mask, with minus infinity where a key must not be seen.
class Bias {
 public:
  Bias(KernelContext& context, const AttentionExtents<int64_t>& e) : e_(e) {
    const AttributeMap& attributes = context.attributes();
    causal_ = attributes.Int("is_causal", 0) != 0;
    left_ = attributes.Int("left_window_size", -1);
    right_ = attributes.Int("right_window_size", -1);
    if (context.HasInput(kValidKeys)) valid_ = context.input(kValidKeys).data<int64_t>();
    if (context.HasInput(kMask)) {
      mask_ = &context.input(kMask);
      mask_keys_ = mask_->dim(mask_->rank() - 1);
      strides_ = BroadcastStrides(mask_->dims(), {e.batch, e.q_heads, e.queries, mask_keys_});
      // A mask of one key out of several is short, not repeated.
      strides_[3] = 1;
    }
  }

  // Adds the bias of one query to its scores.
  template <typename A>
  void Add(int64_t b, int64_t h, int64_t query, A* scores) const {
    constexpr A kMasked = -std::numeric_limits<A>::infinity();
    const int64_t keys = e_.keys();
    if (mask_ != nullptr) {
      const int64_t row = b * strides_[0] + h * strides_[1] + query * strides_[2];
      const bool truth = mask_->dtype() == DataType::kBool;
      for (int64_t j = 0; j < keys; ++j) {
        const double value =
            j < mask_keys_ ? ReadAsDouble(mask_->dtype(), mask_->raw(), row + j) : 0;
        if (j >= mask_keys_ || (truth && value == 0)) {
          scores[j] = kMasked;
        } else if (!truth) {
          scores[j] += static_cast<A>(value);
        }
      }
    }
    // The query's place among the keys.
    const int64_t place = query + (valid_ != nullptr ? valid_[b] - e_.queries : e_.past);
    for (int64_t j = 0; j < keys; ++j) {
      const bool hidden = (causal_ && j > place) || (left_ >= 0 && j < place - left_) ||
                          (right_ >= 0 && j > place + right_) ||
                          (valid_ != nullptr && j >= valid_[b]);
      if (hidden) scores[j] = kMasked;
    }
  }

 private:
  const AttentionExtents<int64_t>& e_;
  bool causal_ = false;
  int64_t left_ = -1, right_ = -1, mask_keys_ = 0;
  const int64_t* valid_ = nullptr;
  const Tensor* mask_ = nullptr;
  Dims strides_;
};

// A query that sees no key gives zeros.
template <typename A>
void SoftmaxRow(A* scores, int64_t count) {
  A largest = -std::numeric_limits<A>::infinity();
  for (int64_t j = 0; j < count; ++j) largest = scores[j] > largest ? scores[j] : largest;
  bool nan = false;
  for (int64_t j = 0; j < count; ++j) nan |= scores[j] != scores[j];
  if (largest == -std::numeric_limits<A>::infinity() && !nan) {
    std::fill_n(scores, count, A(0));
    return;
  }
  double sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    scores[j] = std::exp(scores[j] - largest);
    sum += static_cast<double>(scores[j]);
  }
  const A scale = static_cast<A>(1 / sum);
  for (int64_t j = 0; j < count; ++j) scores[j] *= scale;
}

template <typename A>
struct Operands {
  const A* q;
  const A* k;  // [batch, kv_heads, keys, size]
  const A* v;  // [batch, kv_heads, keys, v_size]
  A* y;
  A* scores;  // the fourth output, or null
  A scale, softcap;
  int64_t mode;
};

// Queries [first, first + count) of one head; `work` holds count * (keys + v_size) elements.
template <typename A>
void AttendBlock(const AttentionExtents<int64_t>& e, const Operands<A>& in, const Bias& bias,
                 int64_t b, int64_t h, int64_t first, int64_t count, A* work) {
  const int64_t keys = e.keys(), kv_plane = b * e.kv_heads + h / (e.q_heads / e.kv_heads);
  const int64_t q_row = e.rank3 ? e.q_heads * e.size : e.size;
  const A* q = in.q + (e.rank3 ? (b * e.queries + first) * q_row + h * e.size
                               : ((b * e.q_heads + h) * e.queries + first) * e.size);
  A* weighted = work + count * keys;
  MultiplyMatrices<A>(count, keys, e.size, {q, q_row, 1},
                      {in.k + kv_plane * keys * e.size, 1, e.size}, work);
  for (int64_t i = 0; i < count; ++i) {
    A* row = work + i * keys;
    const auto emit = [&](int64_t mode) {
      if (in.scores == nullptr || in.mode != mode) return;
      std::copy_n(row, keys, in.scores + ((b * e.q_heads + h) * e.queries + first + i) * keys);
    };
    for (int64_t j = 0; j < keys; ++j) row[j] *= in.scale;
    emit(0);
    if (in.softcap > 0) {
      for (int64_t j = 0; j < keys; ++j) row[j] = in.softcap * std::tanh(row[j] / in.softcap);
    }
    emit(1);
    bias.Add(b, h, first + i, row);
    emit(2);
    SoftmaxRow(row, keys);
    emit(3);
  }
  MultiplyMatrices<A>(count, e.v_size, keys, {work, keys, 1},
                      {in.v + kv_plane * keys * e.v_size, e.v_size, 1}, weighted);
  const int64_t y_row = e.rank3 ? e.q_heads * e.v_size : e.v_size;
  A* y = in.y + (e.rank3 ? (b * e.queries + first) * y_row + h * e.v_size
                         : ((b * e.q_heads + h) * e.queries + first) * e.v_size);
  for (int64_t i = 0; i < count; ++i) std::copy_n(weighted + i * e.v_size, e.v_size, y + i * y_row);
}

template <typename A>
Status AttentionAs(KernelContext& context) {
  const AttentionExtents<int64_t> e = ReadAttention(context);
  const AttributeMap& attributes = context.attributes();
  ASC_RETURN_IF_ERROR(CheckValidKeys(context, e));
  // Caches are outputs where they are asked for, else scratch.
  ComputeOutput<A> caches[2];
  std::shared_ptr<Buffer> scratch[2];
  A* kv[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = i == 0 ? e.size : e.v_size;
    if (context.HasOutput(i + 1)) {
      ASC_ASSIGN_OR_RETURN(caches[i], ComputeOutput<A>::Make(context, context.output(i + 1)));
      kv[i] = caches[i].data();
    } else {
      ASC_ASSIGN_OR_RETURN(
          scratch[i],
          context.Scratch(static_cast<size_t>(e.batch * e.kv_heads * e.keys() * size) * sizeof(A)));
      kv[i] = reinterpret_cast<A*>(scratch[i]->data());
    }
    ASC_RETURN_IF_ERROR(JoinCaches(context, i == 0 ? kPastKey : kPastValue, i == 0 ? kKey : kValue,
                                   e, size, kv[i]));
  }
  ASC_ASSIGN_OR_RETURN(const auto q, ComputeInput<A>::Make(context, context.input(kQuery)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  ComputeOutput<A> scores;
  if (context.HasOutput(3)) {
    ASC_ASSIGN_OR_RETURN(scores, ComputeOutput<A>::Make(context, context.output(3)));
  }
  const Operands<A> in{q.data(),
                       kv[0],
                       kv[1],
                       y.data(),
                       scores.data(),
                       static_cast<A>(AttentionScale(attributes, e.size)),
                       static_cast<A>(attributes.Float("softcap", 0)),
                       attributes.Int("qk_matmul_output_mode", 0)};
  const Bias bias(context, e);
  const int64_t blocks = (e.queries + kQueryBlock - 1) / kQueryBlock;
  Status failure;
  std::mutex failure_mutex;
  ParallelFor(e.batch * e.q_heads * blocks, 1, [&](int64_t begin, int64_t end) {
    auto work = context.Scratch(
        static_cast<size_t>(std::min(kQueryBlock, e.queries) * (e.keys() + e.v_size)) * sizeof(A));
    if (!work.ok()) {
      const std::lock_guard lock(failure_mutex);
      failure = std::move(work).status();
      return;
    }
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * kQueryBlock, head = unit / blocks % e.q_heads,
                    b = unit / blocks / e.q_heads;
      AttendBlock(e, in, bias, b, head, first, std::min(kQueryBlock, e.queries - first),
                  reinterpret_cast<A*>((*work)->data()));
    }
  });
  ASC_RETURN_IF_ERROR(std::move(failure));
  y.Finish();
  for (size_t i = 0; i < 2; ++i) {
    if (context.HasOutput(i + 1)) caches[i].Finish();
  }
  if (context.HasOutput(3)) scores.Finish();
  return Ok();
}

Status Attention(KernelContext& context) {
  return context.input(kQuery).dtype() == DataType::kFloat64 ? AttentionAs<double>(context)
                                                             : AttentionAs<float>(context);
}

CostEstimate AttentionCost(const std::vector<ValueType>& inputs,
                           const std::vector<ValueType>& outputs, const AttributeMap&) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  const auto k = inputs[kKey].shape.ToDims();
  if (!k || k->size() < 3) return cost;
  // Each element of q meets each key, and each weight a row of v as long as the output's.
  double keys = static_cast<double>((*k)[k->size() - 2]);
  if (inputs.size() > kPastKey && inputs[kPastKey].shape.is_static())
    keys += static_cast<double>((*inputs[kPastKey].shape.ToDims())[2]);
  cost.flops = 2 * keys * (KnownElementCount(inputs[kQuery]) + KnownElementCount(outputs[0]));
  return cost;
}
}  // namespace

void AddAttentionOps(OpTable& table) {
  table.Add("Attention", 25)
      .Doc("scaled dot-product attention: softmax(q * k^T * scale + mask) * v, for each head")
      .Method("scaled_dot_product_attention")
      .Input("q", "T1")
      .Input("k", "T1")
      .Input("v", "T2")
      .OptionalInput("attn_mask", "U")
      .OptionalInput("past_key", "T1")
      .OptionalInput("past_value", "T2")
      .OptionalInput("nonpad_kv_seqlen", "I")
      .Output("y", "T1")
      .OptionalOutput("present_key", "T1")
      .OptionalOutput("present_value", "T2")
      .OptionalOutput("qk_matmul_output", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kFloats)
      .Types("U", types::kNumeric | types::kBool)
      .Types("I", types::kInt64)
      .Attr("is_causal", int64_t{0}, "", "1: a query sees no key after its own place")
      .OptionalAttr("scale", AttributeType::kFloat, "", "default: 1 / sqrt(head size)")
      .OptionalAttr("q_num_heads", AttributeType::kInt, "", "needed for inputs of rank 3")
      .OptionalAttr("kv_num_heads", AttributeType::kInt, "", "needed for inputs of rank 3")
      .OptionalAttr("softmax_precision", AttributeType::kInt, "",
                    "least precise type allowed, as ONNX numbers it")
      .Attr("softcap", 0.0f, "", "scores s become softcap * tanh(s / softcap); 0: not")
      .Attr("qk_matmul_output_mode", int64_t{0}, "",
            "stage of the scores output: 0 raw, 1 capped, 2 biased, 3 softmax")
      .Attr("left_window_size", int64_t{-1}, "",
            "keys before its own place that a query sees; -1: all")
      .Attr("right_window_size", int64_t{-1}, "",
            "keys after its own place that a query sees; -1: all")
      .Class(OpClass::kMatMul)
      .Infer(InferAttention)
      .Kernel(Attention)
      .Cost(AttentionCost);
}

}  // namespace asc
