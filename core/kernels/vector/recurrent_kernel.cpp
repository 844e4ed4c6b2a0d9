#include "core/kernels/vector/recurrent_kernel.h"

#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/recurrent.h"
#include "core/kernels/vector/unary.h"
#include "core/ops/recurrent.h"

namespace asc::simd {
namespace {
constexpr size_t kBias = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;  // inputs
}  // namespace

RecurrentSizes SizesOfRecurrent(const KernelRequest& request, int64_t hidden) {
  const AttributeMap& attributes = request.node.attributes;
  const Dims& x = request.inputs[0].dims;
  const bool batch_first = attributes.Int("layout", 0) == 1;
  return {x[batch_first ? 1 : 0],
          x[batch_first ? 0 : 1],
          x[2],
          hidden,
          request.inputs[2].dims[0],
          batch_first,
          attributes.String("direction", "forward") == "reverse"};
}

bool HasPlainRecurrentForm(const KernelRequest& request) {
  const auto present = [&](size_t i) {
    return i < request.inputs.size() && request.inputs[i].present;
  };
  const AttributeMap& attributes = request.node.attributes;
  if (present(kPeepholes) || attributes.Int("input_forget", 0) != 0 ||
      attributes.Float("clip", 0) != 0)
    return false;
  if (const auto* names = attributes.Get<std::vector<std::string>>("activations")) {
    const std::string& op = request.node.schema->name;
    const size_t functions = op == "RNN" ? 1 : op == "GRU" ? 2 : 3;
    for (size_t i = 0; i < names->size(); ++i) {
      if ((*names)[i] != (functions > 1 && i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
    }
  }
  for (const size_t i : {size_t{0}, kBias, kInitialH, kInitialC}) {
    if (present(i) && !IsPlainFloat(request.inputs[i])) return false;
  }
  return AllPlainFloat(request.outputs) && ElementCount(request.inputs[0].dims) > 0;
}

int64_t RecurrentKernel::Gates() const {
  const int64_t gates = cell_ == RecurrentCell::kLstm ? 4 : cell_ == RecurrentCell::kRnn ? 1 : 3;
  return gates * s_.hidden;
}

// Biases of the inputs and of the state, gates of all steps, h and c of all sequences, products of
// the state; then what the kernel of weights needs.
size_t RecurrentKernel::BytesOfDirection() const {
  const int64_t floats =
      2 * Gates() + s_.steps * s_.batch * Gates() + 2 * s_.batch * s_.hidden + s_.batch * Gates();
  return static_cast<size_t>(floats) * sizeof(float) + OwnBytes();
}

size_t RecurrentKernel::scratch_bytes() const {
  return static_cast<size_t>(s_.directions) * BytesOfDirection();
}

RecurrentKernel::Direction RecurrentKernel::At(KernelContext& context, int64_t d) const {
  auto* at = static_cast<std::byte*>(context.planned_scratch()) +
             static_cast<size_t>(d) * BytesOfDirection();
  Direction direction{};
  direction.number = d;
  for (const auto& [part, count] : {std::pair{&direction.bias, Gates()},
                                    {&direction.state_bias, Gates()},
                                    {&direction.sums, s_.steps * s_.batch * Gates()},
                                    {&direction.h, s_.batch * s_.hidden},
                                    {&direction.c, s_.batch * s_.hidden},
                                    {&direction.products, s_.batch * Gates()}}) {
    *part = reinterpret_cast<float*>(at);
    at += static_cast<size_t>(count) * sizeof(float);
  }
  direction.own = at;
  return direction;
}

void RecurrentKernel::LoadBias(KernelContext& context, const Direction& to) const {
  const int64_t gates = Gates();
  std::fill_n(to.bias, 2 * gates, 0.0f);
  if (!context.HasInput(kBias)) return;
  const float* bias = context.input(kBias).data<float>() + to.number * 2 * gates;
  // The bias of the state goes with it where the reset gate is applied to both.
  const int64_t joined = cell_ == RecurrentCell::kGruLinear ? 2 * s_.hidden : gates;
  for (int64_t i = 0; i < gates; ++i) to.bias[i] = bias[i] + (i < joined ? bias[gates + i] : 0);
  std::copy(bias + gates + joined, bias + 2 * gates, to.state_bias + joined);
}

Status RecurrentKernel::Run(KernelContext& context) const {
  if (context.HasInput(kLengths)) {
    for (const int32_t length : context.input(kLengths).values<int32_t>())
      ASC_RETURN_IF_ERROR(CheckSequenceLength(context.schema(), length, s_.steps));
  }
  std::vector<Direction> directions;
  for (int64_t d = 0; d < s_.directions; ++d) {
    directions.push_back(At(context, d));
    LoadBias(context, directions.back());
  }
  ASC_RETURN_IF_ERROR(Project(context, directions));
  ParallelFor(s_.directions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) RunDirection(context, directions[static_cast<size_t>(d)]);
  });
  return Ok();
}

void RecurrentKernel::RunDirection(KernelContext& context, const Direction& at) const {
  const int64_t hidden = s_.hidden, gates = Gates(), d = at.number;
  const auto bytes = static_cast<size_t>(hidden) * sizeof(float);
  const auto load = [&](size_t input, float* state) {
    std::fill_n(state, s_.batch * hidden, 0.0f);
    if (!context.HasInput(input)) return;
    for (int64_t b = 0; b < s_.batch; ++b) {
      std::memcpy(state + b * hidden, context.input(input).data<float>() + StateAt(d, b), bytes);
    }
  };
  load(kInitialH, at.h);
  if (cell_ == RecurrentCell::kLstm) load(kInitialC, at.c);
  const bool reverse = d == 1 || s_.first_is_reverse;
  const int32_t* lengths =
      context.HasInput(kLengths) ? context.input(kLengths).data<int32_t>() : nullptr;
  for (int64_t i = 0; i < s_.steps; ++i) {
    const int64_t t = reverse ? s_.steps - 1 - i : i;
    // The sequences of one step: `stride` apart.
    float* sums = at.sums + (s_.batch_first ? t : t * s_.batch) * gates;
    const int64_t stride = s_.batch_first ? s_.steps * gates : gates;
    // Beyond a sequence's end its state stays; backwards, it starts from there.
    const auto runs = [&](int64_t b) { return lengths == nullptr || t < lengths[b]; };
    Step(context, at, sums, stride, runs);
    for (int64_t b = 0; context.HasOutput(0) && b < s_.batch; ++b) {
      const int64_t to = s_.batch_first ? (b * s_.steps + t) * s_.directions + d
                                        : (t * s_.directions + d) * s_.batch + b;
      float* y = context.output(0).data<float>() + to * hidden;
      if (runs(b)) {
        std::memcpy(y, at.h + b * hidden, bytes);
      } else {
        std::fill_n(y, hidden, 0.0f);
      }
    }
  }
  for (int64_t b = 0; b < s_.batch; ++b) {
    if (context.HasOutput(1))
      std::memcpy(context.output(1).data<float>() + StateAt(d, b), at.h + b * hidden, bytes);
    if (context.HasOutput(2))
      std::memcpy(context.output(2).data<float>() + StateAt(d, b), at.c + b * hidden, bytes);
  }
}

// The states of the sequences that go on, from `sums`, which have their inputs' share.
template <typename Runs>
void RecurrentKernel::Step(KernelContext& context, const Direction& at, float* sums, int64_t stride,
                           const Runs& runs) const {
  const int64_t hidden = s_.hidden, gates = Gates();
  if (cell_ == RecurrentCell::kGruLinear) {
    Multiply(context, at, {at.h, at.state_bias, 0, at.products, gates, 0, gates});
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (runs(b))
        UpdateGruCell(sums + b * stride, at.products + b * gates, at.h + b * hidden, hidden);
    }
    return;
  }
  if (cell_ == RecurrentCell::kGru) {
    Multiply(context, at, {at.h, sums, stride, sums, stride, 0, 2 * hidden});
    for (int64_t b = 0; b < s_.batch; ++b)
      ResetGruState(sums + b * stride, at.h + b * hidden, at.products + b * hidden, hidden);
    float* fresh = sums + 2 * hidden;
    Multiply(context, at, {at.products, fresh, stride, fresh, stride, 2 * hidden, hidden});
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (runs(b)) FinishGruCell(sums + b * stride, at.h + b * hidden, hidden);
    }
    return;
  }
  Multiply(context, at, {at.h, sums, stride, sums, stride, 0, gates});
  for (int64_t b = 0; b < s_.batch; ++b) {
    if (!runs(b)) continue;
    if (cell_ == RecurrentCell::kLstm) {
      UpdateLstmCell(sums + b * stride, at.c + b * hidden, at.h + b * hidden, hidden);
    } else {
      ApplyUnary({UnaryOp::kTanh}, sums + b * stride, at.h + b * hidden, hidden);
    }
  }
}

}  // namespace asc::simd
