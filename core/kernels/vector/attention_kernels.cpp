// asc.FusedAttention of float32.
#include "core/kernels/families.h"
#include "core/kernels/vector/attention_engine.h"
#include "core/kernels/vector/common.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/fused_attention.h"

namespace asc {
namespace {
using simd::AttentionEngine;
using simd::AttentionForm;
using simd::AttentionOperands;
using simd::AttentionStack;

// Batch axes are aligned at their ends, as in broadcasting.
AttentionStack StackOf(const ArrangedView& view, size_t batch_rank) {
  const size_t own = view.dims.size() - 2;
  AttentionStack stack{view.offset, Dims(batch_rank, 0), view.strides[own], view.strides[own + 1]};
  for (size_t i = 0; i < own; ++i) {
    stack.batch[batch_rank - own + i] = view.dims[i] == 1 ? 0 : view.strides[i];
  }
  return stack;
}

// A mask or condition that broadcasts to the scores; nullopt where it would make them larger.
std::optional<AttentionStack> BroadcastStack(const Dims& dims, const AttentionForm& form) {
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

bool IsContiguousMatrix(const AttentionStack& stack) { return stack.row == 1 || stack.step == 1; }

std::optional<AttentionForm> FormOf(const KernelRequest& request) {
  const FusedAttentionForm attributes = ReadFusedAttention(request.node.attributes);
  ArrangedView views[3];
  AttentionForm form;
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
  AttentionStack* const stacks[] = {&form.q, &form.k, &form.v};
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
  form.mask_keys = form.keys;
  form.scale = attributes.scale;
  form.fill = attributes.fill;
  form.fill_where = attributes.fill_where;
  form.clear_nan = attributes.clear_nan;
  return form;
}

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(AttentionForm form, int threads) : engine_(std::move(form), threads) {}

  Status Run(KernelContext& context) const override {
    AttentionOperands operands;
    operands.q = context.input(kFusedQuery).data<float>();
    operands.k = context.input(kFusedKey).data<float>();
    operands.v = context.input(kFusedValue).data<float>();
    if (engine_.form().has_mask) operands.mask = context.input(kFusedMask).data<float>();
    if (engine_.form().has_condition)
      operands.condition = context.input(kFusedCondition).data<bool>();
    operands.y = context.output(0).data<float>();
    engine_.Run(operands, context.planned_scratch());
    return Ok();
  }
  size_t scratch_bytes() const override { return engine_.scratch_bytes(); }
  std::string_view name() const override { return "vector:attention"; }

 private:
  AttentionEngine engine_;
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
