// The transform of products into the result, with bias, residual and activation.
#include <algorithm>
#include <cstring>

#include "core/kernels/winograd/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/winograd/output_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/unary-inl.h"
#include "core/kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::winograd::HWY_NAMESPACE {
using Lanes = hn::CappedTag<float, static_cast<size_t>(kChannelBlock)>;
using Vec = hn::Vec<Lanes>;
namespace ops = simd::HWY_NAMESPACE;

// One tile of a block of channels, or of the lanes of it that one vector holds.
struct Tile {
  const float* m;         // the first point
  int64_t step;           // from point to point
  float* y;               // the first pixel
  const float* residual;  // likewise, or null
  int64_t row, column;    // from pixel to pixel
  int64_t rows, columns;  // pixels inside the image
};

// Gives false, and stores nothing, where a sum is not finite.
template <int kTile, class Activate>
HWY_INLINE bool StoreTile(const Tile& tile, const float* bias, Activate activate) {
  constexpr int kSize = kTile + 2;
  const Lanes d;
  Vec half[kTile][kSize], sums[kTile][kTile];
#pragma GCC unroll 8
  for (int j = 0; j < kSize; ++j) {
    Vec points[kSize], pixels[kTile];
#pragma GCC unroll 8
    for (int i = 0; i < kSize; ++i) points[i] = hn::Load(d, tile.m + (i * kSize + j) * tile.step);
    Transform<kTile>::Output(d, points, pixels);
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) half[i][j] = pixels[i];
  }
  const Vec zero = hn::Zero(d), shift = hn::LoadU(d, bias);
  Vec check = zero;  // zero, and NaN where a sum is not finite
#pragma GCC unroll 8
  for (int i = 0; i < kTile; ++i) {
    Transform<kTile>::Output(d, half[i], sums[i]);
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j) check = hn::MulAdd(sums[i][j], zero, check);
  }
  if (!hn::AllTrue(d, hn::Eq(check, check))) return false;
  if (tile.rows == kTile && tile.columns == kTile) {
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kTile; ++j) {
        const int64_t at = i * tile.row + j * tile.column;
        Vec sum = hn::Add(sums[i][j], shift);
        if (tile.residual != nullptr) sum = hn::Add(sum, hn::LoadU(d, tile.residual + at));
        hn::StoreU(activate(d, sum), d, tile.y + at);
      }
    }
    return true;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTile; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j) {
      if (i >= tile.rows || j >= tile.columns) continue;
      const int64_t at = i * tile.row + j * tile.column;
      Vec sum = hn::Add(sums[i][j], shift);
      if (tile.residual != nullptr) sum = hn::Add(sum, hn::LoadU(d, tile.residual + at));
      hn::StoreU(activate(d, sum), d, tile.y + at);
    }
  }
  return true;
}

// The same with any activation, over the rows of the stored tile.
template <int kTile>
bool StoreTileAnd(const Tile& tile, const float* bias, const simd::UnaryCall& f) {
  if (!StoreTile<kTile>(tile, bias, ops::IdentityOp{})) return false;
  const Lanes d;
  ops::VisitUnary(f, [&](auto op) HWY_ATTR {
    for (int64_t i = 0; i < tile.rows; ++i) {
      for (int64_t j = 0; j < tile.columns; ++j) {
        float* pixel = tile.y + i * tile.row + j * tile.column;
        hn::StoreU(op(d, hn::LoadU(d, pixel)), d, pixel);
      }
    }
  });
  return true;
}

// The padding of a block of channels: lanes from `used` on.
void ClearLanes(const Tile& tile, int64_t used) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t j = 0; j < tile.columns; ++j) {
      float* pixel = tile.y + i * tile.row + j * tile.column;
      std::fill(pixel + used, pixel + kChannelBlock, 0.0f);
    }
  }
}

template <int kTile>
void OutputLoop(const Problem& p, TileRange tiles, int64_t stripe, const float* m,
                const Epilogue& e, float* y, RedoTile redo) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Lanes()));
  const int64_t row_step = p.out_columns * p.c0, plane = p.out_rows * row_step;
  const int64_t blocks = CeilDiv(p.outputs, p.c0), first_channel = stripe * kStripe;
  const int64_t last_channel = std::min(blocks * p.c0, first_channel + kStripe);
  HWY_ALIGN float bias[kStripe] = {};
  if (e.bias != nullptr)
    std::copy_n(e.bias + first_channel, std::min(kStripe, p.outputs - first_channel), bias);
  for (int64_t channel = first_channel; channel < last_channel; channel += kChannelBlock) {
    const int64_t within = channel - first_channel,
                  used = std::clamp<int64_t>(p.outputs - channel, 0, kChannelBlock);
    const int64_t offset = channel / p.c0 * plane + channel % p.c0;
    TilePlace place(p, tiles.first);
    for (int64_t t = 0; t < tiles.count; ++t, place.Next(p)) {
      const int64_t row = place.row * kTile, column = place.column * kTile;
      const int64_t at = place.image * blocks * plane + offset + row * row_step + column * p.c0;
      const Tile tile{m + t * kStripe + within,
                      Problem::product_step(tiles.count),
                      y + at,
                      e.residual == nullptr ? nullptr : e.residual + at,
                      row_step,
                      p.c0,
                      std::min<int64_t>(kTile, p.out_rows - row),
                      std::min<int64_t>(kTile, p.out_columns - column)};
      for (int64_t lane = 0; lane < used; lane += lanes) {
        Tile part = tile;
        part.m += lane;
        part.y += lane;
        if (part.residual != nullptr) part.residual += lane;
        const float* shift = bias + within + lane;
        const bool finite =
            e.f.op == simd::UnaryOp::kIdentity ? StoreTile<kTile>(part, shift, ops::IdentityOp{})
            : e.f.op == simd::UnaryOp::kRelu   ? StoreTile<kTile>(part, shift, ops::ReluOp{})
                                               : StoreTileAnd<kTile>(part, shift, e.f);
        if (!finite) redo(tiles.first + t, channel + lane, std::min(lanes, used - lane));
      }
      if (used < kChannelBlock) ClearLanes(tile, used);
    }
  }
}

void TransformOutputLoop(const Problem& p, TileRange tiles, int64_t stripe, const float* m,
                         const Epilogue& e, float* y, RedoTile redo) {
  p.tile == 4 ? OutputLoop<4>(p, tiles, stripe, m, e, y, redo)
              : OutputLoop<2>(p, tiles, stripe, m, e, y, redo);
}
}  // namespace asc::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::winograd {
HWY_EXPORT(TransformOutputLoop);

void TransformOutput(const Problem& p, TileRange tiles, int64_t stripe, const float* m,
                     const Epilogue& epilogue, float* y, RedoTile redo) {
  HWY_DYNAMIC_DISPATCH(TransformOutputLoop)(p, tiles, stripe, m, epilogue, y, redo);
}
}  // namespace asc::winograd
#endif  // HWY_ONCE
