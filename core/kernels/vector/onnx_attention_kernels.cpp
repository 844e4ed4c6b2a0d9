// ONNX's Attention of float32, with caches, groups of heads, masks and windows.
#include "core/kernels/families.h"
#include "core/kernels/vector/attention_engine.h"
#include "core/kernels/vector/common.h"
#include "core/ops/attention_shape.h"
#include "core/ops/broadcast_iterator.h"

namespace asc {
namespace {
using simd::AttentionEngine;
using simd::AttentionForm;
using simd::AttentionOperands;
using simd::AttentionStack;
using Extents = AttentionExtents<int64_t>;

// Outputs of Attention.
enum AttentionOutput : size_t { kResult, kPresentKey, kPresentValue, kScores };

bool Has(const std::vector<OperandDesc>& operands, size_t i) {
  return i < operands.size() && operands[i].present;
}

Extents ExtentsOf(const KernelRequest& request) {
  return ReadAttention(request.node.attributes, request.inputs[kQuery].dims,
                       request.inputs[kKey].dims, request.inputs[kValue].dims,
                       Has(request.inputs, kPastKey) ? request.inputs[kPastKey].dims[2] : 0);
}

// Heads in groups that share their keys and values: axes batch, kv_heads, heads of a group.
AttentionStack GroupedStack(const Extents& e, int64_t size) {
  const int64_t group = e.q_heads / e.kv_heads;
  if (e.rank3) {
    const int64_t row = e.q_heads * size;
    return {0, {e.queries * row, group * size, size}, row, 1};
  }
  const int64_t head = e.queries * size;
  return {0, {e.q_heads * head, group * head, head}, size, 1};
}
// `dense`: [batch, heads, keys, size] whatever the rank of the inputs, as caches are.
AttentionStack SharedStack(const Extents& e, int64_t size, bool dense) {
  if (e.rank3 && !dense) {
    const int64_t row = e.kv_heads * size;
    return {0, {e.new_keys * row, size, 0}, row, 1};
  }
  const int64_t head = e.keys() * size;
  return {0, {e.kv_heads * head, head, 0}, size, 1};
}

AttentionForm FormOf(const KernelRequest& request, const Extents& e) {
  const AttributeMap& attributes = request.node.attributes;
  AttentionForm form;
  const int64_t group = e.q_heads / e.kv_heads;
  form.batch = {e.batch, e.kv_heads, group};
  form.queries = e.queries;
  form.keys = e.keys();
  form.size = e.size;
  form.v_size = e.v_size;
  form.q = GroupedStack(e, e.size);
  form.y = GroupedStack(e, e.v_size);
  form.k = SharedStack(e, e.size, e.past > 0);
  form.v = SharedStack(e, e.v_size, e.past > 0);
  form.mask_keys = form.keys;
  if (Has(request.inputs, kMask)) {
    const OperandDesc& mask = request.inputs[kMask];
    form.mask_keys = mask.dims.back();
    const Dims strides =
        BroadcastStrides(mask.dims, {e.batch, e.q_heads, e.queries, form.mask_keys});
    // A mask of one key out of several is short, not repeated.
    const AttentionStack stack{0, {strides[0], group * strides[1], strides[1]}, strides[2], 1};
    const bool truth = mask.dtype == DataType::kBool;
    (truth ? form.condition : form.mask) = stack;
    (truth ? form.has_condition : form.has_mask) = true;
  }
  form.scale = static_cast<float>(AttentionScale(attributes, e.size));
  form.softcap = attributes.Float("softcap", 0);
  form.fill = -HUGE_VALF;
  form.clear_hidden = true;
  form.place = e.past;
  const auto window = [&](const char* name) {
    const int64_t size = attributes.Int(name, -1);
    return size < 0 ? simd::SeenKeys::kFar : std::min(size, simd::SeenKeys::kFar);
  };
  form.left = window("left_window_size");
  form.right = attributes.Int("is_causal", 0) != 0 ? 0 : window("right_window_size");
  form.has_lengths = Has(request.inputs, kValidKeys);
  form.assume_finite = request.assume_finite;
  return form;
}

class OnnxAttentionKernel : public Kernel {
 public:
  OnnxAttentionKernel(const KernelRequest& request, const Extents& e)
      : e_(e), engine_(FormOf(request, e), request.threads) {
    // Keys and values must be in one place to be read.
    for (size_t i = 0; i < 2; ++i) {
      const bool joined = e.past > 0 && !Has(request.outputs, kPresentKey + i);
      joined_[i] = joined ? e.batch * e.kv_heads * e.keys() * Size(i) : 0;
    }
  }

  Status Run(KernelContext& context) const override {
    ASC_RETURN_IF_ERROR(CheckValidKeys(context, e_));
    auto* scratch = static_cast<std::byte*>(context.planned_scratch());
    auto* joined = reinterpret_cast<float*>(scratch + engine_.scratch_bytes());
    const Cache keys = CacheOf(context, 0, joined),
                values = CacheOf(context, 1, joined + joined_[0]);
    AttentionOperands operands;
    operands.q = context.input(kQuery).data<float>();
    operands.k = e_.past > 0 ? keys.to : keys.added;
    operands.v = e_.past > 0 ? values.to : values.added;
    if (engine_.form().has_mask) operands.mask = context.input(kMask).data<float>();
    if (engine_.form().has_condition) operands.condition = context.input(kMask).data<bool>();
    if (engine_.form().has_lengths) operands.lengths = context.input(kValidKeys).data<int64_t>();
    operands.y = context.output(kResult).data<float>();
    engine_.Run(operands, scratch, [&](int64_t group) {
      JoinGroup(keys, group);
      JoinGroup(values, group);
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return engine_.scratch_bytes() + static_cast<size_t>(joined_[0] + joined_[1]) * sizeof(float);
  }
  std::string_view name() const override { return "vector:attention"; }

 private:
  int64_t Size(size_t i) const { return i == 0 ? e_.size : e_.v_size; }

  // The keys or the values; `to` is where past and new ones are joined, null where they need not be.
  struct Cache {
    const float *past, *added;
    float* to;
    int64_t size;
  };
  // Of keys (0) or values (1): joined in the output, or else in `scratch`.
  Cache CacheOf(KernelContext& context, size_t i, float* scratch) const {
    Cache cache{nullptr, context.input(kKey + i).data<float>(), nullptr, Size(i)};
    if (e_.past > 0) cache.past = context.input(kPastKey + i).data<float>();
    if (context.HasOutput(kPresentKey + i)) {
      cache.to = context.output(kPresentKey + i).data<float>();
    } else if (joined_[i] > 0) {
      cache.to = scratch;
    }
    return cache;
  }
  void JoinGroup(const Cache& cache, int64_t group) const {
    if (cache.to == nullptr) return;
    JoinCache(e_, group, cache.size, cache.past, cache.added,
              cache.to + group * e_.keys() * cache.size);
  }

  Extents e_;
  AttentionEngine engine_;
  int64_t joined_[2];  // elements of scratch
};

bool Supports(const KernelRequest& request) {
  if (Has(request.outputs, kScores)) return false;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const OperandDesc& operand = request.inputs[i];
    if (!operand.present) continue;
    const bool other = (i == kMask && operand.dtype == DataType::kBool) || i == kValidKeys;
    if (!simd::IsPlain(operand) || (!other && operand.dtype != DataType::kFloat32)) return false;
    const bool cache = i == kPastKey || i == kPastValue;
    if (!cache && ElementCount(operand.dims) == 0) return false;
  }
  for (const OperandDesc& operand : request.outputs) {
    if (operand.present && !simd::IsPlainFloat(operand)) return false;
  }
  return true;
}

Result<std::unique_ptr<Kernel>> MakeAttention(const KernelRequest& request) {
  return simd::Make<OnnxAttentionKernel>(request, ExtentsOf(request));
}
}  // namespace

void AddVectorOnnxAttention(KernelTable& table) {
  table.push_back({"Attention", "", "vector.onnx_attention", Supports, nullptr, MakeAttention});
}

}  // namespace asc
