// Conv and asc.FusedConv with groups and windows of one element on plain images: for each image and group a product
// of the weights, as they lie, by the pixels, which are packed a few panels at a time.
#include <algorithm>
#include <optional>

#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/vector/common.h"
#include "core/ops/window.h"

namespace asc {
namespace {
enum Operand : size_t { kX = 0, kW = 1, kBias = 2, kResidual = 3 };
constexpr int64_t kPackedFloats =
    1 << 15;  // of pixels at a time, beside the weights in the second-level cache
constexpr int64_t kFewestOutputs = 8;  // of a group: packing has to pay
constexpr double kFewestUsed = 0.8;    // of the columns of panels
constexpr double kPartFlops = 4e5;     // worth a thread of their own

struct Groups {
  int64_t images, groups, channels, outputs, pixels;  // channels and outputs of one group
};

bool Present(const KernelRequest& request, size_t i) {
  return i < request.inputs.size() && request.inputs[i].present;
}

std::optional<Groups> GroupsOf(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[kX], &w = request.inputs[kW], &y = request.outputs[0];
  if (!simd::AllPlainFloat(request.inputs) || !simd::IsPlainFloat(y)) return std::nullopt;
  if (x.dims.size() < 3 || ElementCount(y.dims) == 0 || ElementCount(w.dims, 2, w.dims.size()) != 1)
    return std::nullopt;
  if (!std::equal(x.dims.begin() + 2, x.dims.end(), y.dims.begin() + 2, y.dims.end()))
    return std::nullopt;
  if (Present(request, kResidual) && request.inputs[kResidual].dims != y.dims) return std::nullopt;
  const size_t axes = x.dims.size() - 2;
  const Result<WindowSpec> spec =
      ReadWindow("Conv", request.node.attributes, std::vector<int64_t>(axes, 1), axes);
  if (!spec.ok() || std::ranges::any_of(spec->strides, [](int64_t s) { return s != 1; }))
    return std::nullopt;
  const int64_t groups = request.node.attributes.Int("group", 1);
  return Groups{x.dims[0], groups, w.dims[1], w.dims[0] / groups,
                ElementCount(x.dims, 2, x.dims.size())};
}

bool Supports(const KernelRequest& request) {
  const gemm::TileShape tiles = gemm::Tiles();
  const std::optional<Groups> s = GroupsOf(request);
  if (!s || s->groups == 1 || s->outputs < kFewestOutputs || tiles.lanes < 4) return false;
  const int64_t columns = (s->pixels + tiles.width - 1) / tiles.width * tiles.width;
  return static_cast<double>(s->pixels) >= kFewestUsed * static_cast<double>(columns);
}

class GroupedPointwise : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
    auto kernel = std::make_unique<GroupedPointwise>();
    ASC_RETURN_IF_ERROR(kernel->Prepare(request));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  Status Run(KernelContext& context) const override {
    ParallelFor(parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        float* packed = static_cast<float*>(context.planned_scratch()) + part * packed_;
        for (int64_t i = blocks_ * part / parts_; i < blocks_ * (part + 1) / parts_; ++i)
          RunBlock(context, i / column_blocks_, i % column_blocks_ * columns_, packed);
      }
    });
    return Ok();
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(parts_ * packed_) * sizeof(float);
  }
  std::string_view name() const override { return "gemm:grouped_pointwise"; }

 private:
  Status Prepare(const KernelRequest& request) {
    s_ = *GroupsOf(request);
    ASC_ASSIGN_OR_RETURN(const Activation activation, simd::ActivationOf(request.node.attributes));
    has_bias_ = Present(request, kBias);
    has_residual_ = Present(request, kResidual);
    const int64_t width = gemm::Tiles().width;
    columns_ = std::max<int64_t>(1, kPackedFloats / s_.channels / width) * width;
    columns_ = std::min(columns_, (s_.pixels + width - 1) / width * width);
    packed_ = gemm::PackedCount(s_.channels, columns_);
    column_blocks_ = (s_.pixels + columns_ - 1) / columns_;
    blocks_ = s_.images * s_.groups * column_blocks_;
    const double flops = 2.0 * static_cast<double>(s_.images * s_.groups * s_.pixels) *
                         static_cast<double>(s_.channels * s_.outputs);
    parts_ = std::clamp<int64_t>(static_cast<int64_t>(flops / kPartFlops), 1,
                                 std::min<int64_t>(request.threads, blocks_));
    product_.m = s_.outputs;
    product_.k = product_.a_row = s_.channels;
    product_.b_panel = product_.b_block = width * s_.channels;
    product_.c_row = product_.residual_row = s_.pixels;
    activation_ = gemm::Clamped(activation, product_);
    return Ok();
  }

  // The pixels from `first` on, at most columns_, of one group of one image.
  void RunBlock(KernelContext& context, int64_t image_group, int64_t first, float* packed) const {
    const int64_t group = image_group % s_.groups, count = std::min(columns_, s_.pixels - first);
    const float* x =
        context.input(kX).data<float>() + image_group * s_.channels * s_.pixels + first;
    const float* weights = context.input(kW).data<float>() + group * s_.outputs * s_.channels;
    gemm::Pack(x, s_.pixels, 1, s_.channels, count, 0, s_.channels, packed);
    const int64_t at = image_group * s_.outputs * s_.pixels + first;
    gemm::Product product = product_;
    product.n = count;
    product.a = weights;
    product.b = packed;
    product.c = context.output(0).data<float>() + at;
    if (has_bias_) product.row_bias = context.input(kBias).data<float>() + group * s_.outputs;
    if (has_residual_) product.residual = context.input(kResidual).data<float>() + at;
    gemm::Multiply(product);
    for (int64_t m = 0; activation_ && m < s_.outputs; ++m) {
      float* row = product.c + m * s_.pixels;
      simd::ApplyUnary(*activation_, row, row, count);
    }
  }

  Groups s_{};
  gemm::Product product_;
  std::optional<simd::UnaryCall> activation_;  // what is no clamping
  bool has_bias_ = false, has_residual_ = false;
  int64_t columns_ = 0, packed_ = 0;  // of a block; floats of its pixels
  int64_t column_blocks_ = 0, blocks_ = 0, parts_ = 1;
};
}  // namespace

void AddGroupedPointwiseConvolutions(KernelTable& table) {
  for (const auto& [op, domain] : {std::pair{"Conv", ""}, std::pair{"FusedConv", "asc"}}) {
    table.push_back(
        {op, domain, "gemm.grouped_pointwise", Supports, nullptr, GroupedPointwise::Create});
  }
}

}  // namespace asc
