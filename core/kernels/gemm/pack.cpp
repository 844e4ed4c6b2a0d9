#include <algorithm>
#include <cstring>

#include "core/kernels/gemm/micro_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/gemm/pack.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Four neighbours from each of as many places, `away` elements apart, as fit into a vector.
template <class D>
HWY_INLINE hn::Vec<D> LoadFours(D d, const float* from, int64_t away) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr auto kPlaces = static_cast<int64_t>(hn::MaxLanes(hn::Half<D>()) / 4);
    return hn::Combine(d, LoadFours(half, from + kPlaces * away, away),
                       LoadFours(half, from, away));
  }
}

// Rows [0, 4) of as many columns as D has lanes, where elements of a column are neighbours and
// columns are `column_stride` apart; rows go to `to`, `width` apart.
template <class D>
HWY_INLINE void PackFourRows(D d, const float* from, int64_t column_stride, int64_t width,
                             float* to) {
  const hn::Repartition<uint64_t, D> wide;
  // Register i has columns i, 4 + i, 8 + i...: transposing each block of four by four puts them in order.
  const auto a = LoadFours(d, from, 4 * column_stride);
  const auto b = LoadFours(d, from + column_stride, 4 * column_stride);
  const auto c = LoadFours(d, from + 2 * column_stride, 4 * column_stride);
  const auto e = LoadFours(d, from + 3 * column_stride, 4 * column_stride);
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b)),
             ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b)),
             ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e)),
             ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d, to + 3 * width);
}

#endif  // HWY_TARGET != HWY_SCALAR

// A panel: `count` rows of `columns` columns, filled up with zeros to `width`.
HWY_INLINE void PackPanel(const float* from, int64_t row_stride, int64_t column_stride,
                          int64_t count, int64_t columns, int64_t width, float* to) {
  if (column_stride == 1 && columns == width) {
    for (int64_t i = 0; i < count; ++i, from += row_stride, to += width)
      std::memcpy(to, from, static_cast<size_t>(width) * sizeof(float));
    return;
  }
  int64_t block_rows = 0, block_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  // Whole vectors of columns, then fours.
  const auto pack = [&](auto d) HWY_ATTR {
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(decltype(d)()));
    for (; block_columns + kLanes <= columns; block_columns += kLanes) {
      const int64_t j = block_columns;
      for (int64_t i = 0; i < block_rows; i += 4)
        PackFourRows(d, from + j * column_stride + i, column_stride, width, to + i * width + j);
    }
  };
  if (row_stride == 1) {
    block_rows = count / 4 * 4;
    pack(hn::ScalableTag<float>());
    pack(hn::CappedTag<float, 4>());
  }
#endif
  for (int64_t i = 0; i < count; ++i) {
    float* row = to + i * width;
    for (int64_t j = i < block_rows ? block_columns : 0; j < columns; ++j)
      row[j] = from[i * row_stride + j * column_stride];
    std::fill(row + columns, row + width, 0.0f);
  }
}

void PackPanels(const float* b, int64_t row_stride, int64_t column_stride, int64_t k, int64_t n,
                int64_t first, int64_t count, int64_t width, float* packed) {
  for (int64_t column = 0; column < n; column += width) {
    PackPanel(b + column * column_stride, row_stride, column_stride, count,
              std::min(width, n - column), width, packed + column * k + first * width);
  }
}
}  // namespace asc::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::gemm {
HWY_EXPORT(PackPanels);

void Pack(const float* b, int64_t row_stride, int64_t column_stride, int64_t k, int64_t n,
          int64_t first, int64_t count, float* packed) {
  HWY_DYNAMIC_DISPATCH(PackPanels)
  (b, row_stride, column_stride, k, n, first, count, Tiles().width, packed);
}
}  // namespace asc::gemm
#endif  // HWY_ONCE
