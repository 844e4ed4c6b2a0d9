// Unary element-wise mathematics: y[i] = f(x[i]).
#include <cmath>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/number_cast.h"

namespace asc {
namespace {
// One kernel for each standard function that C++ overloads for float and double.
#define ASC_FLOAT_KERNEL(name, expression)                        \
  Status name(KernelContext& context) {                           \
    return MapFloats(context, [](auto x) { return expression; }); \
  }
ASC_FLOAT_KERNEL(Ceil, std::ceil(x))
ASC_FLOAT_KERNEL(Floor, std::floor(x))
ASC_FLOAT_KERNEL(Round, std::nearbyint(x))  // halves to even: the default rounding mode
ASC_FLOAT_KERNEL(Sqrt, std::sqrt(x))
ASC_FLOAT_KERNEL(Reciprocal, decltype(x)(1) / x)
ASC_FLOAT_KERNEL(Exp, std::exp(x))
ASC_FLOAT_KERNEL(Log, std::log(x))
ASC_FLOAT_KERNEL(Sin, std::sin(x))
ASC_FLOAT_KERNEL(Cos, std::cos(x))
ASC_FLOAT_KERNEL(Tan, std::tan(x))
ASC_FLOAT_KERNEL(Asin, std::asin(x))
ASC_FLOAT_KERNEL(Acos, std::acos(x))
ASC_FLOAT_KERNEL(Atan, std::atan(x))
ASC_FLOAT_KERNEL(Sinh, std::sinh(x))
ASC_FLOAT_KERNEL(Cosh, std::cosh(x))
ASC_FLOAT_KERNEL(Asinh, std::asinh(x))
ASC_FLOAT_KERNEL(Acosh, std::acosh(x))
ASC_FLOAT_KERNEL(Atanh, std::atanh(x))
#undef ASC_FLOAT_KERNEL

// Integers, which the operator took before opset 13, truncate.
Status Erf(KernelContext& context) {
  return MapNumeric(context, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) {
      return std::erf(x);
    } else {
      return TruncateTo<decltype(x)>(std::erf(static_cast<double>(x)));
    }
  });
}

Status Abs(KernelContext& context) {
  return MapNumeric(context, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else if constexpr (std::is_signed_v<T>) {
      return x < 0 ? WrapSub<T>(0, x) : x;
    } else {
      return x;
    }
  });
}

Status Neg(KernelContext& context) {
  return MapNumeric(context, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return WrapSub<T>(0, x);
    }
  });
}

// NaN has the sign NaN.
Status Sign(KernelContext& context) {
  return MapNumeric(context, [](auto x) {
    using T = decltype(x);
    if (x > T(0)) return T(1);
    if constexpr (std::is_signed_v<T>) {
      if (x < T(0)) return T(-1);
    }
    return x == T(0) ? T(0) : x;
  });
}

// Element-wise with the known elements of a small integer tensor carried along.
Status InferNeg(InferContext& context) {
  context.SetOutput(0, context.type(0));
  if (const auto elements = KnownElements(context, 0)) {
    std::vector<Dim> out;
    for (const Dim& element : *elements) out.push_back(Dim(0) - element);
    SetKnownElements(context, 0, std::move(out));
  }
  return Ok();
}
}  // namespace

void AddElementwiseUnaryOps(OpTable& table) {
  const auto unary = [&](std::string_view name, int since, TypeSet types, ReferenceKernel kernel,
                         std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Input("X", "T")
        .Output("Y", "T")
        .Types("T", types)
        .Class(OpClass::kElementwise)
        .Infer(InferSameAsFirst)
        .Kernel(kernel);
  };
  using types::kFloats;
  unary("Abs", 13, types::kNumeric, Abs, "|x|; the smallest integer wraps to itself");
  unary("Acos", 22, kFloats, Acos, "inverse cosine, in radians");
  unary("Acosh", 22, kFloats, Acosh, "inverse hyperbolic cosine");
  unary("Asin", 22, kFloats, Asin, "inverse sine, in radians");
  unary("Asinh", 22, kFloats, Asinh, "inverse hyperbolic sine");
  unary("Atan", 22, kFloats, Atan, "inverse tangent, in radians");
  unary("Atanh", 22, kFloats, Atanh, "inverse hyperbolic tangent");
  unary("Ceil", 13, kFloats, Ceil, "the smallest whole number that is not below x");
  unary("Cos", 22, kFloats, Cos, "cosine of radians");
  unary("Cosh", 22, kFloats, Cosh, "hyperbolic cosine");
  unary("Erf", 13, types::kNumeric, Erf,
        "the error function, 2/sqrt(pi) * integral of exp(-t^2) from 0 to x");
  unary("Exp", 13, kFloats, Exp, "e to the power of x");
  unary("Floor", 13, kFloats, Floor, "the largest whole number that is not above x");
  unary("Log", 13, kFloats, Log, "natural logarithm");
  unary("Neg", 13, kFloats | types::kSigned, Neg, "-x; the smallest integer wraps to itself")
      .Infer(InferNeg);
  unary("Reciprocal", 13, kFloats, Reciprocal, "1 / x");
  unary("Round", 22, kFloats, Round, "the nearest whole number, halves to even");
  unary("Sign", 13, types::kNumeric, Sign, "-1, 0 or 1; NaN stays NaN");
  unary("Sin", 22, kFloats, Sin, "sine of radians");
  unary("Sinh", 22, kFloats, Sinh, "hyperbolic sine");
  unary("Sqrt", 13, kFloats, Sqrt, "square root; NaN below 0");
  unary("Tan", 22, kFloats, Tan, "tangent of radians");
}

}  // namespace asc
