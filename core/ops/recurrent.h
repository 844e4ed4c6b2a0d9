// What LSTM, GRU and RNN share: attributes, shapes, layouts, directions and the loop over time.
#ifndef ASC_CORE_OPS_RECURRENT_H_
#define ASC_CORE_OPS_RECURRENT_H_

#include <span>
#include <vector>

#include "core/ops/activation.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/matmul.h"
#include "core/ops/op_builder.h"

namespace asc {

// The operators differ in the number of gates (blocks of rows in W and R) and of activation
// functions.
struct RecurrentKind {
  int64_t gates;
  std::vector<std::string> default_activations;  // of one direction
  bool columns = false;  // the gates are blocks of columns: W and R are stored transposed
};

// Output types and the checks of all inputs; `gates` as above, states: outputs after Y (1, or 2
// with a cell state).
Status InferRecurrent(InferContext& context, const RecurrentKind& kind);

// Adds the inputs, outputs and attributes that all have; W and R are of the type variable TW, and
// there is no layout, where `quantized`.
void AddRecurrentParameters(OpBuilder& builder, bool cell_state, bool quantized = false);

struct RecurrentSpec {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false;
  bool first_is_reverse = false;
  float clip = 0;                       // 0: none
  std::vector<Activation> activations;  // of all directions in turn
  std::vector<int64_t> lengths;         // of each sequence of the batch

  bool Reverse(int64_t direction) const { return direction == 1 || first_is_reverse; }
  // Element offsets of the vectors of `hidden` elements: in Y, and in states (initial_h, Y_h...).
  int64_t OutputAt(int64_t step, int64_t direction, int64_t sequence) const {
    return (batch_first ? (sequence * steps + step) * directions + direction
                        : (step * directions + direction) * batch + sequence) *
           hidden;
  }
  int64_t StateAt(int64_t direction, int64_t sequence) const {
    return (batch_first ? sequence * directions + direction : direction * batch + sequence) *
           hidden;
  }
};

// E5007 for the length of a sequence that does not fit.
Status CheckSequenceLength(const OpSchema& schema, int64_t length, int64_t steps);
Result<RecurrentSpec> ReadRecurrent(const KernelContext& context, const RecurrentKind& kind);

// One direction's parameters, as A.
template <typename A>
struct RecurrentWeights {
  const A* w;           // [gates * hidden, input]
  const A* r;           // [gates * hidden, hidden]
  const A* input_bias;  // [gates * hidden] each; null: zeros
  const A* hidden_bias;
  const A* peephole;  // LSTM: [3 * hidden]; null: none
  const Activation* activations;
  A clip;  // 0: none

  // Clips, then applies activation number `i` to `count` elements.
  void Activate(int i, A* x, int64_t count) const {
    if (clip != A(0)) {
      for (int64_t k = 0; k < count; ++k) x[k] = math::Clip(x[k], -clip, clip);
    }
    ApplyActivation(activations[i], x, count);
  }
};

// y[m, n] = x[m, k] times the transpose of w[n, k].
template <typename A>
void MultiplyTransposed(int64_t m, int64_t n, int64_t k, const A* x, const A* w, A* y) {
  MultiplyStacks<A>(Dims{m, k}, Dims{n, k}, false, true, x, w, y);
}

// What is computed with, as A; null where an input is absent.
template <typename A>
struct RecurrentOperands {
  const A *x, *w, *r, *bias, *initial_h, *initial_c, *peephole;
};

// Runs all directions. `Cell` is made for each as Cell(context, spec, weights) and has
//   Result<Cell> Make(KernelContext&, const RecurrentSpec&, const RecurrentWeights<A>&);
//   void Step(const std::vector<const A*>& projected, A* h, A* c);
// where projected[b] is x * W^T + input bias of sequence b at this step (null where it has ended)
// and h, c [batch, hidden] are the states, which it updates for the sequences that go on.
template <typename A, typename Cell>
Status RunDirections(KernelContext& context, const RecurrentSpec& spec,
                     const RecurrentOperands<A>& operands, bool cell_state) {
  ComputeOutput<A> outputs[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!context.HasOutput(i)) continue;
    ASC_ASSIGN_OR_RETURN(outputs[i], ComputeOutput<A>::Make(context, context.output(i)));
  }
  const int64_t rows = spec.gates * spec.hidden, states = spec.batch * spec.hidden;
  if (context.HasOutput(0)) std::fill_n(outputs[0].data(), context.output(0).size(), A(0));
  ASC_ASSIGN_OR_RETURN(
      const auto projected_buffer,
      context.Scratch(static_cast<size_t>(spec.steps * spec.batch * rows) * sizeof(A)));
  ASC_ASSIGN_OR_RETURN(const auto state_buffer,
                       context.Scratch(static_cast<size_t>(2 * states) * sizeof(A)));
  A* projected = reinterpret_cast<A*>(projected_buffer->data());
  A* h = reinterpret_cast<A*>(state_buffer->data());
  A* c = h + states;
  const auto per_direction = spec.activations.size() / static_cast<size_t>(spec.directions);
  for (int64_t d = 0; d < spec.directions; ++d) {
    RecurrentWeights<A> weights{};
    weights.w = operands.w + d * rows * spec.input;
    weights.r = operands.r + d * rows * spec.hidden;
    weights.input_bias = operands.bias == nullptr ? nullptr : operands.bias + d * 2 * rows;
    weights.hidden_bias = operands.bias == nullptr ? nullptr : weights.input_bias + rows;
    weights.peephole =
        operands.peephole == nullptr ? nullptr : operands.peephole + d * 3 * spec.hidden;
    weights.activations = spec.activations.data() + static_cast<size_t>(d) * per_direction;
    weights.clip = static_cast<A>(spec.clip);
    MultiplyTransposed(spec.steps * spec.batch, rows, spec.input, operands.x, weights.w, projected);
    if (weights.input_bias != nullptr) {
      for (int64_t i = 0; i < spec.steps * spec.batch * rows; ++i)
        projected[i] += weights.input_bias[i % rows];
    }
    for (int64_t b = 0; b < spec.batch; ++b) {
      const auto load = [&](const A* from, A* to) {
        if (from == nullptr) {
          std::fill_n(to, spec.hidden, A(0));
        } else {
          std::copy_n(from + spec.StateAt(d, b), spec.hidden, to);
        }
      };
      load(operands.initial_h, h + b * spec.hidden);
      if (cell_state) load(operands.initial_c, c + b * spec.hidden);
    }
    ASC_ASSIGN_OR_RETURN(Cell cell, Cell::Make(context, spec, weights));
    std::vector<const A*> inputs(static_cast<size_t>(spec.batch));
    for (int64_t s = 0; s < spec.steps; ++s) {
      const auto time = [&](int64_t b) {
        return spec.Reverse(d) ? spec.lengths[static_cast<size_t>(b)] - 1 - s : s;
      };
      for (int64_t b = 0; b < spec.batch; ++b) {
        const bool runs = s < spec.lengths[static_cast<size_t>(b)];
        const int64_t at = spec.batch_first ? b * spec.steps + time(b) : time(b) * spec.batch + b;
        inputs[static_cast<size_t>(b)] = runs ? projected + at * rows : nullptr;
      }
      cell.Step(inputs, h, c);
      for (int64_t b = 0; context.HasOutput(0) && b < spec.batch; ++b) {
        if (inputs[static_cast<size_t>(b)] == nullptr) continue;
        std::copy_n(h + b * spec.hidden, spec.hidden,
                    outputs[0].data() + spec.OutputAt(time(b), d, b));
      }
    }
    for (int64_t b = 0; b < spec.batch; ++b) {
      if (context.HasOutput(1))
        std::copy_n(h + b * spec.hidden, spec.hidden, outputs[1].data() + spec.StateAt(d, b));
      if (context.HasOutput(2))
        std::copy_n(c + b * spec.hidden, spec.hidden, outputs[2].data() + spec.StateAt(d, b));
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    if (context.HasOutput(i)) outputs[i].Finish();
  }
  return Ok();
}

// The same for a node whose inputs are floats of one type.
template <typename A, typename Cell>
Status RunRecurrent(KernelContext& context, const RecurrentSpec& spec, bool cell_state) {
  ComputeInput<A> inputs[8];
  for (const size_t i : {0, 1, 2, 3, 5, 6, 7}) {
    ASC_ASSIGN_OR_RETURN(inputs[i], ComputeInput<A>::MakeOptional(context, i));
  }
  return RunDirections<A, Cell>(
      context, spec,
      {inputs[0].data(), inputs[1].data(), inputs[2].data(), inputs[3].data(), inputs[5].data(),
       inputs[6].data(), inputs[7].data()},
      cell_state);
}

CostEstimate RecurrentCost(const std::vector<ValueType>& inputs,
                           const std::vector<ValueType>& outputs, const AttributeMap&);

}  // namespace asc

#endif  // ASC_CORE_OPS_RECURRENT_H_
