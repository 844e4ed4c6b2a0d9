#include <algorithm>

#include "core/kernels/vector/depthwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/depthwise_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// One row of a plane: of its channels, those of one vector.
struct DepthwiseRow {
  const float* x;         // the first input row that the windows reach
  const float* weights;   // of that row of the window
  int64_t taps;           // rows of the window that are inside the image
  const float* bias;      // of these channels
  const float* residual;  // or null
  float* y;
  const Depthwise* p;
};

template <int kC0>
using BlockLanes = hn::CappedTag<float, static_cast<size_t>(kC0)>;

// kPixels pixels of the result from pixel `first` on, whose sums are in `sums`.
template <int kC0, int kPixels, class V>
HWY_INLINE void StorePixels(const DepthwiseRow& row, int64_t first, V (&sums)[kPixels]) {
  const BlockLanes<kC0> d;
  const Depthwise& p = *row.p;
  const V bias = hn::LoadU(d, row.bias);
  float* y = row.y + first * kC0;
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) sums[i] = hn::Add(sums[i], bias);
  if (row.residual != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i)
      sums[i] = hn::Add(sums[i], hn::LoadU(d, row.residual + (first + i) * kC0));
  }
  if (p.clamp) {
    const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) sums[i] = MinKeep(high, MaxKeep(low, sums[i]));
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) hn::StoreU(sums[i], d, y + i * kC0);
}

// Windows of kKernel columns at a distance of kStride, with weights that are finite. kEdge: windows
// may reach over the ends of the row, by less than a window.
template <int kC0, int kKernel, int kStride, int kPixels, bool kEdge>
void ConvolvePixels(const DepthwiseRow& row, int64_t first) {
  const BlockLanes<kC0> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kColumns = (kPixels - 1) * kStride + kKernel;
  const Depthwise& p = *row.p;
  const int64_t start = p.columns.Start(first), row_step = p.columns.input * kC0;
  V sums[kPixels];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) sums[i] = hn::Zero(d);
  const float *x = row.x + start * kC0, *w = row.weights;
  // Additions to one sum stand apart: each takes several cycles.
  const auto add_row = [&]() ASC_INLINE_LAMBDA {
    V pixels[kColumns];
#pragma GCC unroll 64
    for (int j = 0; j < kColumns; ++j) {
      const bool left = kEdge && j < kKernel - 1, right = kEdge && j > kColumns - kKernel;
      if ((left && start + j < 0) || (right && start + j >= p.columns.input)) {
        pixels[j] = hn::Zero(d);
      } else {
        pixels[j] = hn::LoadU(d, x + j * kC0);
      }
    }
#pragma GCC unroll 16
    for (int k = 0; k < kKernel; ++k) {
      const V weight = hn::LoadU(d, w + k * kC0);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i)
        sums[i] = hn::MulAdd(pixels[i * kStride + k], weight, sums[i]);
    }
    x += row_step;
    w += kKernel * kC0;
  };
  if (row.taps == kKernel) {
#pragma GCC unroll 8
    for (int tap = 0; tap < kKernel; ++tap) add_row();
  } else {
    for (int64_t tap = 0; tap < row.taps; ++tap) add_row();
  }
  StorePixels<kC0, kPixels>(row, first, sums);
}

// The part of the window of output `o` that is inside the image.
struct Taps {
  Taps(const WindowAxis& axis, int64_t o)
      : first(std::clamp<int64_t>(-axis.Start(o), 0, axis.kernel)),
        last(std::clamp(axis.input - axis.Start(o), first, axis.kernel)) {}
  int64_t first, last;
};

// Any window. With kPixels > 1 all columns of the windows have to be inside the image.
template <int kC0, int kPixels>
void ConvolveAnyPixels(const DepthwiseRow& row, int64_t first) {
  const BlockLanes<kC0> d;
  using V = hn::Vec<decltype(d)>;
  const WindowAxis& columns = row.p->columns;
  const int64_t step = columns.stride * kC0;
  const Taps taps(columns, first);
  V sums[kPixels];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) sums[i] = hn::Zero(d);
  for (int64_t tap = 0; tap < row.taps; ++tap) {
    const float* x = row.x + (tap * columns.input + columns.Start(first)) * kC0;
    const float* w = row.weights + tap * columns.kernel * kC0;
    for (int64_t k = taps.first; k < taps.last; ++k) {
      const V weight = hn::LoadU(d, w + k * kC0);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i)
        sums[i] = hn::MulAdd(hn::LoadU(d, x + k * kC0 + i * step), weight, sums[i]);
    }
  }
  StorePixels<kC0, kPixels>(row, first, sums);
}

// The outputs [first, last) whose windows are inside the row.
struct Inside {
  explicit Inside(const WindowAxis& axis)
      : first(std::min(axis.output, (axis.pad_begin + axis.stride - 1) / axis.stride)) {
    const int64_t most = axis.input + axis.pad_begin - axis.kernel;
    last = most < 0 ? first : std::clamp(most / axis.stride + 1, first, axis.output);
  }
  bool Has(int64_t o, int64_t count) const { return o >= first && o + count <= last; }
  int64_t first, last;
};

// Cuts a row into runs of pixels: of 8, or of 7 where that leaves no rest.
template <int kC0, int kKernel, int kStride>
void ConvolveRow(const DepthwiseRow& row, const Inside& inside) {
  const int64_t width = row.p->columns.output;
  int64_t o = 0;
  const auto run = [&]<int kPixels>() HWY_ATTR {
    for (; o + kPixels <= width; o += kPixels) {
      if (inside.Has(o, kPixels)) {
        ConvolvePixels<kC0, kKernel, kStride, kPixels, false>(row, o);
      } else {
        ConvolvePixels<kC0, kKernel, kStride, kPixels, true>(row, o);
      }
    }
  };
  if (width % 8 != 0 && width % 7 == 0) {
    run.template operator()<7>();
    return;
  }
  run.template operator()<8>();
  if (o + 4 <= width) run.template operator()<4>();
  for (; o < width; ++o) ConvolvePixels<kC0, kKernel, kStride, 1, true>(row, o);
}

template <int kC0>
void ConvolveAnyRow(const DepthwiseRow& row, const Inside& inside) {
  constexpr int kPixels = 8;
  for (int64_t o = 0; o < row.p->columns.output;) {
    if (inside.Has(o, kPixels)) {
      ConvolveAnyPixels<kC0, kPixels>(row, o);
      o += kPixels;
    } else {
      ConvolveAnyPixels<kC0, 1>(row, o++);
    }
  }
}

using RowFunction = void (*)(const DepthwiseRow&, const Inside&);
template <int kC0>
RowFunction RowFunctionOf(const WindowAxis& columns) {
  if (!IsUnrolled(columns)) return ConvolveAnyRow<kC0>;
  const bool two = columns.stride == 2;
  if (columns.kernel == 3) return two ? ConvolveRow<kC0, 3, 2> : ConvolveRow<kC0, 3, 1>;
  if (columns.kernel == 5) return two ? ConvolveRow<kC0, 5, 2> : ConvolveRow<kC0, 5, 1>;
  return ConvolveRow<kC0, 7, 1>;
}

template <int kC0>
void ConvolveRows(const Depthwise& p, const DepthwisePart& part) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(BlockLanes<kC0>()));
  const RowFunction convolve = RowFunctionOf<kC0>(p.columns);
  const Inside inside(p.columns);
  const int64_t row_size = p.columns.output * kC0, window_row = p.columns.kernel * kC0;
  HWY_ALIGN float bias[kC0];
  for (int64_t plane = part.first_plane; plane < part.last_plane; ++plane) {
    const int64_t block = plane % p.blocks, used = std::min<int64_t>(kC0, p.channels - block * kC0);
    std::fill_n(bias, kC0, 0.0f);
    if (p.bias != nullptr) std::copy_n(p.bias + block * kC0, used, bias);
    for (int64_t o = part.first_row; o < part.last_row; ++o) {
      const Taps taps(p.rows, o);
      const int64_t top = plane * p.rows.input + p.rows.Start(o) + taps.first;
      const int64_t at = (plane * p.rows.output + o) * row_size;
      const float* x = p.x + top * p.columns.input * kC0;
      const float* weights = p.weights + (block * p.rows.kernel + taps.first) * window_row;
      for (int64_t lane = 0; lane < kC0; lane += lanes) {
        convolve({x + lane, weights + lane, taps.last - taps.first, bias + lane,
                  p.residual == nullptr ? nullptr : p.residual + at + lane, p.y + at + lane, &p},
                 inside);
      }
      float* y = p.y + at;
      if (p.f.op != UnaryOp::kIdentity) ApplyUnary(p.f, y, y, row_size);
      for (int64_t i = 0; used < kC0 && i < row_size; i += kC0)
        std::fill(y + i + used, y + i + kC0, 0.0f);
    }
  }
}

void ConvolveDepthwiseLoop(const Depthwise& p, const DepthwisePart& part) {
  p.c0 == 8 ? ConvolveRows<8>(p, part) : ConvolveRows<16>(p, part);
}

bool MultipliesAndAddsHere() { return HWY_NATIVE_FMA != 0; }
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(ConvolveDepthwiseLoop);
HWY_EXPORT(MultipliesAndAddsHere);

bool MultipliesAndAdds() { return HWY_DYNAMIC_DISPATCH(MultipliesAndAddsHere)(); }

bool IsUnrolled(const WindowAxis& columns) {
  if (std::max(columns.pad_begin, columns.pad_end) >= columns.kernel) return false;
  if (columns.kernel == 3 || columns.kernel == 5) return columns.stride <= 2;
  return columns.kernel == 7 && columns.stride == 1;
}

void ConvolveDepthwise(const Depthwise& p, const DepthwisePart& part) {
  HWY_DYNAMIC_DISPATCH(ConvolveDepthwiseLoop)(p, part);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
