// The code of vector-program instructions, for any Highway target. Each instruction is a function
// that ends by calling the next one with the accumulator as eight vector arguments: calling
// conventions pass those in registers, and compilers turn the last call into a jump.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_PROGRAM_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_PROGRAM_STEPS_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_PROGRAM_STEPS_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_PROGRAM_STEPS_INL_H_
#endif

#include <algorithm>

#include "core/kernels/vector/binary-inl.h"
#include "core/kernels/vector/loops-inl.h"
#include "core/kernels/vector/narrow-inl.h"
#include "core/kernels/vector/program.h"
#include "core/kernels/vector/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

#define ASC_ACCUMULATOR Vec a0, Vec a1, Vec a2, Vec a3, Vec a4, Vec a5, Vec a6, Vec a7
#define ASC_NEXT \
  return reinterpret_cast<Step>(at[1].run)(at + 1, frame, begin, a0, a1, a2, a3, a4, a5, a6, a7)
using Step = void (*)(const BoundInstruction* at, ProgramFrame* frame, size_t begin,
                      ASC_ACCUMULATOR);

// How much of a block there is: kVectors vectors, the last of them partial ones unless kWhole.
template <int kCount, bool kWholeBlock>
struct Form {
  static constexpr int kVectors = kCount;
  static constexpr bool kWhole = kWholeBlock;
};

// Whether all elements of vector j of a partial block are there: predicted well, and cheaper than
// masks.
HWY_INLINE bool IsWhole(const ProgramFrame* frame, int j) {
  return HWY_LIKELY(frame->left >= static_cast<size_t>(j + 1) * hn::Lanes(Floats()));
}
// The elements of vector j of a partial block that are there.
HWY_INLINE size_t Left(const ProgramFrame* frame, int j) {
  const size_t before = static_cast<size_t>(j) * hn::Lanes(Floats());
  return frame->left <= before ? 0 : std::min(frame->left - before, hn::Lanes(Floats()));
}

// An operand as vectors.
template <class F>
struct MovingSource {
  const float* from;
  const ProgramFrame* frame;
  HWY_INLINE MovingSource(const ProgramFrame* f, int operand, size_t begin)
      : from(f->base[operand] + (begin & f->moves[operand])), frame(f) {}
  HWY_INLINE Vec operator()(int j) const {
    const Floats d;
    const float* p = from + static_cast<size_t>(j) * hn::Lanes(d);
    if (F::kWhole || IsWhole(frame, j)) return hn::LoadU(d, p);
    return LoadTail(d, p, Left(frame, j));
  }
};
struct ScalarSource {
  Vec value;
  HWY_INLINE ScalarSource(const ProgramFrame* f, int operand, size_t /*begin*/)
      : value(hn::Set(Floats(), *f->base[operand])) {}
  HWY_INLINE Vec operator()(int /*j*/) const { return value; }
};

// Calls f(j, vector j of the accumulator) for the vectors of the form.
#define ASC_EACH(F, f)             \
  f(0, a0);                        \
  f(1, a1);                        \
  if constexpr (F::kVectors > 2) { \
    f(2, a2);                      \
    f(3, a3);                      \
  }                                \
  if constexpr (F::kVectors > 4) { \
    f(4, a4);                      \
    f(5, a5);                      \
    f(6, a6);                      \
    f(7, a7);                      \
  }

// ---- the instructions ----------------------------------------------------------------------------

// Goes on with the next whole block, if there is one.
inline void EndStep(const BoundInstruction*, ProgramFrame* frame, size_t begin, ASC_ACCUMULATOR) {
  const size_t block = 8 * hn::Lanes(Floats());
  begin += block;
  if (begin + block > frame->stop) return;
  const BoundInstruction* const at = frame->first;
  return reinterpret_cast<Step>(at->run)(at, frame, begin, a0, a1, a2, a3, a4, a5, a6, a7);
}

// a = op(a, x) and the like; Op is called with (d, a, x).
template <class F, class Op, class X>
void OneOperandStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin,
                    ASC_ACCUMULATOR) {
  const X x(frame, at->x, begin);
  const auto f = [&](int j, Vec& a) ASC_INLINE_LAMBDA { a = Op()(Floats(), a, x(j)); };
  ASC_EACH(F, f)
  ASC_NEXT;
}
// Op is called with (d, a, x, y).
template <class F, class Op, class X, class Y>
void TwoOperandStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin,
                    ASC_ACCUMULATOR) {
  const X x(frame, at->x, begin);
  const Y y(frame, at->y, begin);
  const auto f = [&](int j, Vec& a) ASC_INLINE_LAMBDA { a = Op()(Floats(), a, x(j), y(j)); };
  ASC_EACH(F, f)
  ASC_NEXT;
}
template <class F, class Op>
void UnaryStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin, ASC_ACCUMULATOR) {
  const Op op{at->a, at->b};
  const auto f = [&](int, Vec& a) ASC_INLINE_LAMBDA { a = op(Floats(), a); };
  ASC_EACH(F, f)
  ASC_NEXT;
}
// Long functions of partial blocks: one loop instead of eight copies, over the vectors that are
// there.
template <class Op>
void LongUnaryStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin, ASC_ACCUMULATOR) {
  const Floats d;
  const Op op{at->a, at->b};
  HWY_ALIGN float block[8 * hn::MaxLanes(Floats())];
  const size_t lanes = hn::Lanes(d);
  const auto put = [&](int j, Vec& a) ASC_INLINE_LAMBDA {
    hn::Store(a, d, block + static_cast<size_t>(j) * lanes);
  };
  using Whole = Form<8, true>;
  ASC_EACH(Whole, put)
  for (size_t j = 0; j < frame->vectors; ++j)
    hn::Store(op(d, hn::Load(d, block + j * lanes)), d, block + j * lanes);
  const auto take = [&](int j, Vec& a) ASC_INLINE_LAMBDA {
    a = hn::Load(d, block + static_cast<size_t>(j) * lanes);
  };
  ASC_EACH(Whole, take)
  ASC_NEXT;
}
template <class F>
void StoreStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin, ASC_ACCUMULATOR) {
  float* to = frame->base[at->x] + (begin & frame->moves[at->x]);
  const auto f = [&](int j, Vec& a) ASC_INLINE_LAMBDA {
    const Floats d;
    float* p = to + static_cast<size_t>(j) * hn::Lanes(d);
    if (F::kWhole || IsWhole(frame, j)) {
      hn::StoreU(a, d, p);
    } else if (const size_t left = Left(frame, j); left > 0) {
      StoreTail(d, a, p, left);
    }
  };
  ASC_EACH(F, f)
  ASC_NEXT;
}

// Joins map(vector j) for all j into the partial results of reduction at->y; lanes past the end
// count as `neutral`.
template <class F, class Join, class Map>
HWY_INLINE void Gather(const BoundInstruction* at, ProgramFrame* frame, float neutral,
                       const Map& map, ASC_ACCUMULATOR) {
  const Floats d;
  const Join join;
  const auto part = [&](int j, Vec a) ASC_INLINE_LAMBDA {
    const Vec v = map(a);
    if (F::kWhole || IsWhole(frame, j)) return v;
    return hn::IfThenElse(hn::FirstN(d, Left(frame, j)), v, hn::Set(d, neutral));
  };
  Vec sum = join(d, part(0, a0), part(1, a1));
  if constexpr (F::kVectors > 2) sum = join(d, sum, join(d, part(2, a2), part(3, a3)));
  if constexpr (F::kVectors > 4) {
    const Vec low = join(d, part(4, a4), part(5, a5)), high = join(d, part(6, a6), part(7, a7));
    sum = join(d, sum, join(d, low, high));
  }
  float* partial = frame->partial[at->y];
  hn::Store(join(d, hn::Load(d, partial), sum), d, partial);
}
template <class F, class Join>
void ReduceStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin, ASC_ACCUMULATOR) {
  Gather<F, Join>(
      at, frame, at->a, [](Vec a) ASC_INLINE_LAMBDA { return a; }, a0, a1, a2, a3, a4, a5, a6, a7);
  ASC_NEXT;
}
template <class F>
void SquaredSumStep(const BoundInstruction* at, ProgramFrame* frame, size_t begin,
                    ASC_ACCUMULATOR) {
  const ScalarSource x(frame, at->x, begin);
  const auto square = [&](Vec a) ASC_INLINE_LAMBDA {
    const Vec off = hn::Sub(a, x(0));
    return hn::Mul(off, off);
  };
  Gather<F, AddOp>(at, frame, 0, square, a0, a1, a2, a3, a4, a5, a6, a7);
  ASC_NEXT;
}

// ---- functions of vectors that only programs have ------------------------------------------------

struct AddReluOp {
  HWY_INLINE Vec operator()(Floats d, Vec a, Vec x) const {
    return MaxKeep(hn::Zero(d), hn::Add(a, x));
  }
};
struct TakeOp {
  HWY_INLINE Vec operator()(Floats, Vec, Vec x) const { return x; }
};
template <class Op>
struct ReverseOp {
  HWY_INLINE Vec operator()(Floats d, Vec a, Vec x) const { return Op()(d, x, a); }
};
#define ASC_CONDITION(name, expression)                        \
  struct name {                                                \
    HWY_INLINE Vec operator()(Floats d, Vec x, Vec y) const {  \
      return hn::IfThenElseZero(expression, hn::Set(d, 1.0f)); \
    }                                                          \
  };
ASC_CONDITION(EqualOp, hn::Eq(x, y))
ASC_CONDITION(GreaterOp, hn::Gt(x, y))
ASC_CONDITION(GreaterOrEqualOp, hn::Ge(x, y))
ASC_CONDITION(LessOp, hn::Lt(x, y))
ASC_CONDITION(LessOrEqualOp, hn::Le(x, y))
#undef ASC_CONDITION
struct NotOp {
  float a, b;
  HWY_INLINE Vec operator()(Floats d, Vec x) const {
    return hn::IfThenElseZero(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};
struct HalfOp {
  float a, b;
  HWY_INLINE Vec operator()(Floats d, Vec x) const { return RoundToHalf(d, x); }
};
struct BFloat16Op {
  float a, b;
  HWY_INLINE Vec operator()(Floats d, Vec x) const { return RoundToBFloat16(d, x); }
};
struct ExpNotPositiveOp {
  float a, b;
  HWY_INLINE Vec operator()(Floats d, Vec x) const { return ExpNotPositive(d, x); }
};
HWY_INLINE Vec Choose(Floats d, Vec condition, Vec x, Vec y) {
  return hn::IfThenElse(hn::Eq(condition, hn::Zero(d)), y, x);
}
// The product as rounded: compilers would make one instruction of it and an addition.
HWY_INLINE Vec RoundedProduct(Vec x, Vec y) {
  Vec product = hn::Mul(x, y);
#if HWY_TARGET == HWY_AVX3
  __asm__("" : "+v"(product.raw));
#elif HWY_TARGET == HWY_AVX2
  __asm__("" : "+x"(product.raw));
#elif HWY_TARGET == HWY_NEON
  __asm__("" : "+w"(product.raw));
#endif
  return product;
}
#define ASC_TERNARY(name, expression)                                                 \
  struct name {                                                                       \
    HWY_INLINE Vec operator()([[maybe_unused]] Floats d, Vec a, Vec x, Vec y) const { \
      return expression;                                                              \
    }                                                                                 \
  };
#define ASC_JOINED(name, first, second, reversed, expression) ASC_TERNARY(name##Op, expression)
ASC_JOINED_STEPS(ASC_JOINED)
ASC_PAIR_STEPS(ASC_JOINED)
#undef ASC_JOINED
ASC_TERNARY(MulAddReluOp, MaxKeep(hn::Zero(d), hn::Add(RoundedProduct(a, x), y)))
ASC_TERNARY(FmaOp, hn::MulAdd(a, x, y))
ASC_TERNARY(FmaAddOp, hn::MulAdd(x, y, a))
ASC_TERNARY(IfOp, Choose(d, a, x, y))
ASC_TERNARY(ThenOp, Choose(d, x, a, y))
ASC_TERNARY(ElseOp, Choose(d, x, y, a))
#undef ASC_TERNARY

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_PROGRAM_STEPS_INL_H_
