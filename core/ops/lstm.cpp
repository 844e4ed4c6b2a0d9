// LSTM, and DynamicQuantizeLSTM of com.microsoft. Equations: the ONNX definition of LSTM 22; gates stand
// in the order input, output, forget, cell. The second is what ONNX Runtime's dynamic quantisation makes
// of the first: its weights are 8-bit integers, stored transposed, and what they are multiplied by (the
// inputs of all steps together, the states of each step) is rounded as DynamicQuantizeLinear does it.
#include <algorithm>
#include <cmath>

#include "core/ops/dynamic_quantization.h"
#include "core/ops/families.h"
#include "core/ops/recurrent.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr char kInputForget[] = "1: the forget gate is 1 - the input gate";

const RecurrentKind& Kind() {
  static const RecurrentKind kind{4, {"Sigmoid", "Tanh", "Tanh"}};
  return kind;
}

// Inputs of DynamicQuantizeLSTM beyond those of LSTM.
enum QuantizedInput : size_t { kWScale = 8, kWZero, kRScale, kRZero };

const RecurrentKind& QuantizedKind() {
  static const RecurrentKind kind{4, {"Sigmoid", "Tanh", "Tanh"}, true};
  return kind;
}

// y = x with the error that quantisation makes. NaN does not count for the range.
void RoundDynamically(const float* x, int64_t count, float* y) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  const DynamicQuantization fitted = FitRange(low, high);
  const auto zero = static_cast<float>(fitted.zero);
  for (int64_t i = 0; i < count; ++i) {
    const float level = std::nearbyint(x[i] / fitted.scale) + zero;
    y[i] = ((!(level > 0.0f) ? 0.0f : std::min(level, 255.0f)) - zero) * fitted.scale;
  }
}

template <typename A, bool kRoundsState = false>
class LstmCell {
 public:
  static Result<LstmCell> Make(KernelContext& context, const RecurrentSpec& spec,
                               const RecurrentWeights<A>& weights) {
    LstmCell cell(spec, weights);
    cell.coupled_ = context.attributes().Int("input_forget", 0) != 0;
    ASC_ASSIGN_OR_RETURN(
        cell.buffer_,
        context.Scratch(static_cast<size_t>((spec.batch + 1) * 5 * spec.hidden) * sizeof(A)));
    return cell;
  }

  void Step(const std::vector<const A*>& projected, A* h, A* c) {
    const int64_t size = spec_.hidden, rows = 4 * size;
    A* recurrent = reinterpret_cast<A*>(buffer_->data());
    A* gates = recurrent + spec_.batch * rows;
    const A* state = h;
    if constexpr (kRoundsState) {
      A* rounded = gates + rows;
      RoundDynamically(h, spec_.batch * size, rounded);
      state = rounded;
    }
    MultiplyTransposed(spec_.batch, rows, size, state, w_.r, recurrent);
    for (size_t b = 0; b < projected.size(); ++b) {
      if (projected[b] == nullptr) continue;
      const A* from_h = recurrent + static_cast<int64_t>(b) * rows;
      for (int64_t i = 0; i < rows; ++i) {
        gates[i] =
            projected[b][i] + from_h[i] + (w_.hidden_bias == nullptr ? A(0) : w_.hidden_bias[i]);
      }
      Update(gates, h + static_cast<int64_t>(b) * size, c + static_cast<int64_t>(b) * size);
    }
  }

 private:
  LstmCell(const RecurrentSpec& spec, const RecurrentWeights<A>& weights)
      : spec_(spec), w_(weights) {}

  void Update(A* gates, A* h, A* c) const {
    const int64_t size = spec_.hidden;
    A* input = gates;
    A* output = gates + size;
    A* forget = gates + 2 * size;
    A* cell = gates + 3 * size;
    if (w_.peephole != nullptr) {
      for (int64_t i = 0; i < size; ++i) {
        input[i] += w_.peephole[i] * c[i];
        forget[i] += w_.peephole[2 * size + i] * c[i];
      }
    }
    w_.Activate(0, input, size);
    w_.Activate(0, forget, size);
    w_.Activate(1, cell, size);
    for (int64_t i = 0; i < size; ++i) {
      const A keep = coupled_ ? A(1) - input[i] : forget[i];
      c[i] = keep * c[i] + input[i] * cell[i];
      if (w_.peephole != nullptr) output[i] += w_.peephole[size + i] * c[i];
    }
    w_.Activate(0, output, size);
    std::copy_n(c, size, cell);
    ApplyActivation(w_.activations[2], cell, size);
    for (int64_t i = 0; i < size; ++i) h[i] = output[i] * cell[i];
  }

  const RecurrentSpec& spec_;
  RecurrentWeights<A> w_;
  bool coupled_ = false;
  std::shared_ptr<Buffer> buffer_;
};

Status Lstm(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const RecurrentSpec spec, ReadRecurrent(context, Kind()));
  if (context.input(0).dtype() == DataType::kFloat64)
    return RunRecurrent<double, LstmCell<double>>(context, spec, true);
  return RunRecurrent<float, LstmCell<float>>(context, spec, true);
}

// [directions, depth, columns] of integers as floats [directions, columns, depth].
Result<std::shared_ptr<Buffer>> Dequantized(KernelContext& context, size_t weight, size_t scale_at,
                                            size_t zero_at) {
  const Tensor &w = context.input(weight), &scale = context.input(scale_at),
               &zero = context.input(zero_at);
  ASC_ASSIGN_OR_RETURN(auto buffer, context.Scratch(static_cast<size_t>(w.size()) * sizeof(float)));
  auto* to = reinterpret_cast<float*>(buffer->data());
  const int64_t directions = w.dim(0), depth = w.dim(1), columns = w.dim(2);
  const auto parameter = [&](const Tensor& values, int64_t d, int64_t column) {
    const int64_t i = values.size() == directions ? d : d * columns + column;
    return static_cast<float>(ReadAsDouble(values.dtype(), values.raw(), i));
  };
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t j = 0; j < columns; ++j) {
      const float step = parameter(scale, d, j), offset = parameter(zero, d, j);
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t i = (d * depth + k) * columns + j;
        *to++ = (static_cast<float>(ReadAsInt64(w.dtype(), w.raw(), i)) - offset) * step;
      }
    }
  }
  return buffer;
}

Status DynamicQuantizeLstm(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const RecurrentSpec spec, ReadRecurrent(context, QuantizedKind()));
  ASC_ASSIGN_OR_RETURN(const auto w, Dequantized(context, 1, kWScale, kWZero));
  ASC_ASSIGN_OR_RETURN(const auto r, Dequantized(context, 2, kRScale, kRZero));
  const Tensor& x = context.input(0);
  ASC_ASSIGN_OR_RETURN(const auto rounded,
                       context.Scratch(static_cast<size_t>(x.size()) * sizeof(float)));
  // Steps that no sequence reaches are not looked at.
  const int64_t steps =
      spec.lengths.empty() ? 0 : *std::max_element(spec.lengths.begin(), spec.lengths.end());
  auto* inputs = reinterpret_cast<float*>(rounded->data());
  std::fill_n(inputs, x.size(), 0.0f);
  RoundDynamically(x.data<float>(), steps * spec.batch * spec.input, inputs);
  const auto optional = [&](size_t i) {
    return context.HasInput(i) ? context.input(i).data<float>() : nullptr;
  };
  return RunDirections<float, LstmCell<float, true>>(
      context, spec,
      {inputs, reinterpret_cast<const float*>(w->data()), reinterpret_cast<const float*>(r->data()),
       optional(3), optional(5), optional(6), optional(7)},
      true);
}

Status InferDynamicQuantizeLstm(InferContext& context) {
  for (const size_t i : {kWScale, kWZero, kRScale, kRZero}) {
    const Shape& given = context.shape(i);
    const Shape& weight = context.shape(i < kRScale ? 1 : 2);
    if (!given.has_rank() || !weight.has_rank() || weight.rank() != 3) continue;
    const auto differ = [](const Dim& a, const Dim& b) {
      return a.is_constant() && b.is_constant() && !(a == b);
    };
    if (given.rank() < 1 || given.rank() > 2 || differ(given[0], weight[0]) ||
        (given.rank() == 2 && differ(given[1], weight[2]))) {
      return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                        "' of shape ", Shape({weight[0]}), " or ", Shape({weight[0], weight[2]}),
                        ", given ", given);
    }
  }
  return InferRecurrent(context, QuantizedKind());
}

Status InferLstm(InferContext& context) { return InferRecurrent(context, Kind()); }
}  // namespace

void AddLstmOps(OpTable& table) {
  OpBuilder lstm = table.Add("LSTM", 22);
  lstm.Doc("long short-term memory over sequences, in one or both directions")
      .Infer(InferLstm)
      .Kernel(Lstm);
  AddRecurrentParameters(lstm, true);
  lstm.Attr("input_forget", int64_t{0}, "", kInputForget);
  OpBuilder quantized = table.Add("DynamicQuantizeLSTM", 1, "com.microsoft");
  quantized
      .Doc(
          "LSTM with 8-bit weights, stored transposed, whose inputs and states are rounded to 8 "
          "bits")
      .Infer(InferDynamicQuantizeLstm)
      .Kernel(DynamicQuantizeLstm);
  AddRecurrentParameters(quantized, true, true);
  quantized.Input("w_scale", "T")
      .Input("w_zero_point", "TW")
      .Input("r_scale", "T")
      .Input("r_zero_point", "TW")
      .Types("TW", TypeSet{DataType::kInt8, DataType::kUInt8})
      .Attr("input_forget", int64_t{0}, "", kInputForget);
}

}  // namespace asc
