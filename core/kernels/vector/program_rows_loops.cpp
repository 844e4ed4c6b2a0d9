// Row superinstructions: wide segments that run as one loop (program_rows-inl.h).
//
// To add one, write its instructions in the table below in the order in which the lowering gives
// them (ProgramStep; `Moving` and `Scalar` are operands with an element for each place, or one for a
// row). What is not in the table is interpreted.
#include "core/kernels/vector/program.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/program_rows_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/program_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
using Moving = RowMoving;
using Scalar = RowScalar;

using Load = OneOperandPart<ProgramStep::kLoad, VectorOp::kIdentity, TakeOp, Moving>;
template <class X>
using Add = OneOperandPart<ProgramStep::kBinary, VectorOp::kAdd, AddOp, X>;
template <class X>
using Sub = OneOperandPart<ProgramStep::kBinary, VectorOp::kSub, SubOp, X>;
template <class X>
using Mul = OneOperandPart<ProgramStep::kBinary, VectorOp::kMul, MulOp, X>;
template <class X>
using Div = OneOperandPart<ProgramStep::kBinary, VectorOp::kDiv, DivOp, X>;
template <class X, class Y>
using AddAdd = TwoOperandPart<ProgramStep::kAddAdd, AddAddOp, X, Y>;
template <class X, class Y>
using SubMul = TwoOperandPart<ProgramStep::kSubMul, SubMulOp, X, Y>;
template <class X, class Y>
using MulSub = TwoOperandPart<ProgramStep::kMulSub, MulSubOp, X, Y>;
template <class X, class Y>
using MulAdd = TwoOperandPart<ProgramStep::kMulAdd, MulAddOp, X, Y>;
template <class X, class Y>
using Fma = TwoOperandPart<ProgramStep::kFma, FmaOp, X, Y>;
using Power = UnaryPart<VectorOp::kExp, ExpNotPositiveOp, true>;
using Squared = UnaryPart<VectorOp::kSquare, SquareOp>;
using Store = StorePart;
using Sum = SumPart;
using SquaredSum = SquaredSumPart;
using Largest = ExtremePart<VectorOp::kReduceMax>;
using Smallest = ExtremePart<VectorOp::kReduceMin>;

template <class... Parts>
struct Sequence {
  // What the segment runs as when it is this sequence, which begins with one of Begins.
  template <class... Begins>
  static void Find(const ProgramInstruction* made, RowLoop& found) {
    (FindOne(Begins(), made, found), ...);
  }

 private:
  template <class... First>
  static void FindOne(Sequence<First...>, const ProgramInstruction* made, RowLoop& found) {
    if (RowParts<First..., Parts...>::Matches(made)) found = RunRowLoop<First..., Parts...>;
  }
};

RowLoop FindLoop(const ProgramInstruction* made) {
  using Plain = Sequence<Load>;
  using Scaled = Sequence<Load, Mul<Scalar>>;
  using ScaledMasked = Sequence<Load, MulAdd<Scalar, Moving>>;
  using Sum2 = Sequence<Load, Add<Moving>>;
  using Sum3 = Sequence<Load, AddAdd<Moving, Moving>>;
  using Centred = Sequence<Load, Sub<Scalar>>;
  using ScaledCentred = Sequence<Load, MulSub<Scalar, Scalar>>;
  using Normalised = Sequence<Load, SubMul<Scalar, Scalar>>;
  RowLoop found = nullptr;
  // Softmax: scale, mask and maximum; the powers and their sum; the quotients.
  Sequence<Largest>::Find<Plain, Scaled>(made, found);
  Sequence<Store, Largest>::Find<Sum2, ScaledMasked>(made, found);
  Sequence<Power, Store, Sum>::Find<Centred, ScaledCentred>(made, found);
  Sequence<Power, Sum>::Find<Centred, ScaledCentred>(made, found);
  Sequence<Mul<Scalar>, Store>::Find<Plain>(made, found);
  Sequence<Div<Scalar>, Store>::Find<Plain>(made, found);
  Sequence<Sub<Scalar>, Store>::Find<Centred>(made, found);
  // Normalisations: the mean, of two or three operands too; squares around it; scale and shift.
  Sequence<Sum>::Find<Plain>(made, found);
  Sequence<Store, Sum>::Find<Sum2, Sum3>(made, found);
  Sequence<SquaredSum>::Find<Plain>(made, found);
  Sequence<Store>::Find<Normalised>(made, found);
  Sequence<MulAdd<Moving, Moving>, Store>::Find<Normalised>(made, found);
  Sequence<Fma<Moving, Moving>, Store>::Find<Normalised>(made, found);
  Sequence<Div<Scalar>, Store>::Find<Centred>(made, found);
  Sequence<Div<Scalar>, MulAdd<Moving, Moving>, Store>::Find<Centred>(made, found);
  // Normalisations without the mean.
  Sequence<Squared, Sum>::Find<Plain>(made, found);
  Sequence<Store, Squared, Sum>::Find<Sum2>(made, found);
  Sequence<Mul<Scalar>, Mul<Moving>, Store>::Find<Plain>(made, found);
  Sequence<Div<Scalar>, Mul<Moving>, Store>::Find<Plain>(made, found);
  // Reductions alone.
  Sequence<Smallest>::Find<Plain>(made, found);
  return found;
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(FindLoop);
RowLoop FindRowLoop(const ProgramCode& code, const ProgramSegment& segment) {
  if (!segment.wide) return nullptr;
  for (const ProgramInstruction& made : segment.instructions) {
    // Blocks hold less than a row.
    const bool block =
        made.step == ProgramStep::kStore &&
        code.operands[static_cast<size_t>(made.x)].kind == ProgramOperand::Kind::kTemp;
    if (block) return nullptr;
  }
  return HWY_DYNAMIC_DISPATCH(FindLoop)(segment.instructions.data());
}
}  // namespace asc::simd
#endif  // HWY_ONCE
