// MaxPool and AveragePool of float32 over one or two spatial axes, plain or blocked.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/pool.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 14;  // taps
// The kernel keeps tables over each output axis, which larger ones (of hostile models) are not worth.
constexpr int64_t kLongestAxis = 1 << 20;

class PoolKernel : public Kernel {
 public:
  PoolKernel(simd::Pool pool, int64_t planes, int64_t c0)
      : pool_(std::move(pool)), planes_(planes), c0_(c0) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    const int64_t width = std::max<int64_t>(1, c0_);
    const int64_t in = pool_.rows.input * pool_.columns.input * width,
                  out = pool_.rows.output * pool_.columns.output * width;
    const int64_t work = std::max<int64_t>(1, out * pool_.rows.kernel * pool_.columns.kernel);
    ParallelFor(planes_, std::max<int64_t>(1, kGrain * 4 / work), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        if (c0_ == 0) {
          simd::PoolPlane(pool_, x + plane * in, y + plane * out);
        } else {
          simd::PoolPixels(pool_, c0_, x + plane * in, y + plane * out);
        }
      }
    });
    return Ok();
  }
  std::string_view name() const override {
    return pool_.max ? "vector:max_pool" : "vector:average_pool";
  }

 private:
  simd::Pool pool_;
  int64_t planes_, c0_;
};

Result<simd::Pool> ReadPool(const KernelRequest& request) {
  const Dims& x = request.inputs[0].dims;
  const std::string_view op = request.node.schema->name;
  const AttributeMap& attributes = request.node.attributes;
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec,
                       ReadWindow(op, attributes, std::nullopt, x.size() - 2));
  ASC_ASSIGN_OR_RETURN(std::vector<WindowAxis> axes,
                       ResolveWindow(op, spec, Dims(x.begin() + 2, x.end())));
  if (axes.size() == 1) axes.insert(axes.begin(), WindowAxis{1, 1});
  const bool count_padding = attributes.Int("count_include_pad", 0) != 0;
  return simd::Pool{op == "MaxPool", {axes[0], count_padding}, {axes[1], count_padding}};
}

bool Supports(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (request.outputs.size() > 1 && request.outputs[1].present) return false;
  if (!simd::IsFloat(x) || !simd::IsFloat(y) || x.layout != y.layout) return false;
  if (x.dims.size() != 3 && x.dims.size() != 4) return false;
  const bool blocked = simd::IsBlockedImage(x) && (x.layout.c0 == 8 || x.layout.c0 == 16);
  if (!simd::IsPlain(x) && !blocked) return false;
  if (std::any_of(y.dims.begin() + 2, y.dims.end(), [](int64_t n) { return n > kLongestAxis; }))
    return false;
  const Result<simd::Pool> pool = ReadPool(request);
  if (!pool.ok() || (!blocked && !simd::FitsPoolPlane(*pool))) return false;
  // A window between the taps of which there is no element would put -infinity into the padding of
  // blocks.
  const auto reads = [](const simd::PoolAxis& axis) {
    return std::all_of(axis.taps.begin(), axis.taps.end(), [](int64_t taps) { return taps > 0; });
  };
  return !simd::IsPaddedImage(x) || (reads(pool->rows) && reads(pool->columns));
}

Result<std::unique_ptr<Kernel>> MakePool(const KernelRequest& request) {
  const OperandDesc& x = request.inputs[0];
  const int64_t c0 = x.layout.c0;
  ASC_ASSIGN_OR_RETURN(simd::Pool pool, ReadPool(request));
  return simd::Make<PoolKernel>(std::move(pool),
                                x.dims[0] * (c0 == 0 ? x.dims[1] : (x.dims[1] + c0 - 1) / c0), c0);
}
}  // namespace

void AddVectorPool(KernelTable& table) {
  for (const std::string_view op : {"AveragePool", "MaxPool"}) {
    table.push_back({op, "", "vector.pool", Supports, nullptr, MakePool});
  }
}

}  // namespace asc
