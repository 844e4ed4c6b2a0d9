// The matrix products between the transforms. All sums of up to kMostTiles tiles and one stripe
// stay in registers while the weights stream by once, in the order in which they lie in memory.
#include <array>
#include <utility>

#include "core/kernels/winograd/loops.h"
#include "hwy/cache_control.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/winograd/multiply_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::winograd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Weights are fetched that many channels ahead: they come from memory when a model is larger than
// the cache.
constexpr int64_t kAhead = 128;

// kRows tiles and kWidth outputs of a stripe. `step`: floats of a channel block of all tiles.
template <int64_t kWidth, int kRows>
void MultiplyRows(const float* v, int64_t step, int64_t blocks, const float* u, float* m) {
  const hn::CappedTag<float, kWidth> d;
  constexpr int kVectors = static_cast<int>(kWidth / hn::MaxLanes(d));
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  using V = hn::Vec<decltype(d)>;
  V sum[kRows][kVectors];
#pragma GCC unroll 32
  for (int t = 0; t < kRows; ++t) {
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) sum[t][k] = hn::Zero(d);
  }
  for (int64_t block = 0; block < blocks; ++block, v += step) {
#pragma GCC unroll 4
    for (int64_t c = 0; c < kChannelBlock; ++c, u += kStripe) {
      hwy::Prefetch(u + kAhead * kStripe);
      V weight[kVectors];
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; ++k) weight[k] = hn::Load(d, u + k * kLanes);
#pragma GCC unroll 32
      for (int t = 0; t < kRows; ++t) {
        const V x = hn::Set(d, v[t * kChannelBlock + c]);
#pragma GCC unroll 16
        for (int k = 0; k < kVectors; ++k) sum[t][k] = hn::MulAdd(x, weight[k], sum[t][k]);
      }
    }
  }
#pragma GCC unroll 32
  for (int t = 0; t < kRows; ++t) {
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) hn::Store(sum[t][k], d, m + t * kStripe + k * kLanes);
  }
}

// As many rows as leave registers for the weights and one input.
template <int64_t kWidth>
constexpr int MostRows() {
  constexpr int kVectors = static_cast<int>(kWidth / hn::MaxLanes(hn::CappedTag<float, kWidth>()));
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  constexpr int kRegisters = 32;
#else
  constexpr int kRegisters = 16;
#endif
  constexpr int kRows = (kRegisters - kVectors - 1) / kVectors;
  return kRows < 1 ? 1 : kRows > kMostTiles ? static_cast<int>(kMostTiles) : kRows;
}

using RowsFunction = void (*)(const float*, int64_t, int64_t, const float*, float*);
template <int64_t kWidth, size_t... kIndex>
constexpr std::array<RowsFunction, sizeof...(kIndex)> RowsFunctions(
    std::index_sequence<kIndex...> /*rows*/) {
  return {&MultiplyRows<kWidth, static_cast<int>(kIndex) + 1>...};
}

template <int64_t kWidth>
void MultiplyWidth(const Problem& p, int64_t count, const float* v, const float* u, float* m) {
  constexpr int64_t kMost = MostRows<kWidth>();
  static constexpr auto kFunctions =
      RowsFunctions<kWidth>(std::make_index_sequence<static_cast<size_t>(kMost)>());
  const int64_t step = count * kChannelBlock, blocks = p.channel_blocks(),
                groups = CeilDiv(count, kMost);
  for (int64_t point = 0; point < p.points(); ++point) {
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t row = group * count / groups, rows = (group + 1) * count / groups - row;
      kFunctions[static_cast<size_t>(rows - 1)](v + row * kChannelBlock, step, blocks, u,
                                                m + row * kStripe);
    }
    v += p.input_step(count);
    u += blocks * kChannelBlock * kStripe;
    m += Problem::product_step(count);
  }
}

int64_t LanesHere() { return static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<float, kStripe>())); }

void MultiplyLoop(const Problem& p, int64_t count, int64_t outputs, const float* v, const float* u,
                  float* m) {
  if (outputs > kStripe / 2) {
    MultiplyWidth<kStripe>(p, count, v, u, m);
  } else {
    MultiplyWidth<kStripe / 2>(p, count, v, u, m);
  }
}
}  // namespace asc::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::winograd {
HWY_EXPORT(LanesHere);
HWY_EXPORT(MultiplyLoop);

int64_t VectorLanes() { return HWY_DYNAMIC_DISPATCH(LanesHere)(); }

void Multiply(const Problem& p, int64_t stripe, int64_t count, const float* v, const float* u,
              float* m) {
  HWY_DYNAMIC_DISPATCH(MultiplyLoop)(p, count, p.outputs - stripe * kStripe, v, u, m);
}
}  // namespace asc::winograd
#endif  // HWY_ONCE
