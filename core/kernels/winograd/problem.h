// A 3x3 convolution with stride 1 cut into tiles for Winograd's algorithm F(m x m, 3 x 3): each
// tile of m x m outputs is made from (m+2)^2 inputs. In the domain of the transforms the
// convolution is (m+2)^2 matrix products, one for each point: transformed inputs [tiles, channels]
// times transformed weights [channels, outputs].
#ifndef ASC_CORE_KERNELS_WINOGRAD_PROBLEM_H_
#define ASC_CORE_KERNELS_WINOGRAD_PROBLEM_H_

#include <cstdint>

namespace asc::winograd {

constexpr int64_t kChannelBlock = 8;  // channels that stand together in transformed inputs
constexpr int64_t kStripe = 16;       // outputs that stand together in transformed weights
constexpr int64_t kMostTiles =
    28;  // tiles that are multiplied at a time: their sums fill the registers of AVX-512
constexpr int64_t kLine = 16;  // floats of a cache line

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Problem {
  int64_t images = 0, channels = 0, outputs = 0;
  int64_t rows = 0, columns = 0;          // of the input
  int64_t out_rows = 0, out_columns = 0;  // of the result
  int64_t pad_top = 0, pad_left = 0;
  int64_t c0 = 0;    // of both images, stored as NC1HWC0: 8 or 16
  int64_t tile = 0;  // m: 2 or 4

  int64_t tile_rows() const { return CeilDiv(out_rows, tile); }
  int64_t tile_columns() const { return CeilDiv(out_columns, tile); }
  int64_t tiles() const { return images * tile_rows() * tile_columns(); }
  int64_t points() const { return (tile + 2) * (tile + 2); }
  int64_t channel_blocks() const { return CeilDiv(channels, kChannelBlock); }
  int64_t stripes() const { return CeilDiv(outputs, kStripe); }

  // Transformed weights: [stripe][point][channel, padded to blocks][kStripe] floats.
  int64_t weight_stripe() const { return points() * channel_blocks() * kChannelBlock * kStripe; }
  // Transformed inputs of `count` tiles: [point][channel block][tile][kChannelBlock]; floats from
  // point to point. An odd number of cache lines, so that the points of a tile do not fall into the
  // same sets of the cache.
  int64_t input_step(int64_t count) const {
    return (CeilDiv(channel_blocks() * count * kChannelBlock, kLine) | 1) * kLine;
  }
  // Products of a stripe: [point][tile][kStripe]; floats from point to point.
  static int64_t product_step(int64_t count) { return (count | 1) * kStripe; }
};

// Tiles [first, first + count), counted row by row and image by image; count is at most kMostTiles.
struct TileRange {
  int64_t first, count;
};

// Where a tile stands.
struct TilePlace {
  TilePlace(const Problem& p, int64_t index)
      : image(index / (p.tile_rows() * p.tile_columns())),
        row(index / p.tile_columns() % p.tile_rows()),
        column(index % p.tile_columns()) {}
  void Next(const Problem& p) {
    if (++column < p.tile_columns()) return;
    column = 0;
    if (++row < p.tile_rows()) return;
    row = 0;
    ++image;
  }
  int64_t image, row, column;  // the latter in tiles
};

}  // namespace asc::winograd

#endif  // ASC_CORE_KERNELS_WINOGRAD_PROBLEM_H_
