// Parts of row loops, for any Highway target. A row loop runs a whole wide segment of a vector
// program: its parts are the segment's instructions, chosen at compile time, so that a vector stays
// in a register from the first to the last and nothing is interpreted between them. Reductions have
// four partial results, which hide the latency of joining.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_PROGRAM_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_PROGRAM_ROWS_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_PROGRAM_ROWS_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_PROGRAM_ROWS_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "core/kernels/vector/binary-inl.h"
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/program.h"
#include "core/kernels/vector/program_steps-inl.h"
#include "core/kernels/vector/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

// A part has
//   Matches(instruction): whether it is what the instruction does;
//   a constructor from the call and the instruction;
//   Begin(), before each row; Step<K>(place, a), what becomes of the vector a at a place, K of 0 to
//   3 counting the vectors that go on side by side (one alone is 1 or 3); Fold(), after a chunk of
//   the row;
//   End(call, row), after each row.
//   kLong: whether it is so many instructions that vectors need not go on side by side.
struct RowPart {
  static constexpr bool kLong = false;
  HWY_INLINE void Begin() {}
  HWY_INLINE void Fold() {}
  HWY_INLINE void End(const RowLoopCall&, int64_t) {}
};

// Operands: one element for a row, or one for each of its places.
struct RowScalar {
  static constexpr bool kScalar = true;
  const float* at;
  int64_t stride;
  Vec value;
  HWY_INLINE RowScalar(const RowLoopCall& call, int operand)
      : at(call.frame->base[operand]), stride(call.frame->strides[operand]) {}
  HWY_INLINE void Begin() { value = hn::Set(Floats(), *at); }
  HWY_INLINE void End() { at += stride; }
  template <class Place>
  HWY_INLINE Vec Load(Place) const {
    return value;
  }
};
struct RowMoving {
  static constexpr bool kScalar = false;
  float* at;
  int64_t stride;
  HWY_INLINE RowMoving(const RowLoopCall& call, int operand)
      : at(call.frame->base[operand]), stride(call.frame->strides[operand]) {}
  HWY_INLINE void Begin() {}
  HWY_INLINE void End() { at += stride; }
  template <class Place>
  HWY_INLINE Vec Load(Place place) const {
    return place.Load(at);
  }
};

// op(a, x).
template <ProgramStep kStep, VectorOp kOp, class Op, class X>
struct OneOperandPart : RowPart {
  X x;
  static bool Matches(const ProgramInstruction& made) {
    return made.step == kStep && made.op == kOp && made.x_scalar == X::kScalar;
  }
  HWY_INLINE OneOperandPart(const RowLoopCall& call, const ProgramInstruction& made)
      : x(call, made.x) {}
  HWY_INLINE void Begin() { x.Begin(); }
  HWY_INLINE void End(const RowLoopCall&, int64_t) { x.End(); }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    return Op()(Floats(), a, x.Load(place));
  }
};
// op(a, x, y).
template <ProgramStep kStep, class Op, class X, class Y>
struct TwoOperandPart : RowPart {
  X x;
  Y y;
  static bool Matches(const ProgramInstruction& made) {
    return made.step == kStep && made.x_scalar == X::kScalar && made.y_scalar == Y::kScalar;
  }
  HWY_INLINE TwoOperandPart(const RowLoopCall& call, const ProgramInstruction& made)
      : x(call, made.x), y(call, made.y) {}
  HWY_INLINE void Begin() { x.Begin(), y.Begin(); }
  HWY_INLINE void End(const RowLoopCall&, int64_t) { x.End(), y.End(); }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    return Op()(Floats(), a, x.Load(place), y.Load(place));
  }
};
template <VectorOp kOp, class Op, bool kNotPositive = false>
struct UnaryPart : RowPart {
  static constexpr bool kLong = kOp == VectorOp::kExp;
  static bool Matches(const ProgramInstruction& made) {
    return made.step == ProgramStep::kUnary && made.op == kOp && made.not_positive == kNotPositive;
  }
  Op op;
  HWY_INLINE UnaryPart(const RowLoopCall&, const ProgramInstruction& made) : op{made.a, made.b} {}
  template <int K, class Place>
  HWY_INLINE Vec Step(Place, Vec a) {
    return op(Floats(), a);
  }
};
struct StorePart : RowPart {
  static bool Matches(const ProgramInstruction& made) { return made.step == ProgramStep::kStore; }
  RowMoving to;
  HWY_INLINE StorePart(const RowLoopCall& call, const ProgramInstruction& made)
      : to(call, made.x) {}
  HWY_INLINE void End(const RowLoopCall&, int64_t) { to.End(); }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    place.Store(a, to.at);
    return a;
  }
};

// Four vectors that the place K of 0 to 3 tells apart.
struct RowPartials {
  Vec v0, v1, v2, v3;
  HWY_INLINE void Fill(Vec v) { v0 = v1 = v2 = v3 = v; }
  template <int K>
  HWY_INLINE Vec& At() {
    if constexpr (K == 0) return v0;
    if constexpr (K == 1) return v1;
    if constexpr (K == 2) return v2;
    if constexpr (K == 3) return v3;
  }
  template <class Join>
  HWY_INLINE Vec Joined(Join join) const {
    return join(join(v0, v1), join(v2, v3));
  }
};

// The sum of map(a); Fold goes on in double.
struct SumPartBase : RowPart {
  RowPartials partials;
  double sum;
  int reduction;
  bool mean;
  HWY_INLINE SumPartBase(const RowLoopCall& call, const ProgramInstruction& made)
      : reduction(made.reduction),
        mean(call.reductions[made.reduction].op == VectorOp::kReduceMean) {}
  HWY_INLINE void Begin() {
    partials.Fill(hn::Zero(Floats()));
    sum = 0;
  }
  template <int K, class Place>
  HWY_INLINE void Gather(Place place, Vec a) {
    Vec& partial = partials.At<K>();
    partial = hn::Add(partial, place.Keep(a, hn::Zero(Floats())));
  }
  HWY_INLINE void Fold() {
    const auto add = [](Vec p, Vec q) ASC_INLINE_LAMBDA { return hn::Add(p, q); };
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(Floats(), partials.Joined(add))));
    partials.Fill(hn::Zero(Floats()));
  }
  HWY_INLINE void End(const RowLoopCall& call, int64_t row) {
    call.to[reduction][row] = static_cast<float>(mean ? sum / static_cast<double>(call.n) : sum);
  }
};
struct SumPart : SumPartBase {
  HWY_INLINE SumPart(const RowLoopCall& call, const ProgramInstruction& made)
      : SumPartBase(call, made) {}
  static bool Matches(const ProgramInstruction& made) {
    return made.step == ProgramStep::kReduce &&
           (made.op == VectorOp::kReduceSum || made.op == VectorOp::kReduceMean);
  }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    Gather<K>(place, a);
    return a;
  }
};
struct SquaredSumPart : SumPartBase {
  RowScalar x;
  static bool Matches(const ProgramInstruction& made) {
    return made.step == ProgramStep::kSquaredSum;
  }
  HWY_INLINE SquaredSumPart(const RowLoopCall& call, const ProgramInstruction& made)
      : SumPartBase(call, made), x(call, made.x) {}
  HWY_INLINE void Begin() {
    SumPartBase::Begin();
    x.Begin();
  }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    const Vec off = hn::Sub(a, x.value);
    Gather<K>(place, hn::Mul(off, off));
    return a;
  }
  HWY_INLINE void End(const RowLoopCall& call, int64_t row) {
    SumPartBase::End(call, row);
    x.End();
  }
};

// Where a or b is NaN: one instruction on x86.
HWY_INLINE hn::Mask<Floats> Unordered(Vec a, Vec b) {
#if HWY_TARGET == HWY_AVX3
  return hn::Mask<Floats>{_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_UNORD_Q)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Mask<Floats>{_mm256_cmp_ps(a.raw, b.raw, _CMP_UNORD_Q)};
#else
  return hn::Or(hn::IsNaN(a), hn::IsNaN(b));
#endif
}
// The largest or smallest. NaN is looked for apart, two vectors at once: that takes fewer
// instructions than to keep it in the partial results.
template <VectorOp kOp>
struct ExtremePart : RowPart {
  static constexpr bool kLargest = kOp == VectorOp::kReduceMax;
  static bool Matches(const ProgramInstruction& made) {
    return made.step == ProgramStep::kReduce && made.op == kOp;
  }
  RowPartials partials;
  Vec held;
  hn::Mask<Floats> nan;
  int reduction;
  HWY_INLINE ExtremePart(const RowLoopCall&, const ProgramInstruction& made)
      : reduction(made.reduction) {}
  static HWY_INLINE Vec Neutral() {
    return kLargest ? hn::Neg(hn::Inf(Floats())) : hn::Inf(Floats());
  }
  static HWY_INLINE Vec Better(Vec p, Vec q) { return kLargest ? MaxKeep(p, q) : MinKeep(p, q); }
  HWY_INLINE void Begin() {
    partials.Fill(Neutral());
    held = Neutral();
    nan = hn::MaskFromVec(hn::Zero(Floats()));
  }
  template <int K, class Place>
  HWY_INLINE Vec Step(Place place, Vec a) {
    const Vec kept = place.Keep(a, Neutral());
    partials.At<K>() = Better(partials.At<K>(), kept);
    if constexpr (K == 0 || K == 2) {
      held = kept;
    } else {
      nan = hn::Or(nan, Unordered(held, kept));
    }
    return a;
  }
  HWY_INLINE void End(const RowLoopCall& call, int64_t row) {
    const Floats d;
    const auto better = [](Vec p, Vec q) ASC_INLINE_LAMBDA { return Better(p, q); };
    const Vec best = partials.Joined(better);
    const Vec all = kLargest ? hn::MaxOfLanes(d, best) : hn::MinOfLanes(d, best);
    call.to[reduction][row] = hn::AllFalse(d, nan) ? hn::GetLane(all) : NAN;
  }
};

// Parts one after the other.
template <class... Parts>
struct RowParts;
template <>
struct RowParts<> {
  static constexpr bool kLong = false;
  HWY_INLINE RowParts(const RowLoopCall&, const ProgramInstruction*) {}
  static bool Matches(const ProgramInstruction* made) { return made->step == ProgramStep::kEnd; }
  HWY_INLINE void Begin() {}
  template <int K, class Place>
  HWY_INLINE void Step(Place, Vec) {}
  HWY_INLINE void Fold() {}
  HWY_INLINE void End(const RowLoopCall&, int64_t) {}
};
template <class Part, class... Rest>
struct RowParts<Part, Rest...> {
  static constexpr bool kLong = Part::kLong || RowParts<Rest...>::kLong;
  Part part;
  RowParts<Rest...> rest;
  HWY_INLINE RowParts(const RowLoopCall& call, const ProgramInstruction* made)
      : part(call, *made), rest(call, made + 1) {}
  // `made` ends with kEnd.
  static bool Matches(const ProgramInstruction* made) {
    return Part::Matches(*made) && RowParts<Rest...>::Matches(made + 1);
  }
  HWY_INLINE void Begin() { part.Begin(), rest.Begin(); }
  template <int K, class Place>
  HWY_INLINE void Step(Place place, Vec a) {
    rest.template Step<K>(place, part.template Step<K>(place, a));
  }
  HWY_INLINE void Fold() { part.Fold(), rest.Fold(); }
  HWY_INLINE void End(const RowLoopCall& call, int64_t row) {
    part.End(call, row), rest.End(call, row);
  }
};

template <class... Parts>
void RunRowLoop(const RowLoopCall& call) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  // Sums go on in double after so many elements: few enough that rounding stays near 1e-7.
  const size_t chunk = 256 * lanes;
  const Vec none = hn::Zero(d);
  RowParts<Parts...> parts(call, call.instructions);
  for (int64_t row = 0; row < call.rows; ++row) {
    parts.Begin();
    for (size_t i = 0; i < call.n;) {
      const size_t stop = std::min(call.n, i + chunk);
      for (; !RowParts<Parts...>::kLong && i + 4 * lanes <= stop; i += 4 * lanes) {
        parts.template Step<0>(FullPlace<Floats>{d, i}, none);
        parts.template Step<1>(FullPlace<Floats>{d, i + lanes}, none);
        parts.template Step<2>(FullPlace<Floats>{d, i + 2 * lanes}, none);
        parts.template Step<3>(FullPlace<Floats>{d, i + 3 * lanes}, none);
      }
      for (; i + lanes <= stop; i += lanes) parts.template Step<1>(FullPlace<Floats>{d, i}, none);
      if (i < stop) parts.template Step<3>(TailPlace<Floats>{d, i, stop - i}, none);
      i = stop;
      parts.Fold();
    }
    parts.End(call, row);
  }
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_PROGRAM_ROWS_INL_H_
