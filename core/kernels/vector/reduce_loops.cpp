#include <algorithm>
#include <cmath>

#include "core/kernels/vector/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/reduce_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
// A reduction is join(map(x[0]), map(x[1]), ...) and Finish of the total and the number of
// elements.
struct PlainSum {
  static constexpr bool kIsSum = true;
  template <class V>
  HWY_INLINE V Map(V x) const {
    return x;
  }
  double MapExact(double x) const { return x; }
  double Finish(double total, double) const { return total; }
};
struct MeanSum : PlainSum {
  double Finish(double total, double count) const { return total / count; }
};
struct AbsSum : PlainSum {
  template <class V>
  HWY_INLINE V Map(V x) const {
    return hn::Abs(x);
  }
  double MapExact(double x) const { return std::fabs(x); }
};
struct SquareSum : PlainSum {
  template <class V>
  HWY_INLINE V Map(V x) const {
    return hn::Mul(x, x);
  }
  double MapExact(double x) const { return x * x; }
};
struct NormSum : SquareSum {
  double Finish(double total, double) const { return std::sqrt(total); }
};
template <bool kMax>
struct Extreme {
  static constexpr bool kIsSum = false;
  static constexpr float kStart = kMax ? -INFINITY : INFINITY;
  template <class V>
  HWY_INLINE V Join(V a, V b) const {
    return kMax ? MaxNan(a, b) : MinNan(a, b);
  }
};

template <class Visitor>
HWY_INLINE void VisitReduce(ReduceOp op, Visitor&& visit) {
  switch (op) {
    case ReduceOp::kL1:
      return visit(AbsSum());
    case ReduceOp::kL2:
      return visit(NormSum());
    case ReduceOp::kMax:
      return visit(Extreme<true>());
    case ReduceOp::kMean:
      return visit(MeanSum());
    case ReduceOp::kMin:
      return visit(Extreme<false>());
    case ReduceOp::kSum:
      return visit(PlainSum());
    case ReduceOp::kSumSquare:
      return visit(SquareSum());
  }
}

// Sums of numbers near the end of float32's range, where partial sums overflow though the result
// need not.
template <class Op>
HWY_NOINLINE float ExactSum(Op op, const float* x, size_t n, size_t stride) {
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += op.MapExact(x[i * stride]);
  return static_cast<float>(op.Finish(total, static_cast<double>(n)));
}

template <bool kMax>
HWY_INLINE float ExtremeOfRow(Floats d, const float* x, size_t n) {
  const Extreme<kMax> op;
  const auto same = [](auto v) ASC_INLINE_LAMBDA { return v; };
  const auto join = [&](auto a, auto b) ASC_INLINE_LAMBDA { return op.Join(a, b); };
  const Vec best = ReduceVectors(d, x, n, hn::Set(d, op.kStart), same, join);
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(best)))) return NAN;
  return hn::GetLane(kMax ? hn::MaxOfLanes(d, best) : hn::MinOfLanes(d, best));
}
HWY_INLINE float ReduceRow(Extreme<true>, Floats d, const float* x, size_t n) {
  return ExtremeOfRow<true>(d, x, n);
}
HWY_INLINE float ReduceRow(Extreme<false>, Floats d, const float* x, size_t n) {
  return ExtremeOfRow<false>(d, x, n);
}
template <class Op>
HWY_INLINE float ReduceRow(Op op, Floats d, const float* x, size_t n) {
  const double total = SumOf(d, x, n, [&](auto v) ASC_INLINE_LAMBDA { return op.Map(v); });
  if (!std::isfinite(total)) return ExactSum(op, x, n, 1);
  return static_cast<float>(op.Finish(total, static_cast<double>(n)));
}

void ReduceRowsLoop(ReduceOp op, const float* x, float* y, int64_t rows, size_t n) {
  VisitReduce(op, [&](auto reduce) HWY_ATTR {
    for (int64_t row = 0; row < rows; ++row)
      y[row] = ReduceRow(reduce, Floats(), x + static_cast<size_t>(row) * n, n);
  });
}

// The reduction of the columns at one place: in `chains` of rows that do not wait for each other.
template <bool kMax, class Place>
HWY_INLINE void ReduceColumn(Extreme<kMax> op, Floats d, Place at, const float* x, float* y,
                             size_t n, size_t stride) {
  Vec a = hn::Set(d, op.kStart), b = a;
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    a = op.Join(a, at.Load(x + i * stride));
    b = op.Join(b, at.Load(x + (i + 1) * stride));
  }
  if (i < n) a = op.Join(a, at.Load(x + i * stride));
  at.Store(op.Join(a, b), y);
}
template <class Op, class Place>
HWY_INLINE void ReduceColumn(Op op, Floats d, Place at, const float* x, float* y, size_t n,
                             size_t stride) {
  Vec total = hn::Zero(d);
  for (size_t i = 0; i < n;) {
    // Partial sums keep rounding errors from growing with n.
    const size_t end = std::min(n, i + 256);
    Vec a = hn::Zero(d), b = a, c = a, e = a;
    for (; i + 4 <= end; i += 4) {
      a = hn::Add(a, op.Map(at.Load(x + i * stride)));
      b = hn::Add(b, op.Map(at.Load(x + (i + 1) * stride)));
      c = hn::Add(c, op.Map(at.Load(x + (i + 2) * stride)));
      e = hn::Add(e, op.Map(at.Load(x + (i + 3) * stride)));
    }
    for (; i < end; ++i) a = hn::Add(a, op.Map(at.Load(x + i * stride)));
    total = hn::Add(total, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(total, d, lanes);
  for (size_t lane = 0; lane < at.Count(); ++lane) {
    y[at.i + lane] = std::isfinite(lanes[lane])
                         ? static_cast<float>(op.Finish(lanes[lane], static_cast<double>(n)))
                         : ExactSum(op, x + at.i + lane, n, stride);
  }
}

void ReduceColumnsLoop(ReduceOp op, const float* x, float* y, size_t n, size_t stride,
                       size_t columns) {
  const Floats d;
  VisitReduce(op, [&](auto reduce) HWY_ATTR {
    ForVectors(d, columns,
               [&](auto at) ASC_INLINE_LAMBDA { ReduceColumn(reduce, d, at, x, y, n, stride); });
  });
}

template <bool kMax>
int64_t ArgOfRow(const float* x, size_t n) {
  const Floats d;
  const float best = ExtremeOfRow<kMax>(d, x, n);
  const bool nan = std::isnan(best);
  const Vec wanted = hn::Set(d, best);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const Vec v = hn::LoadU(d, x + i);
    if (!hn::AllFalse(d, nan ? hn::IsNaN(v) : hn::Eq(v, wanted))) break;
  }
  while (nan ? !std::isnan(x[i]) : x[i] != best) ++i;
  return static_cast<int64_t>(i);
}
void ArgRowsLoop(bool largest, const float* x, int64_t* y, int64_t rows, size_t n) {
  for (int64_t row = 0; row < rows; ++row, x += n)
    y[row] = largest ? ArgOfRow<true>(x, n) : ArgOfRow<false>(x, n);
}

template <bool kMax>
HWY_INLINE void ArgOfColumns(const float* x, int64_t* y, size_t n, size_t stride, size_t columns) {
  const Floats d;
  const Ints<Floats> di;
  ForVectors(d, columns, [&](auto at) ASC_INLINE_LAMBDA {
    Vec best = at.Load(x);
    auto place = hn::Zero(di);
    for (size_t i = 1; i < n; ++i) {
      const Vec v = at.Load(x + i * stride);
      // False for NaN, which so becomes the best, and stays it.
      const auto behind = kMax ? hn::Le(v, best) : hn::Ge(v, best);
      const auto keep = hn::Or(behind, hn::IsNaN(best));
      best = hn::IfThenElse(keep, best, v);
      place = hn::IfThenElse(hn::RebindMask(di, keep), place, hn::Set(di, static_cast<int32_t>(i)));
    }
    HWY_ALIGN int32_t places[hn::MaxLanes(di)];
    hn::Store(place, di, places);
    for (size_t lane = 0; lane < at.Count(); ++lane) y[at.i + lane] = places[lane];
  });
}
void ArgColumnsLoop(bool largest, const float* x, int64_t* y, size_t n, size_t stride,
                    size_t columns) {
  largest ? ArgOfColumns<true>(x, y, n, stride, columns)
          : ArgOfColumns<false>(x, y, n, stride, columns);
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(ReduceRowsLoop);
HWY_EXPORT(ReduceColumnsLoop);
HWY_EXPORT(ArgRowsLoop);
HWY_EXPORT(ArgColumnsLoop);

void ReduceRows(ReduceOp op, const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(ReduceRowsLoop)(op, x, y, rows, static_cast<size_t>(n));
}
void ReduceColumns(ReduceOp op, const float* x, float* y, int64_t n, int64_t stride,
                   int64_t columns) {
  HWY_DYNAMIC_DISPATCH(ReduceColumnsLoop)
  (op, x, y, static_cast<size_t>(n), static_cast<size_t>(stride), static_cast<size_t>(columns));
}
void ArgRows(bool largest, const float* x, int64_t* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(ArgRowsLoop)(largest, x, y, rows, static_cast<size_t>(n));
}
void ArgColumns(bool largest, const float* x, int64_t* y, int64_t n, int64_t stride,
                int64_t columns) {
  HWY_DYNAMIC_DISPATCH(ArgColumnsLoop)
  (largest, x, y, static_cast<size_t>(n), static_cast<size_t>(stride),
   static_cast<size_t>(columns));
}
}  // namespace asc::simd
#endif  // HWY_ONCE
