// The functions of UnaryOp on one vector, as functors: loops and interpreters take them as they
// are.

// Included once for each target.
#if defined(ASC_CORE_KERNELS_VECTOR_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASC_CORE_KERNELS_VECTOR_UNARY_INL_H_
#undef ASC_CORE_KERNELS_VECTOR_UNARY_INL_H_
#else
#define ASC_CORE_KERNELS_VECTOR_UNARY_INL_H_
#endif

#include "core/kernels/vector/math-inl.h"
#include "core/kernels/vector/unary.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {

// V result of `expression` in d, x and the parameters a and b.
#define ASC_UNARY(name, expression)                            \
  struct name {                                                \
    float a, b;                                                \
    template <class D, class V>                                \
    HWY_INLINE V operator()([[maybe_unused]] D d, V x) const { \
      return expression;                                       \
    }                                                          \
  };
ASC_UNARY(IdentityOp, x)
ASC_UNARY(AbsOp, hn::Abs(x))
ASC_UNARY(AcosOp, Acos(d, x))
ASC_UNARY(AffineOp, hn::MulAdd(x, hn::Set(d, a), hn::Set(d, b)))
ASC_UNARY(AsinOp, Asin(d, x))
ASC_UNARY(AtanOp, Atan(d, x))
ASC_UNARY(CeilOp, hn::Ceil(x))
ASC_UNARY(ClipOp, MinKeep(hn::Set(d, b), MaxKeep(hn::Set(d, a), x)))
ASC_UNARY(CosOp, Cos(d, x))
ASC_UNARY(CubeOp, hn::Mul(hn::Mul(x, x), x))
ASC_UNARY(ErfOp, Erf(d, x))
ASC_UNARY(ExpOp, Exp(d, x))
ASC_UNARY(FloorOp, hn::Floor(x))
ASC_UNARY(GeluOp, Gelu(d, x))
ASC_UNARY(GeluTanhOp, GeluTanh(d, x))
ASC_UNARY(LeakyReluOp, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(hn::Set(d, a), x), x))
ASC_UNARY(LogOp, Log(d, x))
ASC_UNARY(MishOp, Mish(d, x))
ASC_UNARY(NegOp, hn::Neg(x))
ASC_UNARY(ReciprocalOp, hn::Div(hn::Set(d, 1.0f), x))
ASC_UNARY(ReluOp, MaxKeep(hn::Zero(d), x))
ASC_UNARY(RoundOp, hn::Round(x))
ASC_UNARY(ScaledTanhOp, hn::Mul(hn::Set(d, a), Tanh(d, hn::Mul(hn::Set(d, b), x))))
ASC_UNARY(SigmoidOp, Sigmoid(d, x))
ASC_UNARY(SinOp, Sin(d, x))
ASC_UNARY(SoftplusOp, Softplus(d, x))
ASC_UNARY(SoftsignOp, hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Abs(x))))
ASC_UNARY(SqrtOp, hn::Sqrt(x))
ASC_UNARY(SquareOp, hn::Mul(x, x))
ASC_UNARY(SwishOp, hn::Mul(x, Sigmoid(d, hn::Mul(hn::Set(d, a), x))))
ASC_UNARY(TanhOp, Tanh(d, x))
ASC_UNARY(ThresholdedReluOp, hn::IfThenZeroElse(hn::Le(x, hn::Set(d, a)), x))
#undef ASC_UNARY

template <class D, class V>
HWY_INLINE V HardSigmoid(D d, V x, float a, float b) {
  const V line = hn::MulAdd(x, hn::Set(d, a), hn::Set(d, b));
  return MinKeep(hn::Set(d, 1.0f), MaxKeep(hn::Zero(d), line));
}
struct HardSigmoidOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return HardSigmoid(d, x, a, b);
  }
};
struct HardSwishOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, HardSigmoid(d, x, 1.0f / 6, 0.5f));
  }
};

// slope (exp(x scale) - 1) below 0, else gain x.
template <class D, class V>
HWY_INLINE V ExpLinear(D d, V x, float slope, float scale, float gain) {
  const V zero = hn::Zero(d);
  // MinKeep gives NaN for NaN.
  const V below =
      hn::Mul(hn::Set(d, slope), Expm1NotPositive(d, hn::Mul(hn::Set(d, scale), MinKeep(zero, x))));
  return hn::IfThenElse(hn::Lt(x, zero), below, hn::Mul(hn::Set(d, gain), x));
}
struct EluOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ExpLinear(d, x, a, 1.0f, 1.0f);
  }
};
struct CeluOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ExpLinear(d, x, a, 1.0f / a, 1.0f);
  }
};
struct SeluOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ExpLinear(d, x, a * b, 1.0f, b);
  }
};

// The square root as a power: +0 for -0, infinity for -infinity.
struct SquareRootOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V infinity = hn::Inf(d);
    const V root = hn::Sqrt(hn::Add(x, hn::Zero(d)));
    return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), infinity, root);
  }
};
struct ReciprocalSqrtOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1.0f), SquareRootOp{}(d, x));
  }
};
struct SignOp {
  float a, b;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const V low = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, -1.0f), x);
    const V sign = hn::IfThenElse(hn::Gt(x, zero), one, low);
    return hn::IfThenElse(hn::Eq(x, zero), zero, sign);
  }
};

// Calls visit(functor) with the functor of f.
template <class Visitor>
HWY_INLINE void VisitUnary(const UnaryCall& f, Visitor&& visit) {
  switch (f.op) {
#define ASC_CASE(name)   \
  case UnaryOp::k##name: \
    return visit(name##Op{f.a, f.b});
    ASC_CASE(Identity)
    ASC_CASE(Abs)
    ASC_CASE(Acos)
    ASC_CASE(Affine)
    ASC_CASE(Asin)
    ASC_CASE(Atan)
    ASC_CASE(Ceil)
    ASC_CASE(Celu)
    ASC_CASE(Clip)
    ASC_CASE(Cos)
    ASC_CASE(Cube)
    ASC_CASE(Elu)
    ASC_CASE(Erf)
    ASC_CASE(Exp)
    ASC_CASE(Floor)
    ASC_CASE(Gelu)
    ASC_CASE(GeluTanh)
    ASC_CASE(HardSigmoid)
    ASC_CASE(HardSwish)
    ASC_CASE(LeakyRelu)
    ASC_CASE(Log)
    ASC_CASE(Mish)
    ASC_CASE(Neg)
    ASC_CASE(Reciprocal)
    ASC_CASE(ReciprocalSqrt)
    ASC_CASE(Relu)
    ASC_CASE(Round)
    ASC_CASE(ScaledTanh)
    ASC_CASE(Selu)
    ASC_CASE(Sigmoid)
    ASC_CASE(Sign)
    ASC_CASE(Sin)
    ASC_CASE(Softplus)
    ASC_CASE(Softsign)
    ASC_CASE(Sqrt)
    ASC_CASE(Square)
    ASC_CASE(SquareRoot)
    ASC_CASE(Swish)
    ASC_CASE(Tanh)
    ASC_CASE(ThresholdedRelu)
#undef ASC_CASE
  }
}

}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASC_CORE_KERNELS_VECTOR_UNARY_INL_H_
