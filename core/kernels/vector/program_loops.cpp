#include <cmath>

#include "core/kernels/vector/program.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/program_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
//
#include "core/kernels/vector/program_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
using Code = void (*)();
template <class T>
Code AsCode(T* step) {
  return reinterpret_cast<Code>(static_cast<Step>(step));
}

// ---- choosing the code ---------------------------------------------------------------------------

template <class F, class Op>
Code OneOperand(const ProgramInstruction& made) {
  return made.x_scalar ? AsCode(OneOperandStep<F, Op, ScalarSource>)
                       : AsCode(OneOperandStep<F, Op, MovingSource<F>>);
}
template <class F, class Op>
Code TwoOperands(const ProgramInstruction& made) {
  using Moving = MovingSource<F>;
  if (made.x_scalar) {
    return made.y_scalar ? AsCode(TwoOperandStep<F, Op, ScalarSource, ScalarSource>)
                         : AsCode(TwoOperandStep<F, Op, ScalarSource, Moving>);
  }
  return made.y_scalar ? AsCode(TwoOperandStep<F, Op, Moving, ScalarSource>)
                       : AsCode(TwoOperandStep<F, Op, Moving, Moving>);
}

template <class F, class Op>
Code LongUnary() {
  return F::kWhole ? AsCode(UnaryStep<F, Op>) : AsCode(LongUnaryStep<Op>);
}
template <class F>
Code Unary(VectorOp op) {
  switch (op) {
#define ASC_SHORT(name)   \
  case VectorOp::k##name: \
    return AsCode(UnaryStep<F, name##Op>);
#define ASC_LONG(name)    \
  case VectorOp::k##name: \
    return LongUnary<F, name##Op>();
    ASC_SHORT(Abs)
    ASC_SHORT(BFloat16)
    ASC_SHORT(Ceil)
    ASC_LONG(Celu)
    ASC_SHORT(Clip)
    ASC_SHORT(Cube)
    ASC_LONG(Elu)
    ASC_LONG(Erf)
    ASC_LONG(Exp)
    ASC_SHORT(Floor)
    ASC_LONG(Gelu)
    ASC_LONG(GeluTanh)
    ASC_SHORT(Half)
    ASC_SHORT(HardSigmoid)
    ASC_SHORT(HardSwish)
    ASC_SHORT(Identity)
    ASC_SHORT(LeakyRelu)
    ASC_LONG(Log)
    ASC_LONG(Mish)
    ASC_SHORT(Neg)
    ASC_SHORT(Not)
    ASC_SHORT(Reciprocal)
    ASC_LONG(ReciprocalSqrt)
    ASC_SHORT(Relu)
    ASC_SHORT(Round)
    ASC_LONG(Sigmoid)
    ASC_LONG(Sign)
    ASC_LONG(Softplus)
    ASC_SHORT(Softsign)
    ASC_SHORT(Sqrt)
    ASC_SHORT(Square)
    ASC_LONG(SquareRoot)
    ASC_LONG(Swish)
    ASC_LONG(Tanh)
    ASC_SHORT(ThresholdedRelu)
#undef ASC_SHORT
#undef ASC_LONG
    default:
      return nullptr;
  }
}

template <class F>
Code Binary(const ProgramInstruction& made) {
  const bool reverse = made.step == ProgramStep::kReverse;
  switch (made.op) {
#define ASC_COMMUTES(name) \
  case VectorOp::k##name:  \
    return OneOperand<F, name##Op>(made);
#define ASC_ORDERED(name) \
  case VectorOp::k##name: \
    return reverse ? OneOperand<F, ReverseOp<name##Op>>(made) : OneOperand<F, name##Op>(made);
    ASC_COMMUTES(Add)
    ASC_ORDERED(Div)
    ASC_ORDERED(Max)
    ASC_ORDERED(Min)
    ASC_COMMUTES(Mul)
    ASC_ORDERED(PRelu)
    ASC_ORDERED(Sub)
    ASC_COMMUTES(Equal)
    ASC_ORDERED(Greater)
    ASC_ORDERED(GreaterOrEqual)
    ASC_ORDERED(Less)
    ASC_ORDERED(LessOrEqual)
#undef ASC_COMMUTES
#undef ASC_ORDERED
    default:
      return nullptr;
  }
}

template <class F>
BoundInstruction Bind(const ProgramCode& code, const ProgramInstruction& made) {
  BoundInstruction bound{nullptr, made.x, made.y, made.a, made.b};
  switch (made.step) {
    case ProgramStep::kLoad:
      bound.run = OneOperand<F, TakeOp>(made);
      break;
    case ProgramStep::kUnary:
      bound.run = made.not_positive && made.op == VectorOp::kExp ? LongUnary<F, ExpNotPositiveOp>()
                                                                 : Unary<F>(made.op);
      break;
    case ProgramStep::kBinary:
    case ProgramStep::kReverse:
      bound.run = Binary<F>(made);
      break;
    case ProgramStep::kAddRelu:
      bound.run = OneOperand<F, AddReluOp>(made);
      break;
    case ProgramStep::kMulAddRelu:
      bound.run = TwoOperands<F, MulAddReluOp>(made);
      break;
#define ASC_JOINED(name, first, second, reversed, expression) \
  case ProgramStep::k##name:                                  \
    bound.run = TwoOperands<F, name##Op>(made);               \
    break;
      ASC_JOINED_STEPS(ASC_JOINED)
      ASC_PAIR_STEPS(ASC_JOINED)
#undef ASC_JOINED
    case ProgramStep::kFma:
      bound.run = TwoOperands<F, FmaOp>(made);
      break;
    case ProgramStep::kFmaAdd:
      bound.run = TwoOperands<F, FmaAddOp>(made);
      break;
    case ProgramStep::kIf:
      bound.run = TwoOperands<F, IfOp>(made);
      break;
    case ProgramStep::kThen:
      bound.run = TwoOperands<F, ThenOp>(made);
      break;
    case ProgramStep::kElse:
      bound.run = TwoOperands<F, ElseOp>(made);
      break;
    case ProgramStep::kStore:
      bound.run = AsCode(StoreStep<F>);
      break;
    case ProgramStep::kReduce: {
      const VectorOp op = code.reductions[static_cast<size_t>(made.reduction)].op;
      bound.y = made.reduction;
      bound.a = op == VectorOp::kReduceMax ? -INFINITY : op == VectorOp::kReduceMin ? INFINITY : 0;
      bound.run = op == VectorOp::kReduceMax   ? AsCode(ReduceStep<F, MaxOp>)
                  : op == VectorOp::kReduceMin ? AsCode(ReduceStep<F, MinOp>)
                                               : AsCode(ReduceStep<F, AddOp>);
      break;
    }
    case ProgramStep::kSquaredSum:
      bound.y = made.reduction;
      bound.run = AsCode(SquaredSumStep<F>);
      break;
    case ProgramStep::kEnd:
      bound.run = AsCode(EndStep);
      break;
  }
  return bound;
}

BoundSegment BindAll(const ProgramCode& code, const ProgramSegment& segment) {
  BoundSegment bound;
  bound.reductions = segment.reductions;
  for (const ProgramInstruction& made : segment.instructions) {
    bound.forms[0].push_back(Bind<Form<8, true>>(code, made));
    bound.forms[1].push_back(Bind<Form<8, false>>(code, made));
    bound.forms[2].push_back(Bind<Form<4, false>>(code, made));
    bound.forms[3].push_back(Bind<Form<2, false>>(code, made));
  }
  return bound;
}

// ---- running -------------------------------------------------------------------------------------

// The block at `begin`, and as many whole ones after it as there are before `stop`.
HWY_INLINE void RunBlocks(const std::vector<BoundInstruction>& code, ProgramFrame& frame,
                          size_t begin, size_t stop) {
  const Vec zero = hn::Zero(Floats());
  frame.first = code.data();
  frame.stop = stop;
  reinterpret_cast<Step>(code.front().run)(code.data(), &frame, begin, zero, zero, zero, zero, zero,
                                           zero, zero, zero);
}

HWY_INLINE bool IsSum(VectorOp op) {
  return op == VectorOp::kReduceSum || op == VectorOp::kReduceMean;
}

// One row; the results are the elements number `row` of `to`.
HWY_INLINE void RunRow(const ProgramCode& code, const BoundSegment& segment, ProgramFrame& frame,
                       size_t n, float* const* to, int64_t row) {
  const Floats d;
  const size_t lanes = hn::Lanes(d), block = 8 * lanes;
  // Sums go on in double after so many blocks: few enough that rounding stays near 1e-7.
  constexpr size_t kBlocks = 64;
  double sums[kMostReductions];
  const auto neutral = [&](int r) {
    const VectorOp op = code.reductions[static_cast<size_t>(r)].op;
    return IsSum(op) ? 0.0f : op == VectorOp::kReduceMax ? -INFINITY : INFINITY;
  };
  for (const int r : segment.reductions) {
    sums[r] = 0;
    hn::Store(hn::Set(d, neutral(r)), d, frame.partial[r]);
  }
  size_t begin = 0;
  while (begin < n) {
    const size_t stop = segment.reductions.empty() ? n : std::min(n, begin + kBlocks * block);
    frame.vectors = 8;
    while (begin + block <= stop) {
      // A few at once: builds that do not make jumps of the last calls get that much deeper.
      constexpr size_t kMost = 8;
      const size_t end = begin + std::min(kMost, (stop - begin) / block) * block;
      RunBlocks(segment.forms[0], frame, begin, end);
      begin = end;
    }
    if (begin < stop) {
      frame.left = stop - begin;
      frame.vectors = (frame.left + lanes - 1) / lanes;
      RunBlocks(segment.forms[frame.vectors <= 2   ? 3
                              : frame.vectors <= 4 ? 2
                                                   : 1],
                frame, begin, begin);
      begin = stop;
    }
    for (const int r : segment.reductions) {
      if (!IsSum(code.reductions[static_cast<size_t>(r)].op)) continue;
      const Vec part = hn::Load(d, frame.partial[r]);
      sums[r] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
      hn::Store(hn::Zero(d), d, frame.partial[r]);
    }
  }
  for (const int r : segment.reductions) {
    const VectorOp op = code.reductions[static_cast<size_t>(r)].op;
    if (IsSum(op)) {
      const double total = op == VectorOp::kReduceMean ? sums[r] / static_cast<double>(n) : sums[r];
      to[r][row] = static_cast<float>(total);
      continue;
    }
    const Vec part = hn::Load(d, frame.partial[r]);
    float best = NAN;
    if (hn::AllFalse(d, hn::IsNaN(part)))
      best = hn::GetLane(op == VectorOp::kReduceMax ? hn::MaxOfLanes(d, part)
                                                    : hn::MinOfLanes(d, part));
    to[r][row] = best;
  }
}

void RunAll(const ProgramCode& code, const BoundSegment& segment, ProgramFrame& frame, size_t n,
            int64_t rows, std::span<const int> moves, float* const* to) {
  for (int64_t row = 0; row < rows; ++row) {
    RunRow(code, segment, frame, n, to, row);
    for (const int operand : moves) frame.base[operand] += frame.strides[operand];
  }
}

size_t BlockElements() { return 8 * hn::Lanes(Floats()); }
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(BindAll);
HWY_EXPORT(RunAll);
HWY_EXPORT(BlockElements);

BoundSegment BindSegment(const ProgramCode& code, const ProgramSegment& segment) {
  BoundSegment bound = HWY_DYNAMIC_DISPATCH(BindAll)(code, segment);
  bound.loop = FindRowLoop(code, segment);
  if (bound.loop != nullptr) bound.instructions = segment.instructions;
  return bound;
}
size_t ProgramBlock() { return HWY_DYNAMIC_DISPATCH(BlockElements)(); }
void RunSegment(const ProgramCode& code, const BoundSegment& segment, ProgramFrame& frame, size_t n,
                int64_t rows, std::span<const int> moves, float* const* to) {
  if (segment.loop != nullptr)
    return segment.loop({segment.instructions.data(), code.reductions.data(), &frame, n, rows, to});
  HWY_DYNAMIC_DISPATCH(RunAll)(code, segment, frame, n, rows, moves, to);
}
}  // namespace asc::simd
#endif  // HWY_ONCE
