// Activation operators: element-wise functions between linear layers, and Clip.
#include <limits>

#include "core/ops/activation.h"
#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/number_cast.h"

namespace asc {
namespace {
float Alpha(const KernelContext& context) { return context.attributes().Float("alpha", 0); }
float Beta(const KernelContext& context) { return context.attributes().Float("beta", 0); }

Status Relu(KernelContext& context) {
  return MapNumeric(context, [](auto x) { return math::Relu(x); });
}
Status LeakyRelu(KernelContext& context) {
  return MapFloats(context,
                   [a = Alpha(context)](auto x) { return math::LeakyRelu<decltype(x)>(x, a); });
}
Status ThresholdedRelu(KernelContext& context) {
  return MapFloats(
      context, [a = Alpha(context)](auto x) { return math::ThresholdedRelu<decltype(x)>(x, a); });
}
Status Elu(KernelContext& context) {
  return MapFloats(context, [a = Alpha(context)](auto x) { return math::Elu<decltype(x)>(x, a); });
}
Status Celu(KernelContext& context) {
  return MapFloats(context, [a = Alpha(context)](auto x) { return math::Celu<decltype(x)>(x, a); });
}
Status Selu(KernelContext& context) {
  return MapFloats(context, [a = Alpha(context), g = context.attributes().Float("gamma", 0)](
                                auto x) { return math::Selu<decltype(x)>(x, a, g); });
}
Status Sigmoid(KernelContext& context) {
  return MapFloats(context, [](auto x) { return math::Sigmoid(x); });
}
Status HardSigmoid(KernelContext& context) {
  return MapFloats(context, [a = Alpha(context), b = Beta(context)](auto x) {
    return math::HardSigmoid<decltype(x)>(x, a, b);
  });
}
Status HardSwish(KernelContext& context) {
  return MapFloats(context, [](auto x) { return math::HardSwish(x); });
}
Status Swish(KernelContext& context) {
  return MapFloats(context,
                   [a = Alpha(context)](auto x) { return math::Swish<decltype(x)>(x, a); });
}
Status Softplus(KernelContext& context) {
  return MapFloats(context, [](auto x) { return math::Softplus(x); });
}
Status Softsign(KernelContext& context) {
  return MapFloats(context, [](auto x) { return math::Softsign(x); });
}
Status Mish(KernelContext& context) {
  return MapFloats(context, [](auto x) { return math::Mish(x); });
}
Status Tanh(KernelContext& context) {
  return MapFloats(context, [](auto x) { return std::tanh(x); });
}
Status Gelu(KernelContext& context) {
  if (context.attributes().String("approximate", "none") == "tanh") {
    return MapFloats(context, [](auto x) { return math::GeluTanh(x); });
  }
  return MapFloats(context, [](auto x) { return math::Gelu(x); });
}

Status SwiGlu(KernelContext& context) {
  const float alpha = Alpha(context);
  const auto map = [&](auto zero) {
    MapBinary<decltype(zero)>(context, [=](auto gate, auto value) {
      return math::Swish<decltype(gate)>(gate, alpha) * value;
    });
  };
  return VisitFloats(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}

// Integers are shrunk in double; results that do not fit become what Cast makes of them.
Status Shrink(KernelContext& context) {
  const float lambd = context.attributes().Float("lambd", 0.5f),
              bias = context.attributes().Float("bias", 0);
  return MapNumeric(context, [=](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      if (x < T(-lambd)) return x + T(bias);
      if (x > T(lambd)) return x - T(bias);
      return x != x ? x : T(0);
    } else {
      const auto wide = static_cast<double>(x);
      if (wide < -lambd) return TruncateTo<T>(wide + bias);
      return wide > lambd ? TruncateTo<T>(wide - bias) : T(0);
    }
  });
}

// A bound that is NaN makes everything NaN, as a comparison with it has no answer.
Status Clip(KernelContext& context) {
  const auto clip = [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    C low = std::numeric_limits<C>::lowest(), high = std::numeric_limits<C>::max();
    if constexpr (std::is_floating_point_v<C>) {
      low = -std::numeric_limits<C>::infinity();
      high = std::numeric_limits<C>::infinity();
    }
    if (context.HasInput(1)) low = Widen(context.input(1).template data<T>()[0]);
    if (context.HasInput(2)) high = Widen(context.input(2).template data<T>()[0]);
    if (low != low || high != high) {
      Map<T>(context, [=](C) { return low != low ? low : high; });
    } else {
      Map<T>(context, [=](C x) { return math::Clip(x, low, high); });
    }
  };
  return VisitNumeric(context.input(0).dtype(), clip) ? Ok() : NoKernel(context);
}

Status InferClip(InferContext& context) {
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!context.HasInput(i) || !context.shape(i).has_rank()) continue;
    const Dim count = context.shape(i).ElementCount();
    if (count.is_constant() && count.value() != 1) {
      return ShapeError("Clip's '", i == 1 ? "min" : "max", "' must be a scalar, given shape ",
                        context.shape(i));
    }
  }
  context.SetOutput(0, context.type(0));
  return Ok();
}

// No broadcasting: gate and value come from one projection each.
Status InferSwiGlu(InferContext& context) {
  const Shape& gate = context.shape(0);
  const Shape& value = context.shape(1);
  bool fits = !gate.has_rank() || !value.has_rank() || gate.rank() == value.rank();
  for (size_t i = 0; fits && gate.has_rank() && value.has_rank() && i < gate.rank(); ++i) {
    fits = !gate[i].is_constant() || !value[i].is_constant() || gate[i] == value[i];
  }
  if (!fits) return ShapeError("SwiGLU needs operands of one shape, given ", gate, " and ", value);
  context.SetOutput(0, gate.has_rank() ? context.type(0) : context.type(1));
  return Ok();
}

Status InferGelu(InferContext& context) {
  const std::string approximate = context.attributes().String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return InvalidArgument("Gelu's 'approximate' must be 'none' or 'tanh', given '", approximate,
                           "'");
  }
  return InferSameAsFirst(context);
}
}  // namespace

void AddActivationOps(OpTable& table) {
  const auto unary = [&](std::string_view name, int since, ReferenceKernel kernel,
                         std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Input("X", "T")
        .Output("Y", "T")
        .Types("T", types::kFloats)
        .Class(OpClass::kElementwise)
        .Infer(InferSameAsFirst)
        .Kernel(kernel);
  };
  unary("Celu", 28, Celu, "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))").Attr("alpha", 1.0f);
  table.Add("Clip", 13)
      .Doc("max(min, min(x, max)); `max` wins where min > max; NaN stays NaN")
      .Input("input", "T")
      .OptionalInput("min", "T")
      .OptionalInput("max", "T")
      .Output("output", "T")
      .Types("T", types::kNumeric)
      .Class(OpClass::kElementwise)
      .Infer(InferClip)
      .Kernel(Clip);
  unary("Elu", 22, Elu, "x, or alpha * (exp(x) - 1) below 0").Attr("alpha", 1.0f);
  unary("Gelu", 20, Gelu, "x times the normal distribution function of x")
      .Fusion("GELU")
      .Attr("approximate", "none", "", "'none', or 'tanh' for the approximation by tanh")
      .Infer(InferGelu);
  unary("HardSigmoid", 22, HardSigmoid, "max(0, min(1, alpha * x + beta))")
      .Method("hardsigmoid")
      .Attr("alpha", 0.2f)
      .Attr("beta", 0.5f);
  unary("HardSwish", 22, HardSwish, "x * max(0, min(1, x / 6 + 0.5))").Method("hardswish");
  unary("LeakyRelu", 16, LeakyRelu, "x, or alpha * x below 0")
      .Fusion("LeakyReLU")
      .Attr("alpha", 0.01f, "negative_slope");
  unary("Mish", 22, Mish, "x * tanh(softplus(x))");
  unary("Relu", 14, Relu, "max(x, 0); NaN stays NaN")
      .Fusion("ReLU")
      .Types("T", types::kFloats | types::kSigned);
  unary("Selu", 22, Selu, "gamma * x, or gamma * alpha * (exp(x) - 1) below 0")
      .Attr("alpha", 1.67326319f)
      .Attr("gamma", 1.05070102f);
  unary("Shrink", 9, Shrink, "x moved towards 0 by `bias` where |x| > lambd, else 0")
      .Types("T", types::kNumeric - TypeSet{DataType::kBFloat16})
      .Attr("lambd", 0.5f)
      .Attr("bias", 0.0f);
  unary("Sigmoid", 13, Sigmoid, "1 / (1 + exp(-x))");
  unary("Softplus", 22, Softplus, "log(1 + exp(x))");
  unary("Softsign", 22, Softsign, "x / (1 + |x|)");
  table.Add("SwiGLU", 28)
      .Doc("swish(a) * b")
      .Method("swiglu")
      .Input("A", "T")
      .Input("B", "T")
      .Output("Y", "T")
      .Types("T", types::kFloats)
      .Attr("alpha", 1.0f)
      .Class(OpClass::kElementwise)
      .Infer(InferSwiGlu)
      .Kernel(SwiGlu);
  unary("Swish", 24, Swish, "x * sigmoid(alpha * x)").Attr("alpha", 1.0f);
  unary("Tanh", 13, Tanh, "hyperbolic tangent");
  unary("ThresholdedRelu", 22, ThresholdedRelu, "x where x > alpha, else 0; NaN stays NaN")
      .Attr("alpha", 1.0f);
}

}  // namespace asc
