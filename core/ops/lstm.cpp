// LSTM. Equations: the ONNX definition of LSTM 22; gates stand in the order input, output, forget,
// cell.
#include "core/ops/families.h"
#include "core/ops/recurrent.h"

namespace asc {
namespace {
const RecurrentKind& Kind() {
  static const RecurrentKind kind{4, {"Sigmoid", "Tanh", "Tanh"}};
  return kind;
}

template <typename A>
class LstmCell {
 public:
  static Result<LstmCell> Make(KernelContext& context, const RecurrentSpec& spec,
                               const RecurrentWeights<A>& weights) {
    LstmCell cell(spec, weights);
    cell.coupled_ = context.attributes().Int("input_forget", 0) != 0;
    ASC_ASSIGN_OR_RETURN(
        cell.buffer_,
        context.Scratch(static_cast<size_t>((spec.batch + 1) * 4 * spec.hidden) * sizeof(A)));
    return cell;
  }

  void Step(const std::vector<const A*>& projected, A* h, A* c) {
    const int64_t size = spec_.hidden, rows = 4 * size;
    A* recurrent = reinterpret_cast<A*>(buffer_->data());
    A* gates = recurrent + spec_.batch * rows;
    MultiplyTransposed(spec_.batch, rows, size, h, w_.r, recurrent);
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

Status InferLstm(InferContext& context) { return InferRecurrent(context, Kind()); }
}  // namespace

void AddLstmOps(OpTable& table) {
  OpBuilder lstm = table.Add("LSTM", 22);
  lstm.Doc("long short-term memory over sequences, in one or both directions")
      .Infer(InferLstm)
      .Kernel(Lstm);
  AddRecurrentParameters(lstm, true);
  lstm.Attr("input_forget", int64_t{0}, "", "1: the forget gate is 1 - the input gate");
}

}  // namespace asc
