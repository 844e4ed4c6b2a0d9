// Conv and asc.FusedConv that give each channel a window of its own, on blocked images and constant
// weights.
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/kernels/convolution_cost.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/depthwise.h"

namespace asc {
namespace {
using simd::Depthwise;

constexpr int64_t kGrain = 1 << 16;  // multiplications that are worth a thread
// Of fewer rows for a thread too many are read by two, or fetched ahead by the one that does not need them.
constexpr int64_t kFewestRows = 7;

enum Operand : size_t { kX = 0, kW = 1, kBias = 2, kResidual = 3 };

bool Present(const KernelRequest& request, size_t i) {
  return i < request.inputs.size() && request.inputs[i].present;
}

// nullopt where the convolution is of another kind.
std::optional<Depthwise> DepthwiseOf(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (w.constant == nullptr || !simd::IsPlainFloat(w) || w.dims.size() != 4) return std::nullopt;
  for (const OperandDesc* image : {&x, &y}) {
    if (!simd::IsFloat(*image) || !simd::IsBlockedImage(*image) || ElementCount(image->dims) == 0)
      return std::nullopt;
  }
  if (x.layout != y.layout || (x.layout.c0 != 8 && x.layout.c0 != 16)) return std::nullopt;
  const AttributeMap& attributes = request.node.attributes;
  const int64_t channels = x.dims[1];
  if (channels == 1 || attributes.Int("group", 1) != channels || y.dims[1] != channels ||
      w.dims[1] != 1)
    return std::nullopt;
  if (Present(request, kBias) && !simd::IsPlainFloat(request.inputs[kBias])) return std::nullopt;
  if (Present(request, kResidual)) {
    const OperandDesc& residual = request.inputs[kResidual];
    if (!simd::IsFloat(residual) || residual.dims != y.dims || residual.layout != y.layout)
      return std::nullopt;
  }
  const Result<WindowSpec> spec =
      ReadWindow("Conv", attributes, std::vector<int64_t>{w.dims[2], w.dims[3]}, 2);
  if (!spec.ok()) return std::nullopt;
  const Result<std::vector<WindowAxis>> axes =
      ResolveWindow("Conv", *spec, Dims(x.dims.begin() + 2, x.dims.end()));
  if (!axes.ok()) return std::nullopt;
  Depthwise p;
  p.rows = (*axes)[0];
  p.columns = (*axes)[1];
  if (p.rows.dilation != 1 || p.columns.dilation != 1) return std::nullopt;
  p.c0 = x.layout.c0;
  p.channels = channels;
  p.images = x.dims[0];
  p.blocks = (channels + p.c0 - 1) / p.c0;
  return p;
}

Result<std::shared_ptr<Buffer>> PackWeights(const Depthwise& p, PackedConstants& constants,
                                            const Tensor& weight) {
  const int64_t window = p.rows.kernel * p.columns.kernel;
  const auto bytes = static_cast<size_t>(p.blocks * window * p.c0) * sizeof(float);
  const auto make =
      [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed,
                         Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
    // A lazy weight gives one channel at a time.
    std::vector<float> plain(static_cast<size_t>(weight.is_lazy() ? window : 0));
    auto* to = reinterpret_cast<float*>(packed->data());
    std::fill_n(to, p.blocks * window * p.c0, 0.0f);
    for (int64_t channel = 0; channel < p.channels; ++channel) {
      const float* from = plain.data();
      if (weight.is_lazy()) {
        const size_t size = static_cast<size_t>(window) * sizeof(float);
        weight.CopyBytes(static_cast<size_t>(channel) * size, size,
                         reinterpret_cast<std::byte*>(plain.data()));
      } else {
        from = weight.data<float>() + channel * window;
      }
      float* lane = to + channel / p.c0 * window * p.c0 + channel % p.c0;
      for (int64_t i = 0; i < window; ++i) lane[i * p.c0] = from[i];
    }
    return packed;
  };
  return constants.GetOrMake(weight, Cat("depthwise:", p.c0, ":", p.channels, "x", window), bytes,
                             make);
}

class DepthwiseConvolution : public Kernel {
 public:
  DepthwiseConvolution(const Depthwise& p, std::shared_ptr<Buffer> packed, int threads)
      : p_(p), packed_(std::move(packed)) {
    p_.weights = reinterpret_cast<const float*>(packed_->data());
    // By rows, as products around it are: what a thread wrote is in its cache, and lines that another one has read too are
    // slow to write again.
    const int64_t planes = p.images * p.blocks, rows = p.rows.output;
    const int64_t work = p.rows.kernel * p.columns.kernel * p.columns.output * p.c0 * planes * rows;
    const int64_t parts = std::clamp<int64_t>(work / kGrain, 1, threads);
    row_parts_ = std::clamp<int64_t>(rows / kFewestRows, 1, parts);
    plane_parts_ = std::min(planes, parts / row_parts_);
  }

  Status Run(KernelContext& context) const override {
    Depthwise p = p_;
    p.x = context.input(kX).data<float>();
    p.y = context.output(0).data<float>();
    if (context.HasInput(kBias)) p.bias = context.input(kBias).data<float>();
    if (context.HasInput(kResidual)) p.residual = context.input(kResidual).data<float>();
    const int64_t planes = p.images * p.blocks, rows = p.rows.output;
    ParallelFor(row_parts_ * plane_parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t i = part / row_parts_, j = part % row_parts_;
        simd::ConvolveDepthwise(p, {planes * i / plane_parts_, planes * (i + 1) / plane_parts_,
                                    rows * j / row_parts_, rows * (j + 1) / row_parts_});
      }
    });
    return Ok();
  }
  bool packs(size_t i) const override { return i == kW; }
  std::string_view name() const override { return "vector:depthwise"; }

 private:
  Depthwise p_;
  std::shared_ptr<Buffer> packed_;
  int64_t row_parts_, plane_parts_;  // each pair is work for one thread
};

bool Supports(const KernelRequest& request) { return DepthwiseOf(request).has_value(); }

// Times slower, where oneDNN has assembly for the CPU all the same.
constexpr double kWithoutMultiplyAdd = 5;

double Cost(const KernelRequest& request) {
  const double seconds = DepthwiseSeconds(request, simd::IsUnrolled(DepthwiseOf(request)->columns));
  return simd::MultipliesAndAdds() ? seconds : kWithoutMultiplyAdd * seconds;
}

Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
  Depthwise p = *DepthwiseOf(request);
  ASC_ASSIGN_OR_RETURN(const Activation activation, simd::ActivationOf(request.node.attributes));
  p.f = simd::FromActivation(activation);
  if (p.f.op == simd::UnaryOp::kRelu || p.f.op == simd::UnaryOp::kClip) {
    p.clamp = true;
    p.low = p.f.a;
    p.high = p.f.op == simd::UnaryOp::kClip ? p.f.b : INFINITY;
    p.f = {};
  }
  ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed,
                       PackWeights(p, request.constants, *request.inputs[kW].constant));
  // Windows that reach over the ends of a row multiply zeros there.
  const auto* weights = reinterpret_cast<const float*>(packed->data());
  const int64_t count = p.blocks * p.rows.kernel * p.columns.kernel * p.c0;
  if (!std::all_of(weights, weights + count, [](float w) { return std::isfinite(w); }))
    return Error(Code::kUnavailable, "weights that are not finite");
  return simd::Make<DepthwiseConvolution>(p, std::move(packed), request.threads);
}
}  // namespace

void AddVectorDepthwise(KernelTable& table) {
  for (const auto& [op, domain] : {std::pair("Conv", ""), std::pair("FusedConv", "asc")})
    table.push_back({op, domain, "vector.depthwise", Supports, Cost, Create});
}

}  // namespace asc
