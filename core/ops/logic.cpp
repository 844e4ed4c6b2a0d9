// Logical and bitwise operators, comparisons, and tests for NaN and infinity.
#include <limits>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
// y[i] = f(x[i]) from copies that stores into y cannot change: bytes may alias anything else.
template <typename T, typename R, typename F>
void MapApart(const T* x, R* y, int64_t count, const F& f) {
  ParallelFor(count, kElementGrain, [&](int64_t begin, int64_t end) {
    const T* from = x;
    R* to = y;
    const F own = f;
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<R>(own(Widen(from[i])));
  });
}

// Booleans are read and written as bytes: of bool the compiler makes no vector code.
Status Not(KernelContext& context) {
  const Tensor& x = context.input(0);
  MapApart(static_cast<const uint8_t*>(x.raw()), static_cast<uint8_t*>(context.output(0).raw()),
           x.size(), [](uint8_t value) { return value == 0; });
  return Ok();
}

Status BitwiseNot(KernelContext& context) {
  return MapIntegers(context, [](auto x) { return static_cast<decltype(x)>(~x); });
}

template <typename F>
Status Logical(KernelContext& context, F f) {
  MapBroadcast<uint8_t, uint8_t, uint8_t>(
      context.input(0), context.input(1), context.output(0),
      [=](uint8_t a, uint8_t b) { return f(uint8_t{a != 0}, uint8_t{b != 0}); });
  return Ok();
}
Status And(KernelContext& context) {
  return Logical(context, [](uint8_t a, uint8_t b) { return a & b; });
}
Status Or(KernelContext& context) {
  return Logical(context, [](uint8_t a, uint8_t b) { return a | b; });
}
Status Xor(KernelContext& context) {
  return Logical(context, [](uint8_t a, uint8_t b) { return a ^ b; });
}

template <typename F>
Status Bitwise(KernelContext& context, F f) {
  const auto map = [&](auto zero) { MapBinary<decltype(zero)>(context, f); };
  return VisitIntegers(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}
Status BitwiseAnd(KernelContext& context) {
  return Bitwise(context, [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
}
Status BitwiseOr(KernelContext& context) {
  return Bitwise(context, [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
}
Status BitwiseXor(KernelContext& context) {
  return Bitwise(context, [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
}

// Shifts by nothing less than the width, or by a negative number, leave what the sign bit fills in.
Status BitShift(KernelContext& context) {
  if (context.attributes().String("direction", "") == "LEFT") {
    return Bitwise(context, [](auto x, auto by) {
      using T = decltype(x);
      using U = std::make_unsigned_t<T>;
      if (by < 0 || static_cast<uint64_t>(by) >= sizeof(T) * 8) return T(0);
      return static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(x)) << by));
    });
  }
  return Bitwise(context, [](auto x, auto by) {
    using T = decltype(x);
    if (by < 0 || static_cast<uint64_t>(by) >= sizeof(T) * 8) return static_cast<T>(x < 0 ? -1 : 0);
    return static_cast<T>(x >> by);
  });
}

template <typename F>
Status Compare(KernelContext& context, F f) {
  const auto map = [&](auto zero) {
    using T = decltype(zero);
    MapBroadcast<T, T, bool>(context.input(0), context.input(1), context.output(0), f);
  };
  return VisitNumeric(context.input(0).dtype(), map) ? Ok() : NoKernel(context);
}
Status Greater(KernelContext& context) {
  return Compare(context, [](auto a, auto b) { return a > b; });
}
Status GreaterOrEqual(KernelContext& context) {
  return Compare(context, [](auto a, auto b) { return a >= b; });
}
Status Less(KernelContext& context) {
  return Compare(context, [](auto a, auto b) { return a < b; });
}
Status LessOrEqual(KernelContext& context) {
  return Compare(context, [](auto a, auto b) { return a <= b; });
}

void EqualStrings(const Tensor& a, const Tensor& b, Tensor& out) {
  const auto walk = BroadcastWalk(out.dims(), a.dims(), b.dims());
  walk.Rows(0, walk.size(), [&](int64_t index, const auto& offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      out.data<bool>()[index + i] = a.data<std::string>()[offsets[0] + i * walk.inner_stride(0)] ==
                                    b.data<std::string>()[offsets[1] + i * walk.inner_stride(1)];
    }
  });
}

Status Equal(KernelContext& context) {
  const auto equal = [](auto a, auto b) { return a == b; };
  if (context.input(0).dtype() == DataType::kBool) return Logical(context, equal);
  if (context.input(0).dtype() != DataType::kString) return Compare(context, equal);
  EqualStrings(context.input(0), context.input(1), context.output(0));
  return Ok();
}

// f of each element as a float, also of the 8-bit types.
template <typename F>
Status Test(KernelContext& context, F f) {
  const Tensor& x = context.input(0);
  bool* y = context.output(0).data<bool>();
  if (VisitFloats(x.dtype(),
                  [&](auto zero) { MapApart(x.data<decltype(zero)>(), y, x.size(), f); }))
    return Ok();
  const auto* bits = static_cast<const uint8_t*>(x.raw());
  for (int64_t i = 0; i < x.size(); ++i) y[i] = f(NarrowToFloat(x.dtype(), bits[i]));
  return Ok();
}
Status IsNan(KernelContext& context) {
  return Test(context, [](auto x) { return x != x; });
}
Status IsInf(KernelContext& context) {
  const bool negative = context.attributes().Int("detect_negative", 1) != 0;
  const bool positive = context.attributes().Int("detect_positive", 1) != 0;
  return Test(context, [=](auto x) {
    constexpr auto kInfinity = std::numeric_limits<decltype(x)>::infinity();
    return (negative & (x == -kInfinity)) | (positive & (x == kInfinity));
  });
}

Status InferTest(InferContext& context) {
  context.SetOutput(0, DataType::kBool, context.shape(0));
  return Ok();
}

// 1, 0, or unknown where neither is sure.
Dim SurelyEqual(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  const Dim difference = a - b;
  const bool apart = difference.is_constant() || (difference - Dim(1)).IsNonNegative() ||
                     (Dim(-1) - difference).IsNonNegative();
  return apart ? Dim(0) : Dim::Unknown();
}

// Shape computations compare extents with -1 and the like: the answers are carried along as 0
// and 1.
Status InferEqual(InferContext& context) {
  ASC_RETURN_IF_ERROR(InferBroadcastBool(context));
  if (const auto known = KnownElementsBroadcast(context)) {
    std::vector<Dim> out;
    for (size_t i = 0; i < (*known)[0].size(); ++i)
      out.push_back(SurelyEqual((*known)[0][i], (*known)[1][i]));
    context.SetOutputDims(0, std::move(out));
  }
  return Ok();
}

Status InferBitShift(InferContext& context) {
  const std::string direction = context.attributes().String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return InvalidArgument("BitShift's 'direction' must be LEFT or RIGHT, given '", direction, "'");
  }
  return InferBroadcast(context);
}
}  // namespace

void AddLogicOps(OpTable& table) {
  const auto binary = [&](std::string_view name, std::string_view method, int since, TypeSet types,
                          ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input("A", "T")
        .Input("B", "T")
        .Output("C", "T")
        .Types("T", types)
        .Class(OpClass::kElementwise)
        .Infer(InferBroadcast)
        .Kernel(kernel);
  };
  const auto compare = [&](std::string_view name, std::string_view method, int since, TypeSet types,
                           ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input("A", "T")
        .Input("B", "T")
        .Output("C", "T1")
        .Types("T", types)
        .Types("T1", types::kBool)
        .Class(OpClass::kElementwise)
        .Infer(InferBroadcastBool)
        .Kernel(kernel);
  };
  binary("And", "logical_and", 7, types::kBool, And, "a and b, broadcast");
  binary("BitShift", "bit_shift", 28, types::kIntegers, BitShift, "a shifted by b bits, broadcast")
      .RequiredAttr("direction", AttributeType::kString, "",
                    "LEFT or RIGHT; signed numbers keep their sign to the right")
      .Infer(InferBitShift);
  binary("BitwiseAnd", "bitwise_and", 18, types::kIntegers, BitwiseAnd, "a & b, broadcast");
  binary("BitwiseOr", "bitwise_or", 18, types::kIntegers, BitwiseOr, "a | b, broadcast");
  binary("BitwiseXor", "bitwise_xor", 18, types::kIntegers, BitwiseXor, "a ^ b, broadcast");
  binary("Or", "logical_or", 7, types::kBool, Or, "a or b, broadcast");
  binary("Xor", "logical_xor", 7, types::kBool, Xor, "either a or b, broadcast");
  compare("Equal", "equal", 19, types::kNumeric | types::kBool | types::kString, Equal,
          "a == b, broadcast")
      .Infer(InferEqual);
  compare("Greater", "greater", 13, types::kNumeric, Greater, "a > b, broadcast");
  compare("GreaterOrEqual", "greater_or_equal", 16, types::kNumeric, GreaterOrEqual,
          "a >= b, broadcast");
  compare("Less", "less", 13, types::kNumeric, Less, "a < b, broadcast");
  compare("LessOrEqual", "less_or_equal", 16, types::kNumeric, LessOrEqual, "a <= b, broadcast");
  const auto unary = [&](std::string_view name, std::string_view method, int since, TypeSet types,
                         ReferenceKernel kernel, std::string_view doc) {
    table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input("X", "T")
        .Output("Y", "T")
        .Types("T", types)
        .Class(OpClass::kElementwise)
        .Infer(InferSameAsFirst)
        .Kernel(kernel);
  };
  unary("BitwiseNot", "bitwise_not", 18, types::kIntegers, BitwiseNot, "all bits flipped");
  unary("Not", "logical_not", 1, types::kBool, Not, "not x");
  const auto test = [&](std::string_view name, std::string_view method, ReferenceKernel kernel,
                        std::string_view doc) {
    return table.Add(name, 20)
        .Doc(doc)
        .Method(method)
        .Input("X", "T1")
        .Output("Y", "T2")
        .Types("T1", types::kFloats | TypeSet{DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                              DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ})
        .Types("T2", types::kBool)
        .Class(OpClass::kElementwise)
        .Infer(InferTest)
        .Kernel(kernel);
  };
  test("IsInf", "isinf", IsInf, "whether x is infinite")
      .Attr("detect_negative", int64_t{1}, "", "0: minus infinity does not count")
      .Attr("detect_positive", int64_t{1}, "", "0: plus infinity does not count");
  test("IsNaN", "isnan", IsNan, "whether x is not a number");
}

}  // namespace asc
