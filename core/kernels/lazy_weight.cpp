#include "core/kernels/lazy_weight.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace asc {

void CopyOnTeam(const Tensor& weight, size_t begin, size_t count, std::byte* to) {
  // Parts of that many bytes hold whole elements of any type.
  constexpr size_t kPart = 64 << 10;
  const size_t parts = (count + kPart - 1) / kPart;
  ParallelFor(static_cast<int64_t>(parts), 4, [&](int64_t first, int64_t last) {
    const size_t from = static_cast<size_t>(first) * kPart,
                 end = std::min(static_cast<size_t>(last) * kPart, count);
    weight.CopyBytes(begin + from, end - from, to + from);
  });
}

}  // namespace asc
