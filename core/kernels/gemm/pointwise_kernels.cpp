// Conv and asc.FusedConv with 1x1 windows on blocked images: a product of pixels by constant
// weights. What is added and applied to it is done while tiles are in registers or in the cache.
#include <optional>

#include "core/kernels/families.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/gemm/weights.h"
#include "core/kernels/vector/common.h"
#include "core/ops/window.h"

namespace asc {
namespace {
enum Operand : size_t { kX = 0, kW = 1, kBias = 2, kResidual = 3 };

bool Present(const KernelRequest& request, size_t i) {
  return i < request.inputs.size() && request.inputs[i].present;
}

// A window of one pixel that visits each pixel once.
bool IsPointwise(const KernelRequest& request) {
  const AttributeMap& attributes = request.node.attributes;
  if (attributes.Int("group", 1) != 1) return false;
  const Dims &x = request.inputs[kX].dims, &y = request.outputs[0].dims;
  const Result<WindowSpec> spec = ReadWindow("Conv", attributes, std::vector<int64_t>{1, 1}, 2);
  if (!spec.ok() || spec->strides[0] != 1 || spec->strides[1] != 1) return false;
  return x[2] == y[2] && x[3] == y[3];
}

bool Supports(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (gemm::Tiles().lanes < 4) return false;
  if (w.constant == nullptr || !simd::IsPlainFloat(w) || w.dims.size() != 4) return false;
  if (w.dims[2] != 1 || w.dims[3] != 1) return false;
  for (const OperandDesc* image : {&x, &y}) {
    if (!simd::IsFloat(*image) || !simd::IsBlockedImage(*image)) return false;
    if (ElementCount(image->dims) == 0) return false;
  }
  if (x.layout != y.layout || (x.layout.c0 != 8 && x.layout.c0 != 16)) return false;
  // Threads share the result by panels, which have to be whole blocks.
  if (gemm::Tiles().width % x.layout.c0 != 0) return false;
  if (Present(request, kBias) && !simd::IsPlainFloat(request.inputs[kBias])) return false;
  if (Present(request, kResidual)) {
    const OperandDesc& residual = request.inputs[kResidual];
    if (!simd::IsFloat(residual) || residual.dims != y.dims || residual.layout != y.layout)
      return false;
  }
  return IsPointwise(request);
}

class Pointwise : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<Pointwise>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    gemm::Product product = product_;
    if (has_bias_) product.bias = context.input(kBias).data<float>();
    for (int64_t image = 0; image < images_; ++image) {
      product.a = context.input(kX).data<float>() + image * x_image_;
      product.c = context.output(0).data<float>() + image * y_image_;
      if (has_residual_)
        product.residual = context.input(kResidual).data<float>() + image * y_image_;
      gemm::MultiplyOnTeam(product, 1, cutting_, activation_, context.planned_scratch());
    }
    if (clears_) simd::ClearPadding(context.output(0).data<float>(), *clears_);
    return Ok();
  }

  size_t scratch_bytes() const override { return cutting_.scratch_bytes; }
  bool packs(size_t i) const override { return i == kW; }
  std::string_view name() const override { return "gemm:pointwise"; }

 private:
  Status Prepare(const KernelRequest& request) {
    const OperandDesc &x = request.inputs[kX], &y = request.outputs[0];
    const int64_t c0 = x.layout.c0, channels = x.dims[1], outputs = y.dims[1];
    const int64_t pixels = x.dims[2] * x.dims[3];
    ASC_ASSIGN_OR_RETURN(const Activation activation, simd::ActivationOf(request.node.attributes));
    ASC_ASSIGN_OR_RETURN(packed_, gemm::PackWeight(request.constants, *request.inputs[kW].constant,
                                                   channels, outputs, true));
    const int64_t width = gemm::Tiles().width;
    images_ = x.dims[0];
    x_image_ = (channels + c0 - 1) / c0 * c0 * pixels;
    y_image_ = (outputs + c0 - 1) / c0 * c0 * pixels;
    product_.m = pixels;
    product_.n = outputs;
    // The channels of a single pixel lie together.
    const bool together = pixels == 1 || channels < c0;
    product_.blocks = together ? 1 : channels / c0;
    product_.k = together ? channels : c0;
    product_.rest = channels - product_.blocks * product_.k;
    product_.a_row = c0;
    product_.a_block = product_.c_block = pixels * c0;
    product_.b = reinterpret_cast<const float*>(packed_->data());
    product_.b_panel = channels * width;
    product_.b_block = c0 * width;
    product_.c_row = product_.residual_row = product_.c_width = c0;
    has_bias_ = Present(request, kBias);
    has_residual_ = Present(request, kResidual);
    activation_ = gemm::Clamped(activation, product_);
    if (activation_ && simd::IsPaddedImage(y) && !simd::KeepsZero(*activation_)) clears_ = y;
    cutting_ = gemm::Cut(product_, 1, request.threads);
    return Ok();
  }

  gemm::Product product_;
  gemm::Cutting cutting_;
  std::optional<simd::UnaryCall> activation_;  // what is no clamping
  std::optional<OperandDesc> clears_;  // the result, where the activation of zero is not zero
  std::shared_ptr<Buffer> packed_;
  int64_t images_ = 1, x_image_ = 0, y_image_ = 0;  // elements of an image
  bool has_bias_ = false, has_residual_ = false;
};
}  // namespace

void AddPointwiseConvolutions(KernelTable& table) {
  table.push_back({"Conv", "", "gemm.pointwise", Supports, nullptr, Pointwise::Create});
  table.push_back({"FusedConv", "asc", "gemm.pointwise", Supports, nullptr, Pointwise::Create});
}

}  // namespace asc
