// Unary element-wise operators: y[i] = f(x[i]). float16 and bfloat16 are computed in float32 and rounded once.
#include <cmath>
#include <type_traits>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr int64_t kGrain = 1 << 14;

// Runs `f` over the elements; narrow floats are widened to float for it.
template <typename T, typename F>
void Map(KernelContext& context, F f) {
  const T* x = context.input(0).data<T>();
  T* y = context.output(0).data<T>();
  ParallelFor(context.input(0).size(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        y[i] = T(static_cast<float>(f(static_cast<float>(x[i]))));
      } else {
        y[i] = static_cast<T>(f(x[i]));
      }
    }
  });
}

Status NoKernel(const KernelContext& context) {
  return InternalError(context.schema().FullName(), " has no kernel for ", DataTypeName(context.input(0).dtype()));
}

template <typename F>
Status MapFloats(KernelContext& context, F f) {
  return VisitFloats(context.input(0).dtype(), [&](auto zero) { Map<decltype(zero)>(context, f); }) ? Ok() : NoKernel(context);
}

template <typename F>
Status MapNumeric(KernelContext& context, F f) {
  return VisitNumeric(context.input(0).dtype(), [&](auto zero) { Map<decltype(zero)>(context, f); }) ? Ok() : NoKernel(context);
}

// NaN compares false, so it falls through to itself.
Status Relu(KernelContext& context) {
  return MapNumeric(context, [](auto x) { return x < decltype(x)(0) ? decltype(x)(0) : x; });
}
Status Exp(KernelContext& context) {
  return MapFloats(context, [](auto x) { return std::exp(x); });
}
}  // namespace

void AddElementwiseUnaryOps(OpTable& table) {
  const auto unary = [&](std::string_view name, int since, TypeSet types, ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, since).Doc(doc).Input("X", "T").Output("Y", "T").Types("T", types)
        .Class(OpClass::kElementwise).Infer(InferSameAsFirst).Kernel(kernel);
  };
  unary("Exp", 13, types::kFloats, Exp, "e to the power of x");
  unary("Relu", 14, types::kFloats | types::kSigned, Relu, "max(x, 0); NaN stays NaN");
}

}  // namespace asc
