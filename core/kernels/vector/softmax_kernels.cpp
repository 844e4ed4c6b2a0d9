// Softmax and LogSoftmax of float32 along any axis.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/rows.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 13;
constexpr int64_t kColumns =
    64;  // neighbouring rows that one piece takes where the axis is not the last

class SoftmaxKernel : public Kernel {
 public:
  SoftmaxKernel(const Dims& dims, int64_t axis, bool log) : log_(log) {
    const auto at = static_cast<size_t>(axis);
    length_ = dims.empty() ? 1 : dims[at];
    outer_ = dims.empty() ? 1 : ElementCount(dims, 0, at);
    inner_ = dims.empty() ? 1 : ElementCount(dims, at + 1, dims.size());
  }

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    if (length_ == 0 || outer_ == 0 || inner_ == 0) return Ok();
    if (inner_ == 1) {
      ParallelFor(outer_, std::max<int64_t>(1, kGrain / length_), [&](int64_t begin, int64_t end) {
        simd::SoftmaxRows(log_, x + begin * length_, y + begin * length_, end - begin, length_);
      });
      return Ok();
    }
    const int64_t groups = (inner_ + kColumns - 1) / kColumns;
    ParallelFor(outer_ * groups, std::max<int64_t>(1, kGrain / (length_ * kColumns)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const int64_t first = unit % groups * kColumns,
                                  at = unit / groups * length_ * inner_ + first;
                    simd::SoftmaxColumns(log_, x + at, y + at, length_, inner_,
                                         std::min(kColumns, inner_ - first));
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:softmax"; }

 private:
  bool log_;
  int64_t length_, outer_, inner_;
};

bool Supports(const KernelRequest& request) {
  return simd::IsPlainFloat(request.inputs[0]) && simd::IsPlainFloat(request.outputs[0]);
}

Result<std::unique_ptr<Kernel>> MakeSoftmax(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(dims.size()));
  ASC_ASSIGN_OR_RETURN(const int64_t axis,
                       NormalizeAxis(request.node.attributes.Int("axis", -1), rank));
  return simd::Make<SoftmaxKernel>(dims, axis, request.node.schema->name == "LogSoftmax");
}
}  // namespace

void AddVectorSoftmax(KernelTable& table) {
  for (const std::string_view op : {"LogSoftmax", "Softmax"}) {
    table.push_back({op, "", "vector.softmax", Supports, nullptr, MakeSoftmax});
  }
}

}  // namespace asc
