#include "core/kernels/vector/upsample_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/upsample_conv_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// a[0], b[0], a[1], b[1]... at the place of the input elements.
HWY_INLINE void StorePairs(FullPlace<Floats> at, Vec a, Vec b, float* row) {
  hn::StoreInterleaved2(a, b, at.d, row + 2 * at.i);
}
HWY_INLINE void StorePairs(TailPlace<Floats> at, Vec a, Vec b, float* row) {
  HWY_ALIGN float pairs[2 * hn::MaxLanes(at.d)];
  hn::StoreInterleaved2(a, b, at.d, pairs);
  std::memcpy(row + 2 * at.i, pairs, 2 * at.count * sizeof(float));
}

// kOutputs channels of the output from `first` on, for one vector of pixels of an input row: as
// many sums as registers hold.
template <int kOutputs, class Place>
HWY_INLINE void MakeSquares(const UpsampleConv& p, Place at, int64_t row, int64_t first) {
  const Floats d;
  Vec sum[kOutputs][4];
#pragma GCC unroll 16
  for (int m = 0; m < kOutputs; ++m) {
#pragma GCC unroll 16
    for (int t = 0; t < 4; ++t)
      sum[m][t] = p.bias == nullptr ? hn::Zero(d) : hn::Set(d, p.bias[first + m]);
  }
  const float* weight = p.weight + first * 4;
  const float* x = p.x + row * p.columns;
  for (int64_t c = 0; c < p.channels; ++c, weight += p.outputs * 4, x += p.rows * p.columns) {
    const Vec pixel = at.Load(x);
#pragma GCC unroll 16
    for (int m = 0; m < kOutputs; ++m) {
#pragma GCC unroll 16
      for (int t = 0; t < 4; ++t)
        sum[m][t] = hn::MulAdd(pixel, hn::Set(d, weight[4 * m + t]), sum[m][t]);
    }
  }
#pragma GCC unroll 16
  for (int m = 0; m < kOutputs; ++m) {
    float* y = p.y + ((first + m) * 2 * p.rows + 2 * row) * 2 * p.columns;
    StorePairs(at, sum[m][0], sum[m][1], y);
    StorePairs(at, sum[m][2], sum[m][3], y + 2 * p.columns);
  }
}

void UpsampleConvLoop(const UpsampleConv& p, int64_t begin, int64_t end) {
#if HWY_TARGET == HWY_AVX3
  constexpr int kOutputs = 6;
#else
  constexpr int kOutputs = 3;
#endif
  for (int64_t row = begin; row < end; ++row) {
    ForVectors(Floats(), static_cast<size_t>(p.columns), [&](auto at) ASC_INLINE_LAMBDA {
      int64_t m = 0;
      for (; m + kOutputs <= p.outputs; m += kOutputs) MakeSquares<kOutputs>(p, at, row, m);
      for (; m < p.outputs; ++m) MakeSquares<1>(p, at, row, m);
    });
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(UpsampleConvLoop);

void ApplyUpsampleConv(const UpsampleConv& image, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(UpsampleConvLoop)(image, begin, end);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
