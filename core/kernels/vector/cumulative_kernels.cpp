// CumSum and CumProd of float32 along an axis that is not the last.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/cumulative.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {
constexpr int64_t kColumns = 64;     // that one piece takes
constexpr int64_t kGrain = 1 << 14;  // elements that are worth a thread

// The input as [outer, length, inner], accumulated over the middle.
struct Extents {
  int64_t outer, length, inner;
};

std::optional<Extents> ReadExtents(const KernelRequest& request) {
  const Dims& dims = request.inputs[0].dims;
  const Tensor* constant = request.inputs[1].constant;
  if (constant == nullptr || constant->size() != 1) return std::nullopt;
  const Result<std::vector<int64_t>> axis = ToInt64Vector(*constant);
  if (!axis.ok()) return std::nullopt;
  const Result<int64_t> normal = NormalizeAxis((*axis)[0], static_cast<int64_t>(dims.size()));
  if (!normal.ok()) return std::nullopt;
  const auto at = static_cast<size_t>(*normal);
  return Extents{ElementCount(dims, 0, at), dims[at], ElementCount(dims, at + 1, dims.size())};
}

class CumulativeKernel : public Kernel {
 public:
  CumulativeKernel(const Extents& extents, bool product, bool exclusive, bool reverse)
      : e_(extents), product_(product), exclusive_(exclusive), reverse_(reverse) {}

  Status Run(KernelContext& context) const override {
    const float* x = context.input(0).data<float>();
    float* y = context.output(0).data<float>();
    if (context.output(0).size() == 0) return Ok();
    const int64_t groups = (e_.inner + kColumns - 1) / kColumns;
    const int64_t work = e_.length * std::min(e_.inner, kColumns);
    const int64_t last = reverse_ ? (e_.length - 1) * e_.inner : 0;
    ParallelFor(e_.outer * groups, std::max<int64_t>(1, kGrain / work),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end;) {
                    // All groups of an outer index that are this thread's, side by side.
                    const int64_t outer = unit / groups, first = unit % groups,
                                  some = std::min(groups - first, end - unit);
                    const int64_t column = first * kColumns,
                                  columns = std::min(some * kColumns, e_.inner - column);
                    const int64_t start = outer * e_.length * e_.inner + last + column;
                    simd::CumulateColumns(product_, exclusive_, x + start, y + start, e_.length,
                                          reverse_ ? -e_.inner : e_.inner, columns);
                    unit += some;
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:cumulative"; }

 private:
  Extents e_;
  bool product_, exclusive_, reverse_;
};

bool Supports(const KernelRequest& request) {
  if (!simd::IsPlainFloat(request.inputs[0]) || !simd::IsPlainFloat(request.outputs[0]))
    return false;
  const auto extents = ReadExtents(request);
  return extents && extents->inner > 1;
}

Result<std::unique_ptr<Kernel>> MakeCumulative(const KernelRequest& request) {
  const AttributeMap& attributes = request.node.attributes;
  return simd::Make<CumulativeKernel>(*ReadExtents(request), request.node.Is("CumProd"),
                                      attributes.Int("exclusive", 0) != 0,
                                      attributes.Int("reverse", 0) != 0);
}
}  // namespace

void AddVectorCumulative(KernelTable& table) {
  for (const std::string_view op : {"CumProd", "CumSum"})
    table.push_back({op, "", "vector.cumulative", Supports, nullptr, MakeCumulative});
}

}  // namespace asc
