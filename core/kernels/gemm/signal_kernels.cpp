// Conv of one channel along one axis with long windows and without padding (the transforms and filter
// banks that speech models begin with): windows are runs of the signal, and the whole is one product
// of the weights, as they lie, by packed windows.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/vector/common.h"
#include "core/ops/strided_copy.h"
#include "core/ops/window.h"

namespace asc {
namespace {
enum Operand : size_t { kX = 0, kW = 1, kBias = 2 };
constexpr int64_t kShortest = 64, kLongest = 4096;  // windows that gain
constexpr int64_t kMostPanels = 8;                  // of windows that are multiplied at a time
constexpr double kPartFlops = 4e5;                  // worth a thread of their own

struct Signal {
  int64_t images, length, outputs, window, stride, steps;
};

std::optional<Signal> SignalOf(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  for (const OperandDesc* operand : {&x, &w, &y}) {
    if (!simd::IsPlainFloat(*operand) || operand->dims.size() != 3 ||
        ElementCount(operand->dims) == 0)
      return std::nullopt;
  }
  const AttributeMap& attributes = request.node.attributes;
  if (x.dims[1] != 1 || attributes.Int("group", 1) != 1) return std::nullopt;
  const Signal s{x.dims[0], x.dims[2], y.dims[1], w.dims[2], 0, y.dims[2]};
  if (s.window < kShortest || s.window > kLongest) return std::nullopt;
  const Result<WindowSpec> spec = ReadWindow("Conv", attributes, std::vector<int64_t>{s.window}, 1);
  if (!spec.ok() || spec->dilations[0] != 1) return std::nullopt;
  Signal signal = s;
  signal.stride = spec->strides[0];
  // No window begins before the signal or ends behind it.
  const auto axes = ResolveWindow("Conv", *spec, {s.length});
  if (!axes.ok() || (*axes)[0].pad_begin != 0 ||
      (s.steps - 1) * signal.stride + s.window > s.length)
    return std::nullopt;
  return signal;
}

class SignalConvolution : public Kernel {
 public:
  SignalConvolution(const Signal& signal, bool has_bias, int threads)
      : s_(signal), has_bias_(has_bias) {
    const int64_t width = gemm::Tiles().width, most = kMostPanels * width;
    // Steps of one signal, or as many whole signals as leave the fewest columns of panels unused.
    steps_ = std::min(s_.steps, most);
    images_ = 1;
    const auto columns = [&](int64_t images) {
      const auto padded = [&](int64_t n) { return (n * steps_ + width - 1) / width * width; };
      return s_.images / images * padded(images) + padded(s_.images % images);
    };
    const int64_t share = (s_.images + threads - 1) / threads;
    for (int64_t images = 2; steps_ == s_.steps && images <= std::min(share, most / steps_);
         ++images) {
      if (columns(images) <= columns(images_)) images_ = images;
    }
    step_blocks_ = (s_.steps + steps_ - 1) / steps_;
    blocks_ = (s_.images + images_ - 1) / images_ * step_blocks_;
    const double flops = 2.0 * static_cast<double>(s_.images * s_.steps * s_.outputs) *
                         static_cast<double>(s_.window);
    parts_ = std::clamp<int64_t>(static_cast<int64_t>(flops / kPartFlops), 1,
                                 std::min<int64_t>(threads, blocks_));
    windows_ = images_ * steps_ * s_.window;
    packed_ = gemm::PackedCount(s_.window, images_ * steps_);
    results_ = s_.outputs * images_ * steps_;
  }

  Status Run(KernelContext& context) const override {
    ParallelFor(parts_, 1, [&](int64_t begin, int64_t end) {
      const ScopedThreads alone(1);
      for (int64_t part = begin; part < end; ++part) {
        float* scratch = static_cast<float*>(context.planned_scratch()) + part * PartFloats();
        for (int64_t block = blocks_ * part / parts_; block < blocks_ * (part + 1) / parts_;
             ++block)
          RunBlock(context, block, scratch);
      }
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(parts_ * PartFloats()) * sizeof(float);
  }
  std::string_view name() const override { return "gemm:signal"; }

 private:
  int64_t PartFloats() const {
    constexpr auto kLine = static_cast<int64_t>(kAlignment / sizeof(float));
    return (windows_ + packed_ + results_ + kLine - 1) / kLine * kLine;
  }

  void RunBlock(KernelContext& context, int64_t block, float* packed) const {
    float* const windows = packed + packed_;
    float* const results = windows + windows_;
    const int64_t image = block / step_blocks_ * images_, step = block % step_blocks_ * steps_;
    const int64_t images = std::min(images_, s_.images - image),
                  steps = std::min(steps_, s_.steps - step), columns = images * steps;
    const float* x = context.input(kX).data<float>() + image * s_.length + step * s_.stride;
    StridedCopy(DataType::kFloat32, {images, steps, s_.window}, {x, 0, {s_.length, s_.stride, 1}},
                {windows, 0, {steps * s_.window, s_.window, 1}});
    gemm::Pack(windows, 1, s_.window, s_.window, columns, 0, s_.window, packed);
    gemm::Product product;
    product.m = s_.outputs;
    product.n = columns;
    product.k = s_.window;
    product.a = context.input(kW).data<float>();
    product.a_row = s_.window;
    product.b = packed;
    product.b_panel = product.b_block = gemm::Tiles().width * s_.window;
    product.c = results;
    product.c_row = columns;
    if (has_bias_) product.row_bias = context.input(kBias).data<float>();
    gemm::Multiply(product);
    float* y = context.output(0).data<float>() + image * s_.outputs * s_.steps + step;
    StridedCopy(DataType::kFloat32, {images, s_.outputs, steps}, {results, 0, {steps, columns, 1}},
                {y, 0, {s_.outputs * s_.steps, s_.steps, 1}});
  }

  Signal s_;
  bool has_bias_;
  int64_t images_, steps_;  // of a block
  int64_t step_blocks_, blocks_, parts_;
  int64_t windows_, packed_, results_;  // floats of a block
};

bool Supports(const KernelRequest& request) { return SignalOf(request).has_value(); }

Result<std::unique_ptr<Kernel>> MakeSignal(const KernelRequest& request) {
  const bool has_bias = request.inputs.size() > kBias && request.inputs[kBias].present;
  return simd::Make<SignalConvolution>(*SignalOf(request), has_bias, request.threads);
}
}  // namespace

void AddSignalConvolutions(KernelTable& table) {
  table.push_back({"Conv", "", "gemm.signal", Supports, nullptr, MakeSignal});
}

}  // namespace asc
