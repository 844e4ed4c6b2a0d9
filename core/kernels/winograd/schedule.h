// How the tiles of a convolution, and the work on them, are divided.
#ifndef ASC_CORE_KERNELS_WINOGRAD_SCHEDULE_H_
#define ASC_CORE_KERNELS_WINOGRAD_SCHEDULE_H_

#include <algorithm>
#include <cstddef>

#include "core/kernels/winograd/problem.h"

namespace asc::winograd {

// With fewer tiles for a thread, weights stream by too fast: threads take stripes of outputs
// instead.
constexpr int64_t kTilesPerThread = 14;

class Schedule {
 public:
  Schedule() = default;
  Schedule(const Problem& p, int threads) : tiles_(p.tiles()) {
    by_tiles_ = tiles_ >= kTilesPerThread * threads || p.stripes() < threads;
    workers_ = std::min<int64_t>(threads, by_tiles_ ? tiles_ : p.stripes());
    blocks_ = CeilDiv(tiles_, kMostTiles);
    if (by_tiles_) blocks_ = std::min(tiles_, CeilDiv(blocks_, workers_) * workers_);
    largest_ = CeilDiv(tiles_, blocks_);
    input_floats_ = p.input_step(largest_) * p.points();
    product_floats_ = Problem::product_step(largest_) * p.points();
  }

  // Every worker takes blocks of tiles as a whole; else all share the transformed inputs and each
  // takes stripes of outputs.
  bool by_tiles() const { return by_tiles_; }
  int64_t workers() const { return workers_; }
  int64_t blocks() const { return blocks_; }
  TileRange Block(int64_t i) const {
    const int64_t first = i * tiles_ / blocks_;
    return {first, (i + 1) * tiles_ / blocks_ - first};
  }

  size_t scratch_bytes() const {
    return static_cast<size_t>(inputs() * input_floats_ + workers_ * product_floats_) *
           sizeof(float);
  }
  // Transformed inputs of a worker, or of a block where they are shared.
  float* Inputs(std::byte* scratch, int64_t i) const {
    return reinterpret_cast<float*>(scratch) + i * input_floats_;
  }
  float* Products(std::byte* scratch, int64_t worker) const {
    return reinterpret_cast<float*>(scratch) + inputs() * input_floats_ + worker * product_floats_;
  }

 private:
  int64_t inputs() const { return by_tiles_ ? workers_ : blocks_; }

  int64_t tiles_ = 0, workers_ = 1, blocks_ = 1, largest_ = 0, input_floats_ = 0,
          product_floats_ = 0;
  bool by_tiles_ = true;
};

}  // namespace asc::winograd

#endif  // ASC_CORE_KERNELS_WINOGRAD_SCHEDULE_H_
