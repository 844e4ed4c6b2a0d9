// Concat of blocked images: whole blocks along the channels where all but the last operand fill
// theirs and along the other axes, else channels from block to block.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {
class ConcatKernel : public Kernel {
 public:
  // `axis`: of the storage [N, C1, H, W, C0], whose axes but the last stand in the order of those
  // of [N, C, H, W].
  explicit ConcatKernel(size_t axis) : axis_(axis) {}

  Status Run(KernelContext& context) const override {
    Tensor& out = context.output(0);
    const int64_t rows = ElementCount(out.dims(), 0, axis_),
                  out_row = ElementCount(out.dims(), axis_, out.rank());
    int64_t at = 0;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Tensor& in = context.input(i);
      const int64_t row = ElementCount(in.dims(), axis_, in.rank());
      StridedCopy(out.dtype(), {rows, row}, {in.raw(), 0, {row, 1}}, {out.raw(), at, {out_row, 1}});
      at += row;
    }
    return Ok();
  }
  std::string_view name() const override { return "vector:concat_blocked"; }

 private:
  size_t axis_;
};

// Along the channels, where some operand ends within a block.
class ConcatChannelsKernel : public Kernel {
 public:
  explicit ConcatChannelsKernel(const KernelRequest& request) : result_(request.outputs[0]) {
    for (const OperandDesc& in : request.inputs) channels_.push_back(in.dims[1]);
  }

  Status Run(KernelContext& context) const override {
    Tensor& out = context.output(0);
    const int64_t c0 = result_.layout.c0, images = result_.dims[0],
                  pixels = result_.dims[2] * result_.dims[3], block = pixels * c0;
    int64_t to = 0;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Tensor& in = context.input(i);
      // A run of channels lies in one block on either side.
      for (int64_t from = 0, run = 0; from < channels_[i]; from += run, to += run) {
        run = std::min({channels_[i] - from, c0 - from % c0, c0 - to % c0});
        StridedCopy(out.dtype(), {images, pixels, run},
                    {in.raw(), from / c0 * block + from % c0, {in.dim(1) * block, c0, 1}},
                    {out.raw(), to / c0 * block + to % c0, {out.dim(1) * block, c0, 1}});
      }
    }
    if (to % c0 != 0) simd::ClearPadding(out.data<float>(), result_);
    return Ok();
  }
  std::string_view name() const override { return "vector:concat_channels"; }

 private:
  OperandDesc result_;
  std::vector<int64_t> channels_;
};

Result<int64_t> AxisOf(const KernelRequest& request) {
  return NormalizeAxis(request.node.attributes.Int("axis", 0), 4);
}

bool Supports(const KernelRequest& request) {
  const OperandDesc& out = request.outputs[0];
  const Result<int64_t> axis = AxisOf(request);
  if (!axis.ok() || !simd::IsFloat(out) || !simd::IsBlockedImage(out)) return false;
  return std::all_of(request.inputs.begin(), request.inputs.end(), [&](const OperandDesc& in) {
    return simd::IsFloat(in) && in.layout == out.layout && in.dims.size() == 4;
  });
}
Result<std::unique_ptr<Kernel>> MakeConcat(const KernelRequest& request) {
  ASC_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(request));
  if (axis == 1 &&
      std::any_of(request.inputs.begin(), request.inputs.end() - 1, simd::IsPaddedImage))
    return simd::Make<ConcatChannelsKernel>(request);
  return simd::Make<ConcatKernel>(static_cast<size_t>(axis));
}
}  // namespace

void AddVectorConcat(KernelTable& table) {
  table.push_back({"Concat", "", "vector.concat", Supports, nullptr, MakeConcat});
}

}  // namespace asc
