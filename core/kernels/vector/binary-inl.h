// The functions of BinaryOp on vectors, as functors.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_BINARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_BINARY_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_BINARY_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_BINARY_INL_H_
#endif

#include "core/kernels/vector/binary.h"
#include "core/kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

#define ASC_BINARY(name, expression)                                \
  struct name {                                                     \
    template <class D, class V>                                     \
    HWY_INLINE V operator()([[maybe_unused]] D d, V x, V y) const { \
      return expression;                                            \
    }                                                               \
  };
ASC_BINARY(AddOp, hn::Add(x, y))
ASC_BINARY(DivOp, hn::Div(x, y))
ASC_BINARY(MaxOp, MaxNan(x, y))
ASC_BINARY(MinOp, MinNan(x, y))
ASC_BINARY(MulOp, hn::Mul(x, y))
ASC_BINARY(PReluOp, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, y), x))
ASC_BINARY(SubOp, hn::Sub(x, y))
#undef ASC_BINARY

// Calls visit(functor).
template <class Visitor>
HWY_INLINE void VisitBinary(BinaryOp op, Visitor&& visit) {
  switch (op) {
    case BinaryOp::kAdd:
      return visit(AddOp());
    case BinaryOp::kDiv:
      return visit(DivOp());
    case BinaryOp::kMax:
      return visit(MaxOp());
    case BinaryOp::kMin:
      return visit(MinOp());
    case BinaryOp::kMul:
      return visit(MulOp());
    case BinaryOp::kPRelu:
      return visit(PReluOp());
    case BinaryOp::kSub:
      return visit(SubOp());
  }
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_BINARY_INL_H_
