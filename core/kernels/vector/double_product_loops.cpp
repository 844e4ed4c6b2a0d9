// Panels of b are packed for a block of its depth; tiles of rows of a go over them with their sums in registers.
#include <algorithm>

#include "core/kernels/vector/double_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/double_product_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;
constexpr size_t kVectors = 2;  // of a row of a tile
constexpr int64_t kColumns = static_cast<int64_t>(kVectors * hn::MaxLanes(Doubles()));
constexpr int64_t kDepth = 256;                            // a panel fits in the first-level cache
constexpr int64_t kRows = HWY_TARGET == HWY_AVX3 ? 8 : 6;  // as many sums as there are registers

// c[rows, columns] = or += a[rows, depth] * panel.
template <int64_t rows>
HWY_INLINE void MultiplyTile(const double* a, int64_t a_row, int64_t depth, const double* panel,
                             bool add, int64_t columns, double* c, int64_t c_row) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<Doubles> sums[rows][kVectors];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (int64_t p = 0; p < depth; ++p) {
    const double* from = panel + p * kColumns;
    const auto b0 = hn::Load(d, from), b1 = hn::Load(d, from + lanes);
#pragma GCC unroll 8
    for (int64_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(d, a[r * a_row + p]);
      sums[r][0] = hn::MulAdd(factor, b0, sums[r][0]);
      sums[r][1] = hn::MulAdd(factor, b1, sums[r][1]);
    }
  }
  HWY_ALIGN double row[kColumns];
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r) {
    hn::Store(sums[r][0], d, row);
    hn::Store(sums[r][1], d, row + lanes);
    double* to = c + r * c_row;
    for (int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + row[j] : row[j];
  }
}

void MultiplyLoop(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c,
                  int64_t first, int64_t last) {
  HWY_ALIGN double panel[kDepth * kColumns];
  for (int64_t column = first; column < last; column += kColumns) {
    const int64_t columns = std::min(kColumns, last - column);
    for (int64_t start = 0; start == 0 || start < k; start += kDepth) {
      const int64_t depth = std::min(kDepth, k - start);
      for (int64_t p = 0; p < depth; ++p) {
        double* to = panel + p * kColumns;
        std::copy_n(b + (start + p) * n + column, columns, to);
        std::fill(to + columns, to + kColumns, 0.0);
      }
      const bool add = start > 0;
      const double* from = a + start;
      double* to = c + column;
      int64_t i = 0;
      for (; i + kRows <= m; i += kRows)
        MultiplyTile<kRows>(from + i * k, k, depth, panel, add, columns, to + i * n, n);
      for (; i + 3 <= m; i += 3)
        MultiplyTile<3>(from + i * k, k, depth, panel, add, columns, to + i * n, n);
      for (; i < m; ++i)
        MultiplyTile<1>(from + i * k, k, depth, panel, add, columns, to + i * n, n);
    }
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(MultiplyLoop);

void MultiplyDoubles(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c,
                     int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(MultiplyLoop)(m, n, k, a, b, c, first, last);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
