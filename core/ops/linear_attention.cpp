// LinearAttention and CausalConvWithState: layers of linear-time language models that carry a state
// from call to call.
#include <cmath>
#include <cstring>

#include "core/ops/activation.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
constexpr TypeSet kTypes = types::kFloats - TypeSet{DataType::kFloat64};

Status CheckShape(const InferContext& context, size_t i, const std::vector<Dim>& want) {
  if (!context.HasInput(i) || !context.shape(i).has_rank()) return Ok();
  const Shape& have = context.shape(i);
  bool fits = have.rank() == want.size();
  for (size_t k = 0; fits && k < want.size(); ++k)
    fits = !have[k].is_constant() || !want[k].is_constant() || have[k] == want[k];
  if (fits) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' of shape ", Shape(want), ", given ", have);
}

Status InferCausalConv(InferContext& context) {
  const std::string activation = context.attributes().String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return InvalidArgument("CausalConvWithState has activation none, silu or swish, given '",
                           activation, "'");
  }
  const Shape& x = context.shape(0);
  const Shape& w = context.shape(1);
  if (x.has_rank() && x.rank() != 3)
    return ShapeError("CausalConvWithState needs data [batch, channels, length], given ", x);
  const Dim batch = x.has_rank() ? x[0] : Dim::Unknown(),
            channels = x.has_rank() ? x[1] : Dim::Unknown();
  const Dim kernel = w.has_rank() && w.rank() == 3 ? w[2] : Dim::Unknown();
  ASC_RETURN_IF_ERROR(CheckShape(context, 1, {channels, Dim(1), kernel}));
  if (kernel.IsConstant(0)) return ShapeError("CausalConvWithState has an empty kernel: ", w);
  ASC_RETURN_IF_ERROR(CheckShape(context, 2, {channels}));
  const std::vector<Dim> state = {batch, channels, kernel - Dim(1)};
  ASC_RETURN_IF_ERROR(CheckShape(context, 3, state));
  context.SetOutput(0, context.type(0));
  if (context.output_count() > 1) context.SetOutput(1, context.dtype(0), Shape(state));
  return Ok();
}

Status CausalConv(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  const int64_t channels = dims[1], length = dims[2], kernel = context.input(1).dim(2),
                carried = kernel - 1;
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<float>::MakeOptional(context, 0));
  ASC_ASSIGN_OR_RETURN(const auto w, ComputeInput<float>::MakeOptional(context, 1));
  ASC_ASSIGN_OR_RETURN(const auto bias, ComputeInput<float>::MakeOptional(context, 2));
  ASC_ASSIGN_OR_RETURN(const auto past, ComputeInput<float>::MakeOptional(context, 3));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<float>::Make(context, context.output(0)));
  ComputeOutput<float> present;
  if (context.HasOutput(1)) {
    ASC_ASSIGN_OR_RETURN(present, ComputeOutput<float>::Make(context, context.output(1)));
  }
  const std::string name = context.attributes().String("activation", "none");
  const Activation activation{name == "none" ? ActivationKind::kNone : ActivationKind::kSilu};
  ASC_ASSIGN_OR_RETURN(const auto buffer,
                       context.Scratch(static_cast<size_t>(carried + length) * sizeof(float)));
  float* sequence = reinterpret_cast<float*>(buffer->data());
  for (int64_t row = 0; row < dims[0] * channels; ++row) {
    const int64_t c = row % channels;
    if (past.data() != nullptr) {
      std::copy_n(past.data() + row * carried, carried, sequence);
    } else {
      std::fill_n(sequence, carried, 0.0f);
    }
    std::copy_n(x.data() + row * length, length, sequence + carried);
    float* out = y.data() + row * length;
    std::fill_n(out, length, bias.data() == nullptr ? 0.0f : bias.data()[c]);
    for (int64_t k = 0; k < kernel; ++k) {
      const float weight = w.data()[c * kernel + k];
      for (int64_t t = 0; t < length; ++t) out[t] += weight * sequence[t + k];
    }
    ApplyActivation(activation, out, length);
    if (context.HasOutput(1))
      std::copy_n(sequence + length, carried, present.data() + row * carried);
  }
  y.Finish();
  if (context.HasOutput(1)) present.Finish();
  return Ok();
}

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

bool Gated(const std::string& rule) { return rule == "gated" || rule == "gated_delta"; }
bool Delta(const std::string& rule) { return rule == "delta" || rule == "gated_delta"; }

Status InferLinearAttention(InferContext& context) {
  const AttributeMap& attributes = context.attributes();
  const std::string rule = attributes.String("update_rule", "gated_delta");
  if (rule != "linear" && !Gated(rule) && !Delta(rule)) {
    return InvalidArgument(
        "LinearAttention has update_rule linear, gated, delta or gated_delta, given '", rule, "'");
  }
  const int64_t q_heads = attributes.Int("q_num_heads", 0),
                kv_heads = attributes.Int("kv_num_heads", 0);
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0) {
    return InvalidArgument(
        "LinearAttention needs q_num_heads to be a multiple of kv_num_heads, given ", q_heads,
        " and ", kv_heads);
  }
  if (Gated(rule) && !context.HasInput(kDecay))
    return InvalidArgument("LinearAttention with update_rule ", rule, " needs 'decay'");
  if (Delta(rule) && !context.HasInput(kBeta))
    return InvalidArgument("LinearAttention with update_rule ", rule, " needs 'beta'");
  const Shape& q = context.shape(kQuery);
  const Shape& v = context.shape(kValue);
  const DataType state_type =
      context.HasInput(kPast) ? context.dtype(kPast) : context.dtype(kQuery);
  context.SetOutput(0, context.dtype(kQuery));
  if (context.output_count() > 1) context.SetOutput(1, state_type);
  for (const size_t i : {kQuery, kKey, kValue}) {
    const Shape& shape = context.shape(i);
    const int64_t heads = i == kQuery ? q_heads : kv_heads;
    if (!shape.has_rank()) continue;
    if (shape.rank() == 3 && (!shape[2].is_constant() || shape[2].value() % heads == 0)) continue;
    return ShapeError("LinearAttention needs '", context.schema().inputs[i].name,
                      "' [batch, steps, ", heads, " heads * size], given ", shape);
  }
  if (!q.has_rank() || !v.has_rank()) return Ok();
  const Dim size = Dim::FloorDiv(q[2], Dim(q_heads)), v_size = Dim::FloorDiv(v[2], Dim(kv_heads));
  const std::vector<Dim> state = {q[0], Dim(kv_heads), size, v_size};
  ASC_RETURN_IF_ERROR(CheckShape(context, kKey, {q[0], q[1], size * Dim(kv_heads)}));
  ASC_RETURN_IF_ERROR(CheckShape(context, kValue, {q[0], q[1], v[2]}));
  ASC_RETURN_IF_ERROR(CheckShape(context, kPast, state));
  const Status whole = CheckShape(context, kDecay, {q[0], q[1], size * Dim(kv_heads)});
  if (!whole.ok() && !CheckShape(context, kDecay, {q[0], q[1], Dim(kv_heads)}).ok()) return whole;
  const Status each = CheckShape(context, kBeta, {q[0], q[1], Dim(kv_heads)});
  if (!each.ok() && !CheckShape(context, kBeta, {q[0], q[1], Dim(1)}).ok()) return each;
  context.SetOutput(0, context.dtype(kQuery),
                    Shape(std::vector<Dim>{q[0], q[1], v_size * Dim(q_heads)}));
  if (context.output_count() > 1) context.SetOutput(1, state_type, Shape(state));
  return Ok();
}

// One key head: its state [size, v_size] goes through all steps.
struct Recurrence {
  int64_t size, v_size;
  float* state;
  float* change;  // [v_size]

  void Decay(const float* log_decay, bool each) {
    for (int64_t i = 0; i < size; ++i) {
      const float factor = std::exp(log_decay[each ? i : 0]);
      for (int64_t j = 0; j < v_size; ++j) state[i * v_size + j] *= factor;
    }
  }
  // state += rate * k (x) (v - [what the state already answers to k])
  void Add(const float* k, const float* v, float rate, bool delta) {
    std::copy_n(v, v_size, change);
    for (int64_t i = 0; delta && i < size; ++i) {
      for (int64_t j = 0; j < v_size; ++j) change[j] -= k[i] * state[i * v_size + j];
    }
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < v_size; ++j) state[i * v_size + j] += rate * k[i] * change[j];
    }
  }
  void Read(const float* q, float scale, float* out) const {
    std::fill_n(out, v_size, 0.0f);
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < v_size; ++j) out[j] += scale * q[i] * state[i * v_size + j];
    }
  }
};

Status LinearAttention(KernelContext& context) {
  const AttributeMap& attributes = context.attributes();
  const std::string rule = attributes.String("update_rule", "gated_delta");
  const int64_t q_heads = attributes.Int("q_num_heads", 1),
                kv_heads = attributes.Int("kv_num_heads", 1), share = q_heads / kv_heads;
  const Dims& dims = context.input(kQuery).dims();
  const int64_t batch = dims[0], steps = dims[1], size = dims[2] / q_heads,
                v_size = context.input(kValue).dim(2) / kv_heads;
  ASC_ASSIGN_OR_RETURN(const auto q, ComputeInput<float>::MakeOptional(context, kQuery));
  ASC_ASSIGN_OR_RETURN(const auto k, ComputeInput<float>::MakeOptional(context, kKey));
  ASC_ASSIGN_OR_RETURN(const auto v, ComputeInput<float>::MakeOptional(context, kValue));
  ASC_ASSIGN_OR_RETURN(const auto past, ComputeInput<float>::MakeOptional(context, kPast));
  ASC_ASSIGN_OR_RETURN(const auto decay, ComputeInput<float>::MakeOptional(context, kDecay));
  ASC_ASSIGN_OR_RETURN(const auto beta, ComputeInput<float>::MakeOptional(context, kBeta));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<float>::Make(context, context.output(0)));
  const int64_t state_size = size * v_size, heads = batch * kv_heads;
  ASC_ASSIGN_OR_RETURN(
      const auto states,
      context.Scratch(static_cast<size_t>(heads * (state_size + v_size)) * sizeof(float)));
  float* state = reinterpret_cast<float*>(states->data());
  if (past.data() != nullptr) {
    std::copy_n(past.data(), heads * state_size, state);
  } else {
    std::fill_n(state, heads * state_size, 0.0f);
  }
  const float given = attributes.Float("scale", 0),
              scale = given != 0 ? given : 1 / std::sqrt(static_cast<float>(size));
  const bool each_decay = decay.data() != nullptr && context.input(kDecay).dim(2) != kv_heads;
  const int64_t decay_row = decay.data() == nullptr ? 0 : context.input(kDecay).dim(2);
  const int64_t beta_row = beta.data() == nullptr ? 0 : context.input(kBeta).dim(2);
  ParallelFor(heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) {
      const int64_t b = head / kv_heads, h = head % kv_heads;
      Recurrence recurrence{size, v_size, state + head * state_size,
                            state + heads * state_size + head * v_size};
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t step = b * steps + t;
        if (Gated(rule))
          recurrence.Decay(decay.data() + step * decay_row + (each_decay ? h * size : h),
                           each_decay);
        const float rate =
            Delta(rule) ? beta.data()[step * beta_row + (beta_row == 1 ? 0 : h)] : 1.0f;
        recurrence.Add(k.data() + (step * kv_heads + h) * size,
                       v.data() + (step * kv_heads + h) * v_size, rate, Delta(rule));
        for (int64_t shared = h * share; shared < (h + 1) * share; ++shared) {
          recurrence.Read(q.data() + (step * q_heads + shared) * size, scale,
                          y.data() + (step * q_heads + shared) * v_size);
        }
      }
    }
  });
  y.Finish();
  if (context.HasOutput(1)) {
    ASC_ASSIGN_OR_RETURN(auto present, ComputeOutput<float>::Make(context, context.output(1)));
    std::copy_n(state, heads * state_size, present.data());
    present.Finish();
  }
  return Ok();
}
}  // namespace

void AddLinearAttentionOps(OpTable& table) {
  table.Add("CausalConvWithState", 27)
      .Doc(
          "depthwise convolution over the past of a sequence, of which the last elements are "
          "carried on")
      .Input("input", "T")
      .Input("weight", "T")
      .OptionalInput("bias", "T")
      .OptionalInput("past_state", "T")
      .Output("output", "T")
      .Output("present_state", "T")
      .Types("T", kTypes)
      .Attr("activation", "none", "", "none, silu or swish")
      .Infer(InferCausalConv)
      .Kernel(CausalConv);
  table.Add("LinearAttention", 27)
      .Doc(
          "attention by a recurrent state: each step adds key (x) value to it, each query reads it")
      .Input("query", "T")
      .Input("key", "T")
      .Input("value", "T")
      .OptionalInput("past_state", "S")
      .OptionalInput("decay", "T")
      .OptionalInput("beta", "T")
      .Output("output", "T")
      .Output("present_state", "S")
      .Types("T", kTypes)
      .Types("S", kTypes)
      .RequiredAttr("q_num_heads", AttributeType::kInt)
      .RequiredAttr("kv_num_heads", AttributeType::kInt)
      .Attr("update_rule", "gated_delta", "", "linear, gated, delta or gated_delta")
      .Attr("scale", 0.0f, "", "of what queries read; 0: 1 / sqrt(head size)")
      .Attr("chunk_size", int64_t{64}, "", "a hint for kernels; changes nothing")
      .Infer(InferLinearAttention)
      .Kernel(LinearAttention);
}

}  // namespace asc
