// The transforms of inputs and of weights.
#include <algorithm>
#include <cstring>

#include "core/kernels/winograd/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/winograd/input_loops.cpp"
#include "core/kernels/vector/targets.h"
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

template <int kTile>
void WeightLoop(const Problem& p, const float* filters, int64_t count, float* u) {
  constexpr int kSize = kTile + 2;
  const hn::CappedTag<double, static_cast<size_t>(kBlock)> d;
  const hn::Rebind<float, decltype(d)> narrow;
  using V = hn::Vec<decltype(d)>;
  const int64_t step = p.channel_blocks() * kChannelBlock * kStripe;
  HWY_ALIGN double taps[9][kStripe] = {};
  for (int64_t c = 0; c < p.channels; ++c, u += kStripe) {
    for (int64_t k = 0; k < count; ++k) {
      for (int i = 0; i < 9; ++i)
        taps[i][k] = static_cast<double>(filters[(k * p.channels + c) * 9 + i]);
    }
    for (size_t lane = 0; lane < kStripe; lane += hn::Lanes(d)) {
      V half[kSize][3];
      for (int j = 0; j < 3; ++j) {
        V column[3], points[kSize];
        for (int i = 0; i < 3; ++i) column[i] = hn::Load(d, taps[i * 3 + j] + lane);
        Transform<kTile>::Weight(d, column, points);
        for (int i = 0; i < kSize; ++i) half[i][j] = points[i];
      }
      for (int i = 0; i < kSize; ++i) {
        V points[kSize];
        Transform<kTile>::Weight(d, half[i], points);
        for (int j = 0; j < kSize; ++j) {
          hn::StoreU(hn::DemoteTo(narrow, points[j]), narrow, u + (i * kSize + j) * step + lane);
        }
      }
    }
  }
  for (int64_t c = p.channels; c < p.channel_blocks() * kChannelBlock; ++c, u += kStripe) {
    for (int64_t point = 0; point < p.points(); ++point)
      std::fill_n(u + point * step, kStripe, 0.0f);
  }
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
