#include "core/kernels/winograd/redo.h"

#include <algorithm>

namespace asc::winograd {
namespace {
constexpr int64_t kTaps = 9;
constexpr int64_t kAtOnce = 32;      // input channels whose weights are read at a time
constexpr int64_t kMostPixels = 16;  // of a tile
}  // namespace

void ConvolveTile(const Problem& p, const float* x, const Tensor& weight, const Epilogue& epilogue,
                  int64_t tile, int64_t channel, int64_t count, float* y) {
  const TilePlace place(p, tile);
  const int64_t top = place.row * p.tile, left = place.column * p.tile;
  const int64_t rows = std::min(p.tile, p.out_rows - top),
                columns = std::min(p.tile, p.out_columns - left);
  double sums[kMostPixels][kChannelBlock] = {};
  float taps[kChannelBlock][kAtOnce * kTaps];
  for (int64_t first = 0; first < p.channels; first += kAtOnce) {
    const int64_t part = std::min(kAtOnce, p.channels - first);
    for (int64_t k = 0; k < count; ++k) {
      weight.CopyBytes(
          static_cast<size_t>(((channel + k) * p.channels + first) * kTaps) * sizeof(float),
          static_cast<size_t>(part * kTaps) * sizeof(float), reinterpret_cast<std::byte*>(taps[k]));
    }
    for (int64_t c = 0; c < part; ++c) {
      const int64_t in = first + c;
      const float* plane =
          x + ((place.image * CeilDiv(p.channels, p.c0) + in / p.c0) * p.rows * p.columns) * p.c0 +
          in % p.c0;
      for (int64_t pixel = 0; pixel < rows * columns; ++pixel) {
        const int64_t row = top + pixel / columns - p.pad_top,
                      column = left + pixel % columns - p.pad_left;
        for (int64_t i = std::max<int64_t>(0, -row); i < std::min<int64_t>(3, p.rows - row); ++i) {
          for (int64_t j = std::max<int64_t>(0, -column);
               j < std::min<int64_t>(3, p.columns - column); ++j) {
            const auto value =
                static_cast<double>(plane[((row + i) * p.columns + column + j) * p.c0]);
            for (int64_t k = 0; k < count; ++k)
              sums[pixel][k] += value * static_cast<double>(taps[k][c * kTaps + i * 3 + j]);
          }
        }
      }
    }
  }
  for (int64_t pixel = 0; pixel < rows * columns; ++pixel) {
    const int64_t row = top + pixel / columns, column = left + pixel % columns;
    const int64_t at =
        (((place.image * CeilDiv(p.outputs, p.c0) + channel / p.c0) * p.out_rows + row) *
             p.out_columns +
         column) *
            p.c0 +
        channel % p.c0;
    float results[kChannelBlock];
    for (int64_t k = 0; k < count; ++k) {
      results[k] = static_cast<float>(sums[pixel][k]);
      if (epilogue.bias != nullptr) results[k] += epilogue.bias[channel + k];
      if (epilogue.residual != nullptr) results[k] += epilogue.residual[at + k];
    }
    simd::ApplyUnary(epilogue.f, results, y + at, count);
  }
}

}  // namespace asc::winograd
