// Concat of blocked images: along the channels where all but the last operand fill their blocks,
// and along the other axes.
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

Result<int64_t> AxisOf(const KernelRequest& request) {
  return NormalizeAxis(request.node.attributes.Int("axis", 0), 4);
}

bool Supports(const KernelRequest& request) {
  const OperandDesc& out = request.outputs[0];
  const Result<int64_t> axis = AxisOf(request);
  if (!axis.ok() || !simd::IsFloat(out) || !simd::IsBlockedImage(out)) return false;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const OperandDesc& in = request.inputs[i];
    if (!simd::IsFloat(in) || in.layout != out.layout || in.dims.size() != 4) return false;
    if (*axis == 1 && i + 1 < request.inputs.size() && simd::IsPaddedImage(in)) return false;
  }
  return true;
}
Result<std::unique_ptr<Kernel>> MakeConcat(const KernelRequest& request) {
  ASC_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(request));
  return simd::Make<ConcatKernel>(static_cast<size_t>(axis));
}
}  // namespace

void AddVectorConcat(KernelTable& table) {
  table.push_back({"Concat", "", "vector.concat", Supports, nullptr, MakeConcat});
}

}  // namespace asc
