// Arithmetic on two broadcast operands. Integers wrap around; integer division by zero is refused
// at run.
#include <cmath>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
template <typename F>
Status BinaryNumeric(KernelContext& context, F f) {
  const auto map = [&](auto zero) { MapBinary<decltype(zero)>(context, f); };
  return VisitNumeric(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}

Status Add(KernelContext& context) {
  return BinaryNumeric(context, [](auto a, auto b) {
    if constexpr (std::is_integral_v<decltype(a)>) {
      return WrapAdd(a, b);
    } else {
      return a + b;
    }
  });
}

Status Sub(KernelContext& context) {
  return BinaryNumeric(context, [](auto a, auto b) {
    if constexpr (std::is_integral_v<decltype(a)>) {
      return WrapSub(a, b);
    } else {
      return a - b;
    }
  });
}

Status Mul(KernelContext& context) {
  return BinaryNumeric(context, [](auto a, auto b) {
    if constexpr (std::is_integral_v<decltype(a)>) {
      return WrapMul(a, b);
    } else {
      return a * b;
    }
  });
}

// Each element of the divisor is used when the output has any.
Status RefuseZeroDivisor(KernelContext& context) {
  const Tensor& divisor = context.input(1);
  if (context.output(0).size() == 0) return Ok();
  int64_t zero_at = -1;
  VisitIntegers(divisor.dtype(), [&](auto zero) {
    const auto values = divisor.values<decltype(zero)>();
    for (size_t i = 0; i < values.size() && zero_at < 0; ++i) {
      if (values[i] == 0) zero_at = static_cast<int64_t>(i);
    }
  });
  if (zero_at < 0) return Ok();
  return Error(Code::kArithmetic, context.schema().FullName(), " of ",
               DataTypeName(divisor.dtype()), " by zero: element ", zero_at, " of the divisor is 0")
      .WithHint("mask zeros out before dividing, or divide in a floating type");
}

Status Div(KernelContext& context) {
  ASC_RETURN_IF_ERROR(RefuseZeroDivisor(context));
  return BinaryNumeric(context, [](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return b == T(-1) ? WrapSub<T>(0, a)
                        : static_cast<T>(a / b);  // the smallest integer / -1 would trap
    } else {
      return static_cast<T>(a / b);
    }
  });
}

// a - floor(a / b) * b, with the special cases of the operator's definition.
template <typename T>
T FloorMod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    T rest = std::fmod(a, b);
    if (rest != T(0)) {
      if ((rest < T(0)) != (b < T(0))) rest += b;
    } else {
      rest = std::copysign(T(0), b);
    }
    return rest;
  } else if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;  // the smallest integer % -1 would trap
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

template <typename T>
T TruncMod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else if constexpr (std::is_signed_v<T>) {
    return b == T(-1) ? T(0) : static_cast<T>(a % b);
  } else {
    return static_cast<T>(a % b);
  }
}

Status Mod(KernelContext& context) {
  ASC_RETURN_IF_ERROR(RefuseZeroDivisor(context));
  if (context.attributes().Int("fmod", 0) != 0) {
    return BinaryNumeric(context, [](auto a, auto b) { return TruncMod(a, b); });
  }
  return BinaryNumeric(context, [](auto a, auto b) { return FloorMod(a, b); });
}

// Integers are multiplied with wrap-around.
Status PRelu(KernelContext& context) {
  return BinaryNumeric(context, [](auto x, auto slope) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return x < T(0) ? slope * x : x;
    } else if constexpr (std::is_signed_v<T>) {
      return x < T(0) ? WrapMul(slope, x) : x;
    } else {
      return x;
    }
  });
}

// The shape rule of arithmetic that shape computations use: elements that are known stay known.
template <typename F>
Status InferArithmetic(InferContext& context, F element) {
  ASC_RETURN_IF_ERROR(InferBroadcast(context));
  if (const auto known = KnownElementsBroadcast(context)) {
    std::vector<Dim> out;
    for (size_t i = 0; i < (*known)[0].size(); ++i)
      out.push_back(element((*known)[0][i], (*known)[1][i]));
    SetKnownElements(context, 0, std::move(out));
  }
  return Ok();
}

Status InferAdd(InferContext& context) {
  return InferArithmetic(context, [](const Dim& a, const Dim& b) { return a + b; });
}
Status InferSub(InferContext& context) {
  return InferArithmetic(context, [](const Dim& a, const Dim& b) { return a - b; });
}
Status InferMul(InferContext& context) {
  return InferArithmetic(context, [](const Dim& a, const Dim& b) { return a * b; });
}
Status InferDiv(InferContext& context) {
  return InferArithmetic(context, [](const Dim& a, const Dim& b) {
    if (b.IsConstant(0)) return Dim::Unknown();
    // Division truncates, which is floor division only where both are known not to be negative.
    if (a.IsNonNegative() && b.IsNonNegative()) return Dim::FloorDiv(a, b);
    if (!a.is_constant() || !b.is_constant()) return Dim::Unknown();
    return b.value() == -1 ? Dim(0) - a : Dim(a.value() / b.value());
  });
}
Status InferMod(InferContext& context) {
  const int64_t fmod = context.attributes().Int("fmod", 0);
  if (fmod != 0 && fmod != 1) return InvalidArgument("Mod's 'fmod' must be 0 or 1, given ", fmod);
  return InferArithmetic(context, [](const Dim& a, const Dim& b) {
    if (b.IsConstant(0) || !a.IsNonNegative() || !b.IsNonNegative()) return Dim::Unknown();
    return a - Dim::FloorDiv(a, b) * b;
  });
}

Status InferPRelu(InferContext& context) {
  // Unidirectional: the slope broadcasts to x, never x to the slope.
  const Shape& x = context.shape(0);
  ASC_ASSIGN_OR_RETURN(const Shape both, BroadcastInputs(context));
  if (x.has_rank() && both.has_rank()) {
    bool grows = both.rank() != x.rank();
    for (size_t i = 0; !grows && i < x.rank(); ++i)
      grows = x[i].IsConstant(1) && both[i].is_constant() && both[i] != x[i];
    if (grows) {
      return ShapeError("PRelu's slope of shape ", context.shape(1),
                        " does not broadcast to x of shape ", x);
    }
  }
  return InferSameAsFirst(context);
}
}  // namespace

void AddElementwiseBinaryOps(OpTable& table) {
  const auto binary = [&](std::string_view name, int since, TypeSet types, ReferenceKernel kernel,
                          InferFn infer, std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Input("A", "T")
        .Input("B", "T")
        .Output("C", "T")
        .Types("T", types)
        .Class(OpClass::kElementwise)
        .Infer(infer)
        .Kernel(kernel);
  };
  using types::kNumeric;
  binary("Add", 14, kNumeric, Add, InferAdd, "a + b, broadcast; integers wrap around");
  binary("Div", 14, kNumeric, Div, InferDiv,
         "a / b, broadcast; integers truncate, and refuse zero divisors at run");
  binary("Mod", 28, kNumeric, Mod, InferMod, "a - floor(a / b) * b, broadcast")
      .Attr("fmod", int64_t{0}, "", "1: a - trunc(a / b) * b, as C's fmod");
  binary("Mul", 14, kNumeric, Mul, InferMul, "a * b, broadcast; integers wrap around");
  table.Add("PRelu", 16)
      .Doc("x, or slope * x below 0; the slope broadcasts to x")
      .Method("prelu")
      .Fusion("PReLU")
      .Input("X", "T")
      .Input("slope", "T")
      .Output("Y", "T")
      .Types("T", types::kFloats | TypeSet{DataType::kInt32, DataType::kInt64, DataType::kUInt32,
                                           DataType::kUInt64})
      .Class(OpClass::kElementwise)
      .Infer(InferPRelu)
      .Kernel(PRelu);
  binary("Sub", 14, kNumeric, Sub, InferSub, "a - b, broadcast; integers wrap around");
}

}  // namespace asc
