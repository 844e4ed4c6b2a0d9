// Pow: the exponent may be of another type than the base; the result has the base's.
#include <atomic>
#include <cmath>

#include "core/ops/cast_elements.h"
#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/number_cast.h"

namespace asc {
namespace {
// Wraps around. A negative exponent truncates the fraction, so only 1 and -1 leave anything.
template <typename T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == -1 ? T(exponent % 2 == 0 ? 1 : -1) : T(0);
  T result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = WrapMul(result, base);
    base = WrapMul(base, base);
  }
  return result;
}

// The exponent's elements as E.
template <typename E>
Result<Tensor> ExponentAs(KernelContext& context) {
  const Tensor& exponent = context.input(1);
  ASC_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DataTypeOf<E>::value, exponent.dims(),
                                                    context.run().allocator, MemoryUse::kScratch));
  CastElements(exponent.dtype(), exponent.raw(), out.dtype(), out.raw(), out.size());
  return out;
}

template <typename T>
Status PowIntegers(KernelContext& context) {
  const Tensor& base = context.input(0);
  if (IsFloat(context.input(1).dtype())) {
    ASC_ASSIGN_OR_RETURN(const Tensor exponent, ExponentAs<double>(context));
    MapBroadcast<T, double, T>(base, exponent, context.output(0), [](T a, double b) {
      return TruncateTo<T>(std::pow(static_cast<double>(a), b));
    });
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const Tensor exponent, ExponentAs<int64_t>(context));
  if (context.output(0).size() > 0) {
    bool negative = false, zero = false;
    for (const int64_t e : exponent.values<int64_t>()) negative |= e < 0;
    for (const T b : base.values<T>()) zero |= b == 0;
    std::atomic<bool> both = false;
    if (negative && zero) {
      MapBroadcast<T, int64_t, T>(base, exponent, context.output(0), [&](T a, int64_t b) {
        if (a == 0 && b < 0) both = true;
        return a;
      });
    }
    if (both)
      return Error(Code::kArithmetic, "Pow of ", DataTypeName(base.dtype()),
                   ": 0 to a negative power");
  }
  MapBroadcast<T, int64_t, T>(base, exponent, context.output(0), IntegerPower<T>);
  return Ok();
}

// In float where base and exponent both are at most that wide, else in double.
template <typename T>
Status PowFloats(KernelContext& context) {
  const DataType exponent_type = context.input(1).dtype();
  const bool narrow = std::is_same_v<ComputeType<T>, float> &&
                      (types::kFloats - TypeSet{DataType::kFloat64}).Contains(exponent_type);
  if (narrow) {
    ASC_ASSIGN_OR_RETURN(const Tensor exponent, ExponentAs<float>(context));
    MapBroadcast<T, float, T>(context.input(0), exponent, context.output(0), [](auto a, float b) {
      using C = decltype(a);
      return static_cast<C>(b == 2.0f ? a * a : std::pow(a, static_cast<C>(b)));
    });
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const Tensor exponent, ExponentAs<double>(context));
  MapBroadcast<T, double, T>(context.input(0), exponent, context.output(0), [](auto a, double b) {
    return static_cast<decltype(a)>(std::pow(static_cast<double>(a), b));
  });
  return Ok();
}

Status Pow(KernelContext& context) {
  Status status = NoKernel(context);
  const DataType type = context.input(0).dtype();
  VisitFloats(type, [&](auto zero) { status = PowFloats<decltype(zero)>(context); });
  VisitType<int32_t, int64_t>(type,
                              [&](auto zero) { status = PowIntegers<decltype(zero)>(context); });
  return status;
}
}  // namespace

void AddPowOps(OpTable& table) {
  table.Add("Pow", 15)
      .Doc("x to the power of y, broadcast, in x's type; integers wrap around")
      .Input("X", "T")
      .Input("Y", "T1")
      .Output("Z", "T")
      .Types("T", types::kFloats | types::kIndex)
      .Types("T1", types::kNumeric)
      .Class(OpClass::kElementwise)
      .Infer(InferBroadcast)
      .Kernel(Pow);
}

}  // namespace asc
