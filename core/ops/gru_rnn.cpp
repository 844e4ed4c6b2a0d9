// GRU and RNN. Equations: the ONNX definitions of GRU 22 (gates in the order update, reset, hidden)
// and RNN 22.
#include "core/ops/families.h"
#include "core/ops/recurrent.h"

namespace asc {
namespace {
const RecurrentKind& GruKind() {
  static const RecurrentKind kind{3, {"Sigmoid", "Tanh"}};
  return kind;
}
const RecurrentKind& RnnKind() {
  static const RecurrentKind kind{1, {"Tanh"}};
  return kind;
}

template <typename A>
class GruCell {
 public:
  static Result<GruCell> Make(KernelContext& context, const RecurrentSpec& spec,
                              const RecurrentWeights<A>& weights) {
    GruCell cell(spec, weights);
    cell.linear_before_reset_ = context.attributes().Int("linear_before_reset", 0) != 0;
    // Recurrent products [batch, 3 * hidden], gates [batch, 3 * hidden], reset state and its
    // product [batch, hidden] each.
    ASC_ASSIGN_OR_RETURN(
        cell.buffer_,
        context.Scratch(static_cast<size_t>(spec.batch * 8 * spec.hidden) * sizeof(A)));
    return cell;
  }

  void Step(const std::vector<const A*>& projected, A* h, A*) {
    const int64_t size = spec_.hidden, rows = 3 * size, batch = spec_.batch;
    A* recurrent = reinterpret_cast<A*>(buffer_->data());
    A* gates = recurrent + batch * rows;
    A* reset_h = gates + batch * rows;
    A* reset_product = reset_h + batch * size;
    const auto bias = [&](int64_t i) {
      return w_.hidden_bias == nullptr ? A(0) : w_.hidden_bias[i];
    };
    MultiplyTransposed(batch, rows, size, h, w_.r, recurrent);
    std::fill_n(reset_h, batch * size, A(0));
    for (int64_t b = 0; b < batch; ++b) {
      const A* x = projected[static_cast<size_t>(b)];
      if (x == nullptr) continue;
      A* g = gates + b * rows;
      for (int64_t i = 0; i < 2 * size; ++i) g[i] = x[i] + recurrent[b * rows + i] + bias(i);
      w_.Activate(0, g, 2 * size);
      for (int64_t i = 0; i < size; ++i) reset_h[b * size + i] = g[size + i] * h[b * size + i];
    }
    if (!linear_before_reset_)
      MultiplyTransposed(batch, size, size, reset_h, w_.r + 2 * size * size, reset_product);
    for (int64_t b = 0; b < batch; ++b) {
      const A* x = projected[static_cast<size_t>(b)];
      if (x == nullptr) continue;
      A* g = gates + b * rows;
      A* candidate = g + 2 * size;
      for (int64_t i = 0; i < size; ++i) {
        const A linear = recurrent[b * rows + 2 * size + i] + bias(2 * size + i);
        candidate[i] = x[2 * size + i] + (linear_before_reset_
                                              ? g[size + i] * linear
                                              : reset_product[b * size + i] + bias(2 * size + i));
      }
      w_.Activate(1, candidate, size);
      for (int64_t i = 0; i < size; ++i)
        h[b * size + i] = (A(1) - g[i]) * candidate[i] + g[i] * h[b * size + i];
    }
  }

 private:
  GruCell(const RecurrentSpec& spec, const RecurrentWeights<A>& weights)
      : spec_(spec), w_(weights) {}

  const RecurrentSpec& spec_;
  RecurrentWeights<A> w_;
  bool linear_before_reset_ = false;
  std::shared_ptr<Buffer> buffer_;
};

template <typename A>
class RnnCell {
 public:
  static Result<RnnCell> Make(KernelContext& context, const RecurrentSpec& spec,
                              const RecurrentWeights<A>& weights) {
    RnnCell cell(spec, weights);
    ASC_ASSIGN_OR_RETURN(
        cell.buffer_, context.Scratch(static_cast<size_t>(spec.batch * spec.hidden) * sizeof(A)));
    return cell;
  }

  void Step(const std::vector<const A*>& projected, A* h, A*) {
    const int64_t size = spec_.hidden;
    A* recurrent = reinterpret_cast<A*>(buffer_->data());
    MultiplyTransposed(spec_.batch, size, size, h, w_.r, recurrent);
    for (int64_t b = 0; b < spec_.batch; ++b) {
      const A* x = projected[static_cast<size_t>(b)];
      if (x == nullptr) continue;
      A* state = h + b * size;
      for (int64_t i = 0; i < size; ++i) {
        state[i] =
            x[i] + recurrent[b * size + i] + (w_.hidden_bias == nullptr ? A(0) : w_.hidden_bias[i]);
      }
      w_.Activate(0, state, size);
    }
  }

 private:
  RnnCell(const RecurrentSpec& spec, const RecurrentWeights<A>& weights)
      : spec_(spec), w_(weights) {}

  const RecurrentSpec& spec_;
  RecurrentWeights<A> w_;
  std::shared_ptr<Buffer> buffer_;
};

template <template <typename> class Cell>
Status Run(KernelContext& context, const RecurrentKind& kind) {
  ASC_ASSIGN_OR_RETURN(const RecurrentSpec spec, ReadRecurrent(context, kind));
  if (context.input(0).dtype() == DataType::kFloat64)
    return RunRecurrent<double, Cell<double>>(context, spec, false);
  return RunRecurrent<float, Cell<float>>(context, spec, false);
}

Status Gru(KernelContext& context) { return Run<GruCell>(context, GruKind()); }
Status Rnn(KernelContext& context) { return Run<RnnCell>(context, RnnKind()); }
Status InferGru(InferContext& context) { return InferRecurrent(context, GruKind()); }
Status InferRnn(InferContext& context) { return InferRecurrent(context, RnnKind()); }
}  // namespace

void AddGruRnnOps(OpTable& table) {
  OpBuilder gru = table.Add("GRU", 22);
  gru.Doc("gated recurrent unit over sequences, in one or both directions")
      .Infer(InferGru)
      .Kernel(Gru);
  AddRecurrentParameters(gru, false);
  gru.Attr("linear_before_reset", int64_t{0}, "",
           "1: the reset gate is applied after the recurrent product");
  OpBuilder rnn = table.Add("RNN", 22);
  rnn.Doc("simple recurrent layer over sequences, in one or both directions")
      .Infer(InferRnn)
      .Kernel(Rnn);
  AddRecurrentParameters(rnn, false);
}

}  // namespace asc
