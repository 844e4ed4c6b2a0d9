#include <cstring>

#include "core/kernels/vector/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/resize_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// y[i] = x[columns.first[i]].
HWY_INLINE void TakeColumns(const ResizeTable& columns, const float* x, float* y) {
  const Floats d;
  const size_t lanes = hn::Lanes(d), outputs = columns.first.size();
  size_t i = 0;
  if (columns.factor == 2) {
    for (; i + 2 * lanes <= outputs; i += 2 * lanes) {
      const Vec v = hn::LoadU(d, x + i / 2);
      hn::StoreInterleaved2(v, v, d, y + i);
    }
  } else if (columns.factor == 4) {
    for (; i + 4 * lanes <= outputs; i += 4 * lanes) {
      const Vec v = hn::LoadU(d, x + i / 4);
      hn::StoreInterleaved4(v, v, v, v, d, y + i);
    }
  }
  for (; i < outputs; ++i) y[i] = x[columns.first[i]];
}

// The same for pixels of one or more whole vectors.
template <class D>
HWY_INLINE void TakePixels(D d, const ResizeTable& columns, size_t c0, const float* x, float* y) {
  for (const int32_t column : columns.first) {
    const float* from = x + static_cast<size_t>(column) * c0;
    for (size_t i = 0; i < c0; i += hn::Lanes(d)) hn::StoreU(hn::LoadU(d, from + i), d, y + i);
    y += c0;
  }
}

void ResizeNearestLoop(const ResizeTable& rows, const ResizeTable& columns, size_t c0,
                       const float* x, float* y, size_t begin, size_t end) {
  const size_t in = static_cast<size_t>(columns.input) * c0, out = columns.first.size() * c0;
  for (size_t r = begin; r < end; ++r) {
    float* to = y + r * out;
    const float* from = x + static_cast<size_t>(rows.first[r]) * in;
    if (r > begin && rows.first[r] == rows.first[r - 1]) {
      std::memcpy(to, to - out, out * sizeof(float));
    } else if (c0 == 1) {
      TakeColumns(columns, from, to);
    } else if (c0 == 8) {
      TakePixels(hn::CappedTag<float, 8>(), columns, c0, from, to);
    } else {
      TakePixels(hn::CappedTag<float, 16>(), columns, c0, from, to);
    }
  }
}

// p a + q b, where an element without weight does not count even if it is NaN or infinite.
template <class V>
HWY_INLINE V Blend(V a, V p, V b, V q) {
  const V zero = hn::Xor(p, p);
  return hn::Add(hn::IfThenElseZero(hn::Ne(p, zero), hn::Mul(a, p)),
                 hn::IfThenElseZero(hn::Ne(q, zero), hn::Mul(b, q)));
}

HWY_INLINE void BlendColumns(const ResizeTable& columns, const float* line, float* y) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const size_t lanes = hn::Lanes(d), outputs = columns.first.size();
  size_t i = 0;
  for (; i + lanes <= outputs; i += lanes) {
    const Vec a = hn::GatherIndex(d, line, hn::LoadU(di, columns.first.data() + i));
    const Vec b = hn::GatherIndex(d, line, hn::LoadU(di, columns.second.data() + i));
    hn::StoreU(Blend(a, hn::LoadU(d, columns.first_weight.data() + i), b,
                     hn::LoadU(d, columns.second_weight.data() + i)),
               d, y + i);
  }
  for (; i < outputs; ++i) {
    const float p = columns.first_weight[i], q = columns.second_weight[i];
    y[i] = (p != 0 ? p * line[columns.first[i]] : 0) + (q != 0 ? q * line[columns.second[i]] : 0);
  }
}

template <class D>
HWY_INLINE void BlendPixels(D d, const ResizeTable& columns, size_t c0, const float* top, float p,
                            const float* bottom, float q, float* y) {
  const auto pv = hn::Set(d, p), qv = hn::Set(d, q);
  for (size_t i = 0; i < columns.first.size(); ++i, y += c0) {
    const size_t left = static_cast<size_t>(columns.first[i]) * c0,
                 right = static_cast<size_t>(columns.second[i]) * c0;
    const auto lv = hn::Set(d, columns.first_weight[i]), rv = hn::Set(d, columns.second_weight[i]);
    for (size_t k = 0; k < c0; k += hn::Lanes(d)) {
      const auto a = Blend(hn::LoadU(d, top + left + k), pv, hn::LoadU(d, bottom + left + k), qv);
      const auto b = Blend(hn::LoadU(d, top + right + k), pv, hn::LoadU(d, bottom + right + k), qv);
      hn::StoreU(Blend(a, lv, b, rv), d, y + k);
    }
  }
}

void ResizeLinearLoop(const ResizeTable& rows, const ResizeTable& columns, size_t c0,
                      const float* x, float* y, size_t begin, size_t end, float* line) {
  const size_t in = static_cast<size_t>(columns.input) * c0, out = columns.first.size() * c0;
  for (size_t r = begin; r < end; ++r) {
    const float* top = x + static_cast<size_t>(rows.first[r]) * in;
    const float* bottom = x + static_cast<size_t>(rows.second[r]) * in;
    const float p = rows.first_weight[r], q = rows.second_weight[r];
    float* to = y + r * out;
    if (c0 == 8) {
      BlendPixels(hn::CappedTag<float, 8>(), columns, c0, top, p, bottom, q, to);
    } else if (c0 == 16) {
      BlendPixels(hn::CappedTag<float, 16>(), columns, c0, top, p, bottom, q, to);
    } else {
      const Floats d;
      const Vec pv = hn::Set(d, p), qv = hn::Set(d, q);
      ForVectors(d, in, [&](auto at) ASC_INLINE_LAMBDA {
        at.Store(Blend(at.Load(top), pv, at.Load(bottom), qv), line);
      });
      BlendColumns(columns, line, to);
    }
  }
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(ResizeNearestLoop);
HWY_EXPORT(ResizeLinearLoop);

void ResizeNearest(const ResizeTable& rows, const ResizeTable& columns, int64_t c0, const float* x,
                   float* y, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(ResizeNearestLoop)
  (rows, columns, static_cast<size_t>(c0), x, y, static_cast<size_t>(begin),
   static_cast<size_t>(end));
}
void ResizeLinear(const ResizeTable& rows, const ResizeTable& columns, int64_t c0, const float* x,
                  float* y, int64_t begin, int64_t end, float* line) {
  HWY_DYNAMIC_DISPATCH(ResizeLinearLoop)
  (rows, columns, static_cast<size_t>(c0), x, y, static_cast<size_t>(begin),
   static_cast<size_t>(end), line);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
