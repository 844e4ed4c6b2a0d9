// Max, Min, Sum and Mean of any number of broadcast operands. NaN propagates.
#include <algorithm>
#include <vector>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
// Folds all inputs into `total` (of the output's shape) by f(f(input 0, input 1), input 2)... A tile
// is finished before it is written: the output may have the memory of any of the inputs.
template <typename T, typename A, typename F>
void Fold(KernelContext& context, A* total, F f) {
  constexpr int64_t kTile = 256;
  const Dims& dims = context.output(0).dims();
  std::vector<StridedWalk<1>> walks;
  for (size_t k = 0; k < context.input_count(); ++k) {
    walks.push_back(BroadcastWalk(dims, context.input(k).dims()));
  }
  ParallelFor(context.output(0).size(), kElementGrain, [&](int64_t begin, int64_t end) {
    A tile[kTile];
    for (int64_t at = begin; at < end; at += kTile) {
      const int64_t last = std::min(end, at + kTile);
      for (size_t k = 0; k < walks.size(); ++k) {
        const T* x = context.input(k).data<T>();
        const int64_t step = walks[k].inner_stride(0);
        walks[k].Rows(at, last, [&](int64_t index, const auto& offsets, int64_t count) {
          const T* row = x + offsets[0];
          A* out = tile + (index - at);
          if (k == 0) {
            for (int64_t i = 0; i < count; ++i) out[i] = static_cast<A>(row[i * step]);
          } else {
            for (int64_t i = 0; i < count; ++i) out[i] = f(out[i], static_cast<A>(row[i * step]));
          }
        });
      }
      std::copy_n(tile, last - at, total + at);
    }
  });
}

// Picks one of the inputs' elements, so narrow floats need no wider sum.
template <typename F>
Status Pick(KernelContext& context, F better) {
  const auto fold = [&](auto zero) {
    using T = decltype(zero);
    Fold<T>(context, context.output(0).data<T>(),
            [&](T a, T b) { return better(Widen(a), Widen(b)) ? a : b; });
  };
  return VisitNumeric(context.input(0).dtype(), fold) ? Ok() : NoKernel(context);
}

Status Max(KernelContext& context) {
  return Pick(context, [](auto a, auto b) { return a > b || a != a; });
}
Status Min(KernelContext& context) {
  return Pick(context, [](auto a, auto b) { return a < b || a != a; });
}

template <bool kMean>
Status SumOrMean(KernelContext& context) {
  const auto count = static_cast<float>(context.input_count());
  const auto fold = [&](auto zero) -> Status {
    using T = decltype(zero);
    using A = ComputeType<T>;
    Tensor& out = context.output(0);
    const auto add = [](A a, A b) { return a + b; };
    if constexpr (std::is_same_v<T, A>) {
      Fold<T>(context, out.data<T>(), add);
      if (kMean)
        MapElements(out.data<T>(), out.data<T>(), out.size(), [=](A x) { return x / A(count); });
    } else {
      // Rounded once, from a sum in float32.
      ASC_ASSIGN_OR_RETURN(const auto scratch,
                           context.Scratch(static_cast<size_t>(out.size()) * sizeof(A)));
      A* total = reinterpret_cast<A*>(scratch->data());
      Fold<T>(context, total, add);
      MapElements(total, out.data<T>(), out.size(), [=](A x) { return kMean ? x / count : x; });
    }
    return Ok();
  };
  Status status = NoKernel(context);
  VisitFloats(context.input(0).dtype(), [&](auto zero) { status = fold(zero); });
  return status;
}

template <Dim (*kPick)(const Dim&, const Dim&)>
Status InferMinMax(InferContext& context) {
  ASC_RETURN_IF_ERROR(InferBroadcast(context));
  if (const auto known = KnownElementsBroadcast(context)) {
    std::vector<Dim> out = (*known)[0];
    for (size_t k = 1; k < known->size(); ++k) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = kPick(out[i], (*known)[k][i]);
    }
    SetKnownElements(context, 0, std::move(out));
  }
  return Ok();
}
}  // namespace

void AddElementwiseVariadicOps(OpTable& table) {
  const auto variadic = [&](std::string_view name, std::string_view output, TypeSet types,
                            ReferenceKernel kernel, InferFn infer, std::string_view doc) {
    table.Add(name, 13)
        .Doc(doc)
        .Input("data_0", "T", ParameterKind::kVariadic)
        .Output(output, "T")
        .Types("T", types)
        .Class(OpClass::kElementwise)
        .Infer(infer)
        .Kernel(kernel);
  };
  variadic("Max", "max", types::kNumeric, Max, InferMinMax<Dim::Max>,
           "the largest of the broadcast inputs; NaN wins");
  variadic("Mean", "mean", types::kFloats, SumOrMean<true>, InferBroadcast,
           "the mean of the broadcast inputs");
  variadic("Min", "min", types::kNumeric, Min, InferMinMax<Dim::Min>,
           "the smallest of the broadcast inputs; NaN wins");
  variadic("Sum", "sum", types::kFloats, SumOrMean<false>, InferBroadcast,
           "the sum of the broadcast inputs");
}

}  // namespace asc
