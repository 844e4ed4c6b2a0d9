// LSTM, GRU and RNN of float32 with constant weights and the default activations.
#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/lazy_weight.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/recurrent.h"
#include "core/kernels/vector/unary.h"
#include "core/ops/recurrent.h"

namespace asc {
namespace {
constexpr size_t kBias = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;  // inputs
constexpr int64_t kRowTile = 4;                // rows that the product of all steps takes at a time
constexpr int64_t kProjectionGrain = 1 << 18;  // multiplications that are worth a thread

enum class Cell {
  kLstm,
  kGru,        // the reset gate is applied to the state, before its product
  kGruLinear,  // to the product
  kRnn,
};

struct Sizes {
  int64_t steps, batch, input, hidden, directions;
  bool batch_first, first_is_reverse;
};

// [directions, rows, columns] with rows and columns swapped, in groups of rows: each group's
// transpose is a matrix of its own.
Result<std::shared_ptr<Buffer>> Transposed(const Tensor& weight, const std::vector<int64_t>& groups,
                                           const std::shared_ptr<Allocator>& allocator) {
  ASC_ASSIGN_OR_RETURN(auto buffer,
                       Buffer::Allocate(allocator, MemoryUse::kPackedWeight, weight.bytes()));
  auto* to = reinterpret_cast<float*>(buffer->data());
  const int64_t columns = weight.dim(2);
  // Of a lazy weight one group is in memory plain at a time.
  std::shared_ptr<Buffer> slice;
  if (weight.is_lazy()) {
    const int64_t most = *std::max_element(groups.begin(), groups.end());
    ASC_ASSIGN_OR_RETURN(
        slice, AllocateSlice(allocator, static_cast<size_t>(most * columns) * sizeof(float)));
  }
  size_t offset = 0;
  for (int64_t d = 0; d < weight.dim(0); ++d) {
    for (const int64_t rows : groups) {
      const size_t bytes = static_cast<size_t>(rows * columns) * sizeof(float);
      const float* from = nullptr;
      if (slice) {
        CopyOnTeam(weight, offset, bytes, slice->data());
        from = reinterpret_cast<const float*>(slice->data());
      } else {
        from = weight.data<float>() + offset / sizeof(float);
      }
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
      }
      offset += bytes;
      to += rows * columns;
    }
  }
  return buffer;
}

class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(Cell cell, const Sizes& sizes, std::shared_ptr<Buffer> w,
                  std::shared_ptr<Buffer> r)
      : cell_(cell), s_(sizes), w_(std::move(w)), r_(std::move(r)) {}

  Status Run(KernelContext& context) const override {
    if (context.HasInput(kLengths)) {
      for (const int32_t length : context.input(kLengths).values<int32_t>())
        ASC_RETURN_IF_ERROR(CheckSequenceLength(context.schema(), length, s_.steps));
    }
    ProjectInputs(context);
    ParallelFor(s_.directions, 1, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d) RunDirection(context, d);
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(s_.directions * FloatsOfDirection()) * sizeof(float);
  }
  bool packs(size_t i) const override { return i == 1 || i == 2; }  // both weights
  std::string_view name() const override {
    if (cell_ == Cell::kRnn) return "vector:rnn";
    return cell_ == Cell::kLstm ? "vector:lstm" : "vector:gru";
  }

 private:
  int64_t Gates() const {
    const int64_t gates = cell_ == Cell::kLstm ? 4 : cell_ == Cell::kRnn ? 1 : 3;
    return gates * s_.hidden;
  }
  // Biases of the inputs and of the state, gates of all steps, h and c of all sequences, products
  // of the state.
  int64_t FloatsOfDirection() const {
    return 2 * Gates() + s_.steps * s_.batch * Gates() + 2 * s_.batch * s_.hidden +
           s_.batch * Gates();
  }
  int64_t StateAt(int64_t d, int64_t b) const {
    return (s_.batch_first ? b * s_.directions + d : d * s_.batch + b) * s_.hidden;
  }

  struct Direction {
    float *bias, *state_bias;  // what is added once for all steps, and to each product of the state
    float *sums, *h, *c, *products;
  };
  Direction At(KernelContext& context, int64_t d) const {
    float* at = static_cast<float*>(context.planned_scratch()) + d * FloatsOfDirection();
    Direction direction{};
    for (const auto& [part, count] : {std::pair{&direction.bias, Gates()},
                                      {&direction.state_bias, Gates()},
                                      {&direction.sums, s_.steps * s_.batch * Gates()},
                                      {&direction.h, s_.batch * s_.hidden},
                                      {&direction.c, s_.batch * s_.hidden},
                                      {&direction.products, s_.batch * Gates()}}) {
      *part = at;
      at += count;
    }
    return direction;
  }

  // x W + bias of all steps, on the team.
  void ProjectInputs(KernelContext& context) const {
    const int64_t gates = Gates(), rows = s_.steps * s_.batch;
    for (int64_t d = 0; d < s_.directions; ++d) {
      const Direction to = At(context, d);
      std::fill_n(to.bias, 2 * gates, 0.0f);
      if (!context.HasInput(kBias)) continue;
      const float* bias = context.input(kBias).data<float>() + d * 2 * gates;
      // The bias of the state goes with it where the reset gate is applied to both.
      const int64_t joined = cell_ == Cell::kGruLinear ? 2 * s_.hidden : gates;
      for (int64_t i = 0; i < gates; ++i) to.bias[i] = bias[i] + (i < joined ? bias[gates + i] : 0);
      std::copy(bias + gates + joined, bias + 2 * gates, to.state_bias + joined);
    }
    const int64_t tiles = (rows + kRowTile - 1) / kRowTile;
    const int64_t grain = std::max<int64_t>(1, kProjectionGrain / (kRowTile * gates * s_.input));
    ParallelFor(s_.directions * tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin / tiles; d * tiles < end; ++d) {
        const int64_t first = std::max(begin - d * tiles, int64_t{0}) * kRowTile,
                      last = std::min(std::min(end - d * tiles, tiles) * kRowTile, rows);
        const Direction to = At(context, d);
        const float* w = reinterpret_cast<const float*>(w_->data()) + d * gates * s_.input;
        simd::MultiplySmall({context.input(0).data<float>() + first * s_.input, s_.input, w,
                             to.bias, 0, to.sums + first * gates, gates, last - first, gates,
                             s_.input});
      }
    });
  }

  void RunDirection(KernelContext& context, int64_t d) const {
    const int64_t hidden = s_.hidden, gates = Gates();
    const Direction at = At(context, d);
    const auto bytes = static_cast<size_t>(hidden) * sizeof(float);
    const auto load = [&](size_t input, float* state) {
      std::fill_n(state, s_.batch * hidden, 0.0f);
      if (!context.HasInput(input)) return;
      for (int64_t b = 0; b < s_.batch; ++b) {
        std::memcpy(state + b * hidden, context.input(input).data<float>() + StateAt(d, b), bytes);
      }
    };
    load(kInitialH, at.h);
    if (cell_ == Cell::kLstm) load(kInitialC, at.c);
    const float* r = reinterpret_cast<const float*>(r_->data()) + d * gates * hidden;
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
      Step(at, r, sums, stride, runs);
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
  void Step(const Direction& at, const float* r, float* sums, int64_t stride,
            const Runs& runs) const {
    const int64_t hidden = s_.hidden, gates = Gates();
    if (cell_ == Cell::kRnn) {
      simd::MultiplySmall({at.h, hidden, r, sums, stride, sums, stride, s_.batch, gates, hidden});
      for (int64_t b = 0; b < s_.batch; ++b) {
        if (runs(b))
          simd::ApplyUnary({simd::UnaryOp::kTanh}, sums + b * stride, at.h + b * hidden, hidden);
      }
      return;
    }
    if (cell_ == Cell::kLstm) {
      simd::MultiplySmall({at.h, hidden, r, sums, stride, sums, stride, s_.batch, gates, hidden});
      for (int64_t b = 0; b < s_.batch; ++b) {
        if (runs(b))
          simd::UpdateLstmCell(sums + b * stride, at.c + b * hidden, at.h + b * hidden, hidden);
      }
      return;
    }
    if (cell_ == Cell::kGruLinear) {
      simd::MultiplySmall(
          {at.h, hidden, r, at.state_bias, 0, at.products, gates, s_.batch, gates, hidden});
      for (int64_t b = 0; b < s_.batch; ++b) {
        if (runs(b))
          simd::UpdateGruCell(sums + b * stride, at.products + b * gates, at.h + b * hidden,
                              hidden);
      }
      return;
    }
    simd::MultiplySmall(
        {at.h, hidden, r, sums, stride, sums, stride, s_.batch, 2 * hidden, hidden});
    for (int64_t b = 0; b < s_.batch; ++b)
      simd::ResetGruState(sums + b * stride, at.h + b * hidden, at.products + b * hidden, hidden);
    simd::MultiplySmall({at.products, hidden, r + 2 * hidden * hidden, sums + 2 * hidden, stride,
                         sums + 2 * hidden, stride, s_.batch, hidden, hidden});
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (runs(b)) simd::FinishGruCell(sums + b * stride, at.h + b * hidden, hidden);
    }
  }

  Cell cell_;
  Sizes s_;
  std::shared_ptr<Buffer> w_, r_;  // [directions, input or hidden, gates]
};

Sizes SizesOf(const KernelRequest& request) {
  const AttributeMap& attributes = request.node.attributes;
  const Dims &x = request.inputs[0].dims, &r = request.inputs[2].dims;
  const bool batch_first = attributes.Int("layout", 0) == 1;
  return {x[batch_first ? 1 : 0],
          x[batch_first ? 0 : 1],
          x[2],
          r[2],
          r[0],
          batch_first,
          attributes.String("direction", "forward") == "reverse"};
}

bool Supports(const KernelRequest& request) {
  const auto present = [&](size_t i) {
    return i < request.inputs.size() && request.inputs[i].present;
  };
  const AttributeMap& attributes = request.node.attributes;
  if (present(kPeepholes) || attributes.Int("input_forget", 0) != 0 ||
      attributes.Float("clip", 0) != 0)
    return false;
  if (const auto* names = attributes.Get<std::vector<std::string>>("activations")) {
    const bool gated = !request.node.Is("RNN");
    const size_t functions = request.node.Is("LSTM") ? 3 : 2;
    for (size_t i = 0; i < names->size(); ++i) {
      if ((*names)[i] != (gated && i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
    }
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (present(i) && i != kLengths && !simd::IsPlainFloat(request.inputs[i])) return false;
  }
  if (!simd::AllPlainFloat(request.outputs)) return false;
  return request.inputs[1].constant != nullptr && request.inputs[2].constant != nullptr &&
         ElementCount(request.inputs[0].dims) > 0;
}

Result<std::unique_ptr<Kernel>> MakeRecurrent(const KernelRequest& request) {
  Cell cell = request.node.Is("RNN") ? Cell::kRnn : Cell::kLstm;
  if (request.node.Is("GRU")) {
    cell =
        request.node.attributes.Int("linear_before_reset", 0) != 0 ? Cell::kGruLinear : Cell::kGru;
  }
  std::shared_ptr<Buffer> packed[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& weight = *request.inputs[i + 1].constant;
    std::vector<int64_t> groups = {weight.dim(1)};
    if (cell == Cell::kGru && i == 1) groups = {2 * weight.dim(2), weight.dim(2)};
    ASC_ASSIGN_OR_RETURN(packed[i], request.constants.GetOrMake(
                                        weight, Cat("vector:transposed", weight.dims(), groups),
                                        weight.bytes(), [&](const auto& allocator) {
                                          return Transposed(weight, groups, allocator);
                                        }));
  }
  return simd::Make<RecurrentKernel>(cell, SizesOf(request), std::move(packed[0]),
                                     std::move(packed[1]));
}
}  // namespace

void AddVectorRecurrent(KernelTable& table) {
  table.push_back({"GRU", "", "vector.gru", Supports, nullptr, MakeRecurrent});
  table.push_back({"LSTM", "", "vector.lstm", Supports, nullptr, MakeRecurrent});
  table.push_back({"RNN", "", "vector.rnn", Supports, nullptr, MakeRecurrent});
}

}  // namespace asc
