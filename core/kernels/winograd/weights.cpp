#include "core/kernels/winograd/weights.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/base/strings.h"
#include "core/kernels/lazy_weight.h"
#include "core/kernels/winograd/loops.h"

namespace asc::winograd {
namespace {
constexpr std::string_view kFormPrefix = "winograd:";
}  // namespace

bool IsPackedForm(std::string_view form) { return form.starts_with(kFormPrefix); }

Result<std::shared_ptr<Buffer>> PackWeights(const Problem& p, PackedConstants& constants,
                                            const Tensor& weight) {
  const auto bytes = static_cast<size_t>(p.stripes() * p.weight_stripe()) * sizeof(float);
  const auto make =
      [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed,
                         Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
    const int64_t filter = p.channels * 9,
                  workers = std::min<int64_t>(CurrentThreads(), p.stripes());
    // Of a lazy weight every worker has one stripe at a time in memory.
    const auto stripe_bytes = static_cast<size_t>(kStripe * filter) * sizeof(float);
    std::shared_ptr<Buffer> plain;
    if (weight.is_lazy()) {
      ASC_ASSIGN_OR_RETURN(plain,
                           AllocateSlice(allocator, static_cast<size_t>(workers) * stripe_bytes));
    }
    ParallelFor(workers, 1, [&](int64_t begin, int64_t end) {
      for (int64_t stripe = begin * p.stripes() / workers; stripe < end * p.stripes() / workers;
           ++stripe) {
        const int64_t first = stripe * kStripe, count = std::min(kStripe, p.outputs - first);
        const float* filters = nullptr;
        if (plain) {
          std::byte* part = plain->data() + static_cast<size_t>(begin) * stripe_bytes;
          weight.CopyBytes(static_cast<size_t>(first * filter) * sizeof(float),
                           static_cast<size_t>(count * filter) * sizeof(float), part);
          filters = reinterpret_cast<const float*>(part);
        } else {
          filters = weight.data<float>() + first * filter;
        }
        TransformWeights(p, filters, count,
                         reinterpret_cast<float*>(packed->data()) + stripe * p.weight_stripe());
      }
    });
    return packed;
  };
  const std::string form =
      Cat(kFormPrefix, p.tile == 4 ? "f4x4" : "f2x2", ":", p.outputs, "x", p.channels);
  return constants.GetOrMake(weight, form, bytes, make);
}

}  // namespace asc::winograd
