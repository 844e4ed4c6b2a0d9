// LSTM of float32 with constant weights and the default activations.
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/lstm.h"
#include "core/ops/recurrent.h"

namespace asc {
namespace {
constexpr size_t kLengths = 4;  // the input

struct Sizes {
  int64_t steps, batch, input, hidden, directions;
  bool batch_first, first_is_reverse;
};

// [directions, rows, columns] with rows and columns swapped.
Result<std::shared_ptr<Buffer>> Transposed(const Tensor& weight,
                                           const std::shared_ptr<Allocator>& allocator) {
  ASC_ASSIGN_OR_RETURN(auto buffer,
                       Buffer::Allocate(allocator, MemoryUse::kPackedWeight, weight.bytes()));
  const float* from = weight.data<float>();
  auto* to = reinterpret_cast<float*>(buffer->data());
  const int64_t rows = weight.dim(1), columns = weight.dim(2);
  for (int64_t d = 0; d < weight.dim(0); ++d, from += rows * columns, to += rows * columns) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
    }
  }
  return buffer;
}

class LstmKernel : public Kernel {
 public:
  LstmKernel(const Sizes& sizes, std::shared_ptr<Buffer> w, std::shared_ptr<Buffer> r)
      : s_(sizes), w_(std::move(w)), r_(std::move(r)) {}

  Status Run(KernelContext& context) const override {
    if (context.HasInput(kLengths)) {
      for (const int32_t length : context.input(kLengths).values<int32_t>())
        ASC_RETURN_IF_ERROR(CheckSequenceLength(context.schema(), length, s_.steps));
    }
    ParallelFor(s_.directions, 1, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d) RunDirection(context, d);
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(s_.directions * FloatsOfDirection()) * sizeof(float);
  }
  std::string_view name() const override { return "vector:lstm"; }

 private:
  int64_t Gates() const { return 4 * s_.hidden; }
  // Biases, gates of all steps, h and c of all sequences.
  int64_t FloatsOfDirection() const {
    return Gates() + s_.steps * s_.batch * Gates() + 2 * s_.batch * s_.hidden;
  }
  int64_t StateAt(int64_t d, int64_t b) const {
    return (s_.batch_first ? b * s_.directions + d : d * s_.batch + b) * s_.hidden;
  }

  void RunDirection(KernelContext& context, int64_t d) const {
    const int64_t hidden = s_.hidden, gates = Gates();
    float* bias = static_cast<float*>(context.planned_scratch()) + d * FloatsOfDirection();
    float* sums = bias + gates;
    float* h = sums + s_.steps * s_.batch * gates;
    float* c = h + s_.batch * hidden;
    const auto bytes = static_cast<size_t>(hidden) * sizeof(float);
    std::fill_n(bias, gates, 0.0f);
    if (context.HasInput(3)) {
      const float* both = context.input(3).data<float>() + d * 2 * gates;
      for (int64_t i = 0; i < gates; ++i) bias[i] = both[i] + both[gates + i];
    }
    const auto load = [&](size_t input, float* state) {
      std::fill_n(state, s_.batch * hidden, 0.0f);
      if (!context.HasInput(input)) return;
      for (int64_t b = 0; b < s_.batch; ++b) {
        std::memcpy(state + b * hidden, context.input(input).data<float>() + StateAt(d, b), bytes);
      }
    };
    load(5, h);
    load(6, c);
    const float* w = reinterpret_cast<const float*>(w_->data()) + d * gates * s_.input;
    const float* r = reinterpret_cast<const float*>(r_->data()) + d * gates * hidden;
    simd::MultiplySmall({context.input(0).data<float>(), s_.input, w, bias, 0, sums, gates,
                         s_.steps * s_.batch, gates, s_.input});
    const bool reverse = d == 1 || s_.first_is_reverse;
    const int32_t* lengths =
        context.HasInput(kLengths) ? context.input(kLengths).data<int32_t>() : nullptr;
    for (int64_t i = 0; i < s_.steps; ++i) {
      const int64_t t = reverse ? s_.steps - 1 - i : i;
      // The sequences of one step: `stride` apart.
      float* first = sums + (s_.batch_first ? t : t * s_.batch) * gates;
      const int64_t stride = s_.batch_first ? s_.steps * gates : gates;
      simd::MultiplySmall({h, hidden, r, first, stride, first, stride, s_.batch, gates, hidden});
      for (int64_t b = 0; b < s_.batch; ++b) {
        const int64_t at = s_.batch_first ? (b * s_.steps + t) * s_.directions + d
                                          : (t * s_.directions + d) * s_.batch + b;
        float* y = context.HasOutput(0) ? context.output(0).data<float>() + at * hidden : nullptr;
        // Beyond a sequence's end its state stays; backwards, it starts from there.
        if (lengths != nullptr && t >= lengths[b]) {
          if (y != nullptr) std::fill_n(y, hidden, 0.0f);
          continue;
        }
        simd::UpdateLstmCell(first + b * stride, c + b * hidden, h + b * hidden, hidden);
        if (y != nullptr) std::memcpy(y, h + b * hidden, bytes);
      }
    }
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (context.HasOutput(1))
        std::memcpy(context.output(1).data<float>() + StateAt(d, b), h + b * hidden, bytes);
      if (context.HasOutput(2))
        std::memcpy(context.output(2).data<float>() + StateAt(d, b), c + b * hidden, bytes);
    }
  }

  Sizes s_;
  std::shared_ptr<Buffer> w_, r_;  // [directions, input or hidden, 4 hidden]
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
  if (present(7) || attributes.Int("input_forget", 0) != 0 ||
      attributes.Float("clip", 0) != 0)
    return false;
  if (const auto* names = attributes.Get<std::vector<std::string>>("activations")) {
    for (size_t i = 0; i < names->size(); ++i) {
      if ((*names)[i] != (i % 3 == 0 ? "Sigmoid" : "Tanh")) return false;
    }
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (present(i) && i != kLengths && !simd::IsPlainFloat(request.inputs[i])) return false;
  }
  if (!simd::AllPlainFloat(request.outputs)) return false;
  return request.inputs[1].constant != nullptr && request.inputs[2].constant != nullptr &&
         ElementCount(request.inputs[0].dims) > 0;
}

Result<std::unique_ptr<Kernel>> MakeLstm(const KernelRequest& request) {
  std::shared_ptr<Buffer> packed[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& weight = *request.inputs[i + 1].constant;
    ASC_ASSIGN_OR_RETURN(
        packed[i],
        request.constants.GetOrMake(weight, Cat("vector:transposed", weight.dims()), weight.bytes(),
                                    [&](const auto& allocator) { return Transposed(weight, allocator); }));
  }
  return simd::Make<LstmKernel>(SizesOf(request), std::move(packed[0]), std::move(packed[1]));
}
}  // namespace

void AddVectorLstm(KernelTable& table) {
  table.push_back({"LSTM", "", "vector.lstm", Supports, nullptr, MakeLstm});
}

}  // namespace asc
