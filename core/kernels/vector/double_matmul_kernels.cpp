// MatMul of float64: stacks of matrices by one matrix, or by a stack of the same extents.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/double_product.h"

namespace asc {
namespace {
constexpr int64_t kFewest = 4;       // rows and columns that pay for packing
constexpr int64_t kStrip = 64;       // columns that a thread takes
constexpr int64_t kGrain = 1 << 16;  // products that a thread should get at least

struct Problem {
  int64_t batch, m, n, k;
};
// Null where the reference kernel has to do it.
std::optional<Problem> ProblemOf(const KernelRequest& request) {
  const OperandDesc &a = request.inputs[0], &b = request.inputs[1];
  for (const OperandDesc& x : {a, b, request.outputs[0]}) {
    if (x.dtype != DataType::kFloat64 || !simd::IsPlain(x)) return std::nullopt;
  }
  if (a.dims.size() < 2 || b.dims.size() < 2) return std::nullopt;
  Problem out{1, a.dims[a.dims.size() - 2], b.dims.back(), a.dims.back()};
  const int64_t stacked = ElementCount(a.dims, 0, a.dims.size() - 2);
  if (b.dims.size() == 2) {
    out.m *= stacked;
  } else if (std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin(), b.dims.end() - 2)) {
    out.batch = stacked;
  } else {
    return std::nullopt;
  }
  if (out.batch == 0 || out.m < kFewest || out.n < kFewest || out.k == 0) return std::nullopt;
  return out;
}

class DoubleMatMul : public Kernel {
 public:
  explicit DoubleMatMul(Problem problem) : problem_(problem) {}
  Status Run(KernelContext& context) const override {
    const int64_t m = problem_.m, n = problem_.n, k = problem_.k;
    const int64_t strips = (n + kStrip - 1) / kStrip;
    const double *a = context.input(0).data<double>(), *b = context.input(1).data<double>();
    double* c = context.output(0).data<double>();
    ParallelFor(problem_.batch * strips, std::max<int64_t>(1, kGrain / (m * kStrip * k)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const int64_t i = unit / strips, first = unit % strips * kStrip;
                    simd::MultiplyDoubles(m, n, k, a + i * m * k, b + i * k * n, c + i * m * n,
                                          first, std::min(first + kStrip, n));
                  }
                });
    return Ok();
  }
  std::string_view name() const override { return "vector:double_product"; }

 private:
  Problem problem_;
};

bool Supports(const KernelRequest& request) { return ProblemOf(request).has_value(); }
Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
  return simd::Make<DoubleMatMul>(*ProblemOf(request));
}
}  // namespace

void AddVectorDoubleMatMul(KernelTable& table) {
  table.push_back({"MatMul", "", "vector.double_product", Supports, nullptr, Create});
}

}  // namespace asc
