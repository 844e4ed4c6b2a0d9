#include "core/kernels/gemm/weights.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/kernels/gemm/micro_kernel.h"
#include "core/kernels/lazy_weight.h"

namespace asc::gemm {
namespace {
constexpr int64_t kPackGrain = 1 << 15;  // floats

struct Weight {
  int64_t k, n;
  bool transposed;
};

// Packs the rows, or where the weight is transposed, the columns [begin, end), which stand at `from`.
void PackRange(const Weight& w, const float* from, int64_t begin, int64_t end, float* packed) {
  const int64_t width = Tiles().width;
  if (!w.transposed) {
    ParallelFor(end - begin, std::max<int64_t>(1, kPackGrain / w.n),
                [&](int64_t first, int64_t last) {
                  Pack(from + first * w.n, w.n, 1, w.k, w.n, begin + first, last - first, packed);
                });
    return;
  }
  // `begin` is a multiple of a panel's width.
  const int64_t panels = (end - begin + width - 1) / width;
  ParallelFor(panels, std::max<int64_t>(1, kPackGrain / (width * w.k)),
              [&](int64_t first, int64_t last) {
                const int64_t column = first * width;
                Pack(from + column * w.k, 1, w.k, w.k, std::min(last * width, end - begin) - column,
                     0, w.k, packed + (begin + column) * w.k);
              });
}

Status PackInSlices(const std::shared_ptr<Allocator>& allocator, const Tensor& weight,
                    const Weight& w, float* packed) {
  const int64_t rows = w.transposed ? w.n : w.k, row = w.transposed ? w.k : w.n,
                width = Tiles().width;
  const auto row_bytes = static_cast<size_t>(row) * sizeof(float);
  const int64_t most = std::min(kLargeSliceBytes, kLazySliceBytes * CurrentThreads());
  const int64_t slice =
      std::max<int64_t>(1, most / static_cast<int64_t>(row_bytes) / width) * width;
  ASC_ASSIGN_OR_RETURN(
      const std::shared_ptr<Buffer> plain,
      AllocateSlice(allocator, static_cast<size_t>(std::min(slice, rows)) * row_bytes));
  for (int64_t begin = 0; begin < rows; begin += slice) {
    const int64_t end = std::min(begin + slice, rows);
    CopyOnTeam(weight, static_cast<size_t>(begin) * row_bytes,
               static_cast<size_t>(end - begin) * row_bytes, plain->data());
    PackRange(w, reinterpret_cast<const float*>(plain->data()), begin, end, packed);
  }
  return Ok();
}
}  // namespace

Result<std::shared_ptr<Buffer>> PackWeight(PackedConstants& constants, const Tensor& weight,
                                           int64_t k, int64_t n, bool transposed) {
  const Weight w{k, n, transposed};
  const size_t bytes = static_cast<size_t>(PackedCount(k, n)) * sizeof(float);
  const std::string form = Cat("gemm:", k, "x", n, transposed ? "t" : "", ":", Tiles().width);
  return constants.GetOrMake(
      weight, form, bytes,
      [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
        ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed,
                             Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
        auto* to = reinterpret_cast<float*>(packed->data());
        if (weight.is_lazy()) {
          ASC_RETURN_IF_ERROR(PackInSlices(allocator, weight, w, to));
        } else {
          PackRange(w, static_cast<const float*>(weight.raw()), 0, transposed ? n : k, to);
        }
        return packed;
      });
}

}  // namespace asc::gemm
