// GlobalAveragePool, GlobalMaxPool and GlobalLpPool: one value for each channel of each image.
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"

namespace asc {
namespace {
Status InferGlobalPool(InferContext& context) {
  Shape shape = context.shape(0);
  if (shape.has_rank() && shape.rank() < 2) {
    return ShapeError(context.schema().FullName(), " needs data [N, C, extents...], given ", shape);
  }
  for (size_t i = 2; shape.has_rank() && i < shape.rank(); ++i) shape[i] = Dim(1);
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

Status InferGlobalLpPool(InferContext& context) {
  const int64_t p = context.attributes().Int("p", 2);
  if (p < 1) return InvalidArgument("GlobalLpPool needs p >= 1, given ", p);
  return InferGlobalPool(context);
}

// Folds each plane: state = f(state, x) from `start` on, then the output is finish(state,
// elements). States are double.
template <typename F, typename Finish>
Status FoldPlanes(KernelContext& context, double start, F f, Finish finish) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const int64_t size = ElementCount(x.dims(), 2, x.rank());
  const bool done = VisitFloats(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ParallelFor(y.size(), std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, size)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t plane = begin; plane < end; ++plane) {
                    const T* from = x.data<T>() + plane * size;
                    double state = start;
                    for (int64_t i = 0; i < size; ++i)
                      state = f(state, static_cast<double>(from[i]));
                    y.data<T>()[plane] =
                        T(static_cast<ComputeType<T>>(finish(state, static_cast<double>(size))));
                  }
                });
  });
  return done ? Ok() : NoKernel(context);
}

Status GlobalAveragePool(KernelContext& context) {
  return FoldPlanes(
      context, 0, [](double sum, double x) { return sum + x; },
      [](double sum, double count) { return sum / count; });
}

Status GlobalMaxPool(KernelContext& context) {
  return FoldPlanes(
      context, -INFINITY, [](double best, double x) { return x > best || x != x ? x : best; },
      [](double best, double) { return best; });
}

Status GlobalLpPool(KernelContext& context) {
  const auto p = static_cast<double>(context.attributes().Int("p", 2));
  if (p == 1) {
    return FoldPlanes(
        context, 0, [](double sum, double x) { return sum + std::fabs(x); },
        [](double sum, double) { return sum; });
  }
  if (p == 2) {
    return FoldPlanes(
        context, 0, [](double sum, double x) { return sum + x * x; },
        [](double sum, double) { return std::sqrt(sum); });
  }
  return FoldPlanes(
      context, 0, [p](double sum, double x) { return sum + std::pow(std::fabs(x), p); },
      [p](double sum, double) { return std::pow(sum, 1 / p); });
}
}  // namespace

void AddGlobalPoolOps(OpTable& table) {
  const auto add = [&](std::string_view name, ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, 22)
        .Doc(doc)
        .Input("x", "T")
        .Output("y", "T")
        .Types("T", types::kFloats)
        .Class(OpClass::kPooling)
        .Infer(InferGlobalPool)
        .Kernel(kernel);
  };
  add("GlobalAveragePool", GlobalAveragePool,
      "the mean of each channel of data [N, C, extents...]");
  add("GlobalLpPool", GlobalLpPool, "(sum of |x|^p)^(1/p) of each channel")
      .Attr("p", int64_t{2}, "norm_type", "the exponent")
      .Infer(InferGlobalLpPool);
  add("GlobalMaxPool", GlobalMaxPool, "the largest element of each channel; NaN wins");
}

}  // namespace asc
