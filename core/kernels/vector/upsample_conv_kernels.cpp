// ConvTranspose of float32 images with a 2x2 kernel and stride 2, without padding: what decoders
// enlarge with.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/upsample_conv.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 18;  // multiplications

class UpsampleConvKernel : public Kernel {
 public:
  UpsampleConvKernel(const Dims& x, int64_t outputs)
      : images_(x[0]), channels_(x[1]), outputs_(outputs), rows_(x[2]), columns_(x[3]) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const int64_t work = std::max<int64_t>(1, channels_ * outputs_ * 4 * columns_);
    ParallelFor(images_ * rows_, std::max<int64_t>(1, kGrain / work),
                [&](int64_t begin, int64_t end) {
                  for (int64_t at = begin; at < end;) {
                    const int64_t image = at / rows_, row = at % rows_,
                                  last = std::min(rows_, row + end - at);
                    const simd::UpsampleConv call{
                        x + image * channels_ * rows_ * columns_,
                        context.input(1).data<float>(),
                        context.HasInput(2) ? context.input(2).data<float>() : nullptr,
                        y + image * outputs_ * 4 * rows_ * columns_,
                        channels_,
                        outputs_,
                        rows_,
                        columns_};
                    simd::ApplyUpsampleConv(call, row, last);
                    at += last - row;
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:upsample_conv"; }

 private:
  int64_t images_, channels_, outputs_, rows_, columns_;
};

bool AllEqual(const std::vector<int64_t>& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}

bool Supports(const KernelRequest& request) {
  const AttributeMap& attributes = request.node.attributes;
  const Dims &x = request.inputs[0].dims, &w = request.inputs[1].dims, &y = request.outputs[0].dims;
  if (!simd::AllPlainFloat(request.inputs) || !simd::AllPlainFloat(request.outputs)) return false;
  if (x.size() != 4 || w[2] != 2 || w[3] != 2 || attributes.Int("group", 1) != 1 ||
      attributes.Has("output_shape"))
    return false;
  if (attributes.Ints("strides") != std::vector<int64_t>{2, 2} ||
      !AllEqual(attributes.Ints("pads"), 0))
    return false;
  if (!AllEqual(attributes.Ints("dilations"), 1) || !AllEqual(attributes.Ints("output_padding"), 0))
    return false;
  const std::string auto_pad = attributes.String("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;
  return y == Dims{x[0], w[1], 2 * x[2], 2 * x[3]};
}
Result<std::unique_ptr<Kernel>> MakeUpsampleConv(const KernelRequest& request) {
  return simd::Make<UpsampleConvKernel>(request.inputs[0].dims, request.inputs[1].dims[1]);
}
}  // namespace

void AddVectorUpsampleConv(KernelTable& table) {
  table.push_back(
      {"ConvTranspose", "", "vector.upsample_conv", Supports, nullptr, MakeUpsampleConv});
}

}  // namespace asc
