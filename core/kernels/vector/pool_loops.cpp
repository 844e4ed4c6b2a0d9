#include <algorithm>
#include <cmath>

#include "core/kernels/vector/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/pool_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/reduce-inl.h"

#ifndef ASC_POOL_LINE
#define ASC_POOL_LINE
namespace asc::simd {
// A line of columns that were pooled over rows, with its padding: as much as stays in the nearest
// cache.
constexpr int64_t kPoolLine = 2048;
}  // namespace asc::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// For finite elements, in one instruction.
struct FiniteMaxJoin {
  static constexpr float kStart = -INFINITY;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return MaxKeep(a, b);
  }
  static float One(float a, float b) { return a > b ? a : b; }
};
struct MaxJoin {
  static constexpr float kStart = -INFINITY;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return MaxNan(a, b);
  }
  static float One(float a, float b) { return std::isnan(a) || a > b ? a : b; }
};
struct SumJoin {
  static constexpr float kStart = 0;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
  static float One(float a, float b) { return a + b; }
};

// line[i * stride] for the lanes i; reads up to 2 * Lanes elements.
template <class D>
HWY_INLINE hn::Vec<D> LoadStride2([[maybe_unused]] D d, const float* line) {
#if HWY_TARGET == HWY_SCALAR
  return hn::LoadU(d, line);
#else
  return hn::ConcatEven(d, hn::LoadU(d, line + hn::Lanes(d)), hn::LoadU(d, line));
#endif
}

// y[o] = the join of line[o * stride + k * dilation] over k. The line is readable 2 * Lanes
// elements past its end.
template <class Join>
HWY_INLINE void JoinColumns(Join join, const PoolAxis& axis, const float* line, float* y,
                            int64_t outputs) {
  const Floats d;
  const auto n = static_cast<size_t>(outputs);
  const int64_t reach = axis.kernel * axis.dilation;
  if (axis.stride == 1) {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      Vec v = hn::LoadU(d, line + at.i);
      for (int64_t k = axis.dilation; k < reach; k += axis.dilation)
        v = join(v, hn::LoadU(d, line + at.i + k));
      at.Store(v, y);
    });
  } else if (axis.stride == 2) {
    ForVectors(d, n, [&](auto at) ASC_INLINE_LAMBDA {
      Vec v = LoadStride2(d, line + 2 * at.i);
      for (int64_t k = axis.dilation; k < reach; k += axis.dilation)
        v = join(v, LoadStride2(d, line + 2 * at.i + k));
      at.Store(v, y);
    });
  } else {
    for (int64_t o = 0; o < outputs; ++o) {
      float v = line[o * axis.stride];
      for (int64_t k = axis.dilation; k < reach; k += axis.dilation)
        v = join.One(v, line[o * axis.stride + k]);
      y[o] = v;
    }
  }
}

template <class Join>
HWY_INLINE void PoolPlaneWith(Join join, const Pool& pool, const float* x, float* y) {
  const Floats d;
  const PoolAxis &rows = pool.rows, &columns = pool.columns;
  HWY_ALIGN float line[kPoolLine + 2 * hn::MaxLanes(d)];
  // The outputs whose windows fit into the line together.
  const int64_t most = (kPoolLine - columns.Span()) / columns.stride + 1;
  for (int64_t left = 0; left < columns.output; left += most) {
    const int64_t outputs = std::min(most, columns.output - left);
    // The line stands for the input columns [begin, begin + length); those outside of the input are
    // padding.
    const int64_t begin = left * columns.stride - columns.pad;
    const int64_t length = (outputs - 1) * columns.stride + columns.Span();
    const int64_t from = std::clamp<int64_t>(begin, 0, columns.input);
    const int64_t to = std::clamp<int64_t>(begin + length, from, columns.input);
    std::fill(line, line + (from - begin), join.kStart);
    std::fill(line + (to - begin), line + length + 2 * hn::Lanes(d), join.kStart);
    for (int64_t o = 0; o < rows.output; ++o) {
      const auto row = static_cast<size_t>(o);
      const float* top = x + rows.first[row] * columns.input + from;
      const int64_t step = rows.dilation * columns.input;
      ForVectors(d, static_cast<size_t>(to - from), [&](auto at) ASC_INLINE_LAMBDA {
        Vec v = hn::Set(d, join.kStart);
        for (int64_t k = 0; k < rows.taps[row]; ++k) v = join(v, at.Load(top + k * step));
        at.Store(v, line + (from - begin));
      });
      float* out = y + o * columns.output + left;
      JoinColumns(join, columns, line, out, outputs);
      if (pool.max) continue;
      const float* counted = columns.counted.data() + left;
      const Vec of_row = hn::Set(d, rows.counted[row]);
      ForVectors(d, static_cast<size_t>(outputs), [&](auto at) ASC_INLINE_LAMBDA {
        at.Store(hn::Div(at.Load(out), hn::Mul(of_row, at.Load(counted))), out);
      });
    }
  }
}

void PoolPlaneLoop(const Pool& pool, const float* x, float* y) {
  if (pool.max) {
    if (AllFinite(x, static_cast<size_t>(pool.rows.input * pool.columns.input))) {
      PoolPlaneWith(FiniteMaxJoin(), pool, x, y);
    } else {
      PoolPlaneWith(MaxJoin(), pool, x, y);
    }
  } else {
    PoolPlaneWith(SumJoin(), pool, x, y);
  }
}

// The join of rows x columns taps.
template <class D, class Join>
HWY_INLINE hn::Vec<D> JoinTaps(D d, Join join, const float* x, size_t line, size_t step,
                               int64_t rows, int64_t columns) {
  auto v = hn::Set(d, join.kStart);
  for (int64_t i = 0; i < rows; ++i, x += line) {
    for (int64_t k = 0; k < columns; ++k)
      v = join(v, hn::LoadU(d, x + static_cast<size_t>(k) * step));
  }
  return v;
}
// The common ones without loops and in independent parts.
template <class D, class Join>
HWY_INLINE hn::Vec<D> JoinRow3(D d, Join join, const float* x, size_t step) {
  return join(join(hn::LoadU(d, x), hn::LoadU(d, x + step)), hn::LoadU(d, x + 2 * step));
}
template <class D, class Join>
HWY_INLINE hn::Vec<D> Join3x3(D d, Join join, const float* x, size_t line, size_t step) {
  return join(join(JoinRow3(d, join, x, step), JoinRow3(d, join, x + line, step)),
              JoinRow3(d, join, x + 2 * line, step));
}
template <class D, class Join>
HWY_INLINE hn::Vec<D> Join2x2(D d, Join join, const float* x, size_t line, size_t step) {
  return join(join(hn::LoadU(d, x), hn::LoadU(d, x + step)),
              join(hn::LoadU(d, x + line), hn::LoadU(d, x + line + step)));
}

// One row of outputs.
template <class D, class Join>
HWY_INLINE void PoolPixelsOfRow(D d, Join join, const Pool& pool, size_t r, size_t c0,
                                const float* x, float* y) {
  const PoolAxis &rows = pool.rows, &columns = pool.columns;
  const size_t step = static_cast<size_t>(columns.dilation) * c0;
  const size_t line = static_cast<size_t>(rows.dilation * columns.input) * c0;
  const int64_t taps_r = rows.taps[r];
  for (size_t c = 0; c < static_cast<size_t>(columns.output); ++c, y += c0) {
    const float* first =
        x + static_cast<size_t>(rows.first[r] * columns.input + columns.first[c]) * c0;
    const int64_t taps_c = columns.taps[c];
    for (size_t part = 0; part < c0; part += hn::Lanes(d)) {
      hn::Vec<D> v;
      if (taps_r == 3 && taps_c == 3) {
        v = Join3x3(d, join, first + part, line, step);
      } else if (taps_r == 2 && taps_c == 2) {
        v = Join2x2(d, join, first + part, line, step);
      } else {
        v = JoinTaps(d, join, first + part, line, step, taps_r, taps_c);
      }
      if (!pool.max) v = hn::Div(v, hn::Set(d, rows.counted[r] * columns.counted[c]));
      hn::StoreU(v, d, y + part);
    }
  }
}

template <class D>
HWY_INLINE void PoolPixelsOf(D d, const Pool& pool, size_t c0, const float* x, float* y) {
  const PoolAxis& rows = pool.rows;
  const size_t width = static_cast<size_t>(pool.columns.input) * c0,
               out = static_cast<size_t>(pool.columns.output) * c0;
  // Rows before `checked` are known; the last of them with NaN or infinity is `wild`.
  int64_t checked = 0, wild = -1;
  for (size_t r = 0; r < static_cast<size_t>(rows.output); ++r, y += out) {
    if (!pool.max) {
      PoolPixelsOfRow(d, SumJoin(), pool, r, c0, x, y);
      continue;
    }
    const int64_t first = rows.first[r];
    for (checked = std::max(checked, first); checked <= first + (rows.taps[r] - 1) * rows.dilation;
         ++checked) {
      if (!AllFinite(x + static_cast<size_t>(checked) * width, width)) wild = checked;
    }
    if (wild >= first) {
      PoolPixelsOfRow(d, MaxJoin(), pool, r, c0, x, y);
    } else {
      PoolPixelsOfRow(d, FiniteMaxJoin(), pool, r, c0, x, y);
    }
  }
}

void PoolPixelsLoop(const Pool& pool, size_t c0, const float* x, float* y) {
  // Vectors no longer than a pixel.
  if (c0 == 8) {
    PoolPixelsOf(hn::CappedTag<float, 8>(), pool, c0, x, y);
  } else {
    PoolPixelsOf(hn::CappedTag<float, 16>(), pool, c0, x, y);
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(PoolPlaneLoop);
HWY_EXPORT(PoolPixelsLoop);

PoolAxis::PoolAxis(const WindowAxis& axis, bool count_padding)
    : input(axis.input),
      output(axis.output),
      kernel(axis.kernel),
      stride(axis.stride),
      dilation(axis.dilation),
      pad(axis.pad_begin) {
  for (int64_t o = 0; o < output; ++o) {
    int64_t begin = 0, end = 0;
    axis.TapRange(o, 0, input, &begin, &end);
    first.push_back(end > begin ? axis.Start(o) + begin * dilation : 0);
    taps.push_back(end - begin);
    // What a last window reads beyond the padding (ceil_mode) is never counted.
    if (count_padding) axis.TapRange(o, -axis.pad_begin, input + axis.pad_end, &begin, &end);
    counted.push_back(static_cast<float>(std::max<int64_t>(1, end - begin)));
  }
}

bool FitsPoolPlane(const Pool& pool) {
  return pool.columns.Span() <= kPoolLine / 2 && pool.columns.stride <= kPoolLine / 2;
}
void PoolPlane(const Pool& pool, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(PoolPlaneLoop)(pool, x, y);
}
void PoolPixels(const Pool& pool, int64_t c0, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(PoolPixelsLoop)(pool, static_cast<size_t>(c0), x, y);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
