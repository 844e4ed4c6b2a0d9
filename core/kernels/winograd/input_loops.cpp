// The transforms of inputs and of weights.
#include <algorithm>
#include <cstring>

#include "core/kernels/winograd/loops.h"
#include "core/ops/block_transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/winograd/input_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::winograd::HWY_NAMESPACE {
constexpr int kBlock = static_cast<int>(kChannelBlock);
using Lanes = hn::CappedTag<float, static_cast<size_t>(kBlock)>;
using Vec = hn::Vec<Lanes>;

// A tile of inputs whose pixels stand `row` and `column` floats apart. Point i goes to v + i *
// step.
template <int kTile>
HWY_INLINE void TransformTile(const float* x, int64_t row, int64_t column, float* v, int64_t step) {
  constexpr int kSize = kTile + 2;
  const Lanes d;
#pragma GCC unroll 2
  for (size_t lane = 0; lane < kChannelBlock; lane += hn::Lanes(d)) {
    Vec half[kSize][kSize];
#pragma GCC unroll 8
    for (int j = 0; j < kSize; ++j) {
      Vec pixels[kSize], points[kSize];
#pragma GCC unroll 8
      for (int i = 0; i < kSize; ++i) pixels[i] = hn::LoadU(d, x + i * row + j * column + lane);
      Transform<kTile>::Input(d, pixels, points);
#pragma GCC unroll 8
      for (int i = 0; i < kSize; ++i) half[i][j] = points[i];
    }
#pragma GCC unroll 8
    for (int i = 0; i < kSize; ++i) {
      Vec points[kSize];
      Transform<kTile>::Input(d, half[i], points);
#pragma GCC unroll 8
      for (int j = 0; j < kSize; ++j) hn::Store(points[j], d, v + (i * kSize + j) * step + lane);
    }
  }
}

template <int kTile>
void InputLoop(const Problem& p, const float* x, TileRange tiles, int64_t begin, int64_t end,
               float* v) {
  constexpr int64_t kSize = kTile + 2;
  const int64_t row_step = p.columns * p.c0, plane = p.rows * row_step,
                image_step = CeilDiv(p.channels, p.c0) * plane;
  const int64_t step = p.input_step(tiles.count);
  HWY_ALIGN float padded[kSize * kSize * kChannelBlock];
  for (int64_t block = begin; block < end; ++block) {
    const int64_t channel = block * kChannelBlock;
    const float* source = x + channel / p.c0 * plane + channel % p.c0;
    float* target = v + block * tiles.count * kChannelBlock;
    TilePlace place(p, tiles.first);
    for (int64_t t = 0; t < tiles.count; ++t, target += kChannelBlock, place.Next(p)) {
      const int64_t top = place.row * kTile - p.pad_top, left = place.column * kTile - p.pad_left;
      const float* image = source + place.image * image_step;
      if (top >= 0 && left >= 0 && top + kSize <= p.rows && left + kSize <= p.columns) {
        TransformTile<kTile>(image + top * row_step + left * p.c0, row_step, p.c0, target, step);
        continue;
      }
      const int64_t first_row = std::clamp<int64_t>(-top, 0, kSize),
                    last_row = std::clamp<int64_t>(p.rows - top, 0, kSize);
      const int64_t first = std::clamp<int64_t>(-left, 0, kSize),
                    last = std::clamp<int64_t>(p.columns - left, 0, kSize);
      std::fill_n(padded, kSize * kSize * kChannelBlock, 0.0f);
      for (int64_t i = first_row; i < last_row; ++i) {
        for (int64_t j = first; j < last; ++j) {
          std::memcpy(padded + (i * kSize + j) * kChannelBlock,
                      image + (top + i) * row_step + (left + j) * p.c0,
                      kChannelBlock * sizeof(float));
        }
      }
      TransformTile<kTile>(padded, kSize * kChannelBlock, kChannelBlock, target, step);
    }
  }
}

// taps[i][k] = filters[k * filter + i] for i below `taps_count`, where `count` filters stand `filter` floats apart.
HWY_INLINE void TransposeFilters(const float* filters, int64_t filter, int64_t count,
                                 int64_t taps_count, float (*taps)[kStripe]) {
  constexpr int64_t kSide = kBlockSide<sizeof(float)>;
  const int64_t block_taps = taps_count / kSide * kSide, block_count = count / kSide * kSide;
  for (int64_t k = 0; k < block_count; k += kSide) {
    for (int64_t i = 0; i < block_taps; i += kSide) {
      TransposeBlock<sizeof(float)>(reinterpret_cast<const char*>(filters + k * filter + i),
                                    filter * static_cast<int64_t>(sizeof(float)),
                                    reinterpret_cast<char*>(taps[i] + k), sizeof(taps[0]));
    }
  }
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t i = k < block_count ? block_taps : 0; i < taps_count; ++i)
      taps[i][k] = filters[k * filter + i];
  }
}

// A block of channels at a time: its points are gathered in the L1 cache, and leave it as runs of
// whole lines. The distance from point to point is often a multiple of a page, whose lines push each other out
// of the cache when they are written one by one.
template <int kTile>
void WeightLoop(const Problem& p, const float* filters, int64_t count, float* u) {
  constexpr int kSize = kTile + 2;
  const hn::CappedTag<double, static_cast<size_t>(kBlock)> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const hn::ScalableTag<float> wide;
  using V = hn::Vec<decltype(d)>;
  const int64_t step = p.channel_blocks() * kChannelBlock * kStripe;
  HWY_ALIGN float taps[kBlock * 9][kStripe] = {};
  HWY_ALIGN float block[kSize * kSize][kBlock * kStripe];
  for (int64_t first = 0; first < p.channels; first += kBlock, u += kBlock * kStripe) {
    const int64_t channels = std::min<int64_t>(kBlock, p.channels - first);
    TransposeFilters(filters + first * 9, p.channels * 9, count, channels * 9, taps);
    std::fill(taps[0] + channels * 9 * kStripe, taps[0] + kBlock * 9 * kStripe, 0.0f);
    for (int64_t at = 0; at < kBlock * kStripe; at += static_cast<int64_t>(hn::Lanes(d))) {
      const float* tap = taps[at / kStripe * 9] + at % kStripe;
      V half[kSize][3];
      for (int j = 0; j < 3; ++j) {
        V column[3], points[kSize];
        for (int i = 0; i < 3; ++i)
          column[i] = hn::PromoteTo(d, hn::LoadU(narrow, tap + (i * 3 + j) * kStripe));
        Transform<kTile>::Weight(d, column, points);
        for (int i = 0; i < kSize; ++i) half[i][j] = points[i];
      }
      for (int i = 0; i < kSize; ++i) {
        V points[kSize];
        Transform<kTile>::Weight(d, half[i], points);
        for (int j = 0; j < kSize; ++j)
          hn::StoreU(hn::DemoteTo(narrow, points[j]), narrow, block[i * kSize + j] + at);
      }
    }
    for (int point = 0; point < kSize * kSize; ++point) {
      for (int64_t i = 0; i < kBlock * kStripe; i += static_cast<int64_t>(hn::Lanes(wide)))
        hn::Stream(hn::Load(wide, block[point] + i), wide, u + point * step + i);
    }
  }
  // Other threads read them.
  hwy::FlushStream();
}

void TransformInputLoop(const Problem& p, const float* x, TileRange tiles, int64_t begin,
                        int64_t end, float* v) {
  p.tile == 4 ? InputLoop<4>(p, x, tiles, begin, end, v) : InputLoop<2>(p, x, tiles, begin, end, v);
}
void TransformWeightLoop(const Problem& p, const float* filters, int64_t count, float* u) {
  p.tile == 4 ? WeightLoop<4>(p, filters, count, u) : WeightLoop<2>(p, filters, count, u);
}
}  // namespace asc::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::winograd {
HWY_EXPORT(TransformInputLoop);
HWY_EXPORT(TransformWeightLoop);

void TransformInput(const Problem& p, const float* x, TileRange tiles, int64_t begin, int64_t end,
                    float* v) {
  HWY_DYNAMIC_DISPATCH(TransformInputLoop)(p, x, tiles, begin, end, v);
}
void TransformWeights(const Problem& p, const float* filters, int64_t count, float* u) {
  HWY_DYNAMIC_DISPATCH(TransformWeightLoop)(p, filters, count, u);
}
}  // namespace asc::winograd
#endif  // HWY_ONCE
