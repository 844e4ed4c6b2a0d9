// Cast and CastLike between float32 and what the vector unit converts itself.
#include "core/base/parallel.h"
#include "core/kernels/families.h"
#include "core/kernels/vector/common.h"
#include "core/kernels/vector/program.h"
#include "core/ops/broadcast_iterator.h"

namespace asc {
namespace {
constexpr TypeSet kToFloat = {DataType::kFloat16, DataType::kBFloat16, DataType::kInt32,
                              DataType::kInt8,    DataType::kUInt8,    DataType::kBool};
constexpr TypeSet kFromFloat = {DataType::kFloat16, DataType::kBFloat16, DataType::kInt32,
                                DataType::kBool};

class CastKernel : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    const auto* from = static_cast<const std::byte*>(x.raw());
    auto* to = static_cast<std::byte*>(y.raw());
    ParallelFor(x.size(), 2 * kElementGrain, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
      if (y.dtype() == DataType::kFloat32) {
        simd::ToFloats(x.dtype(), from + first * ElementSize(x.dtype()), y.data<float>() + first,
                       count);
      } else {
        simd::FromFloats(x.data<float>() + first, y.dtype(), to + first * ElementSize(y.dtype()),
                         count);
      }
    });
    return Ok();
  }
  std::string_view name() const override { return "vector:cast"; }
};

bool Supports(const KernelRequest& request) {
  const OperandDesc &x = request.inputs[0], &y = request.outputs[0];
  if (!simd::IsPlain(x) || !simd::IsPlain(y)) return false;
  return (simd::IsFloat(y) && kToFloat.Contains(x.dtype)) ||
         (simd::IsFloat(x) && kFromFloat.Contains(y.dtype));
}

Result<std::unique_ptr<Kernel>> MakeCast(const KernelRequest&) { return simd::Make<CastKernel>(); }
}  // namespace

void AddVectorCast(KernelTable& table) {
  table.push_back({"Cast", "", "vector.cast", Supports, nullptr, MakeCast});
  table.push_back({"CastLike", "", "vector.cast", Supports, nullptr, MakeCast});
}

}  // namespace asc
