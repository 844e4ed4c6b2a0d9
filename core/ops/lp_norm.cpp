// LRN (across channels) and LpNormalization (along an axis).
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"

namespace asc {
namespace {
Status InferLrn(InferContext& context) {
  const int64_t size = context.attributes().Int("size", 0);
  if (size < 1) return InvalidArgument("LRN needs size >= 1, given ", size);
  if (context.shape(0).has_rank() && context.shape(0).rank() < 2) {
    return ShapeError("LRN needs data [N, C, extents...], given ", context.shape(0));
  }
  return InferSameAsFirst(context);
}

template <typename A>
Status LrnAs(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  const AttributeMap& attributes = context.attributes();
  const int64_t channels = dims[1], inner = ElementCount(dims, 2, dims.size()),
                size = attributes.Int("size", 1);
  const auto alpha = static_cast<A>(attributes.Float("alpha", 1e-4f)) / static_cast<A>(size);
  const A beta = attributes.Float("beta", 0.75f), bias = attributes.Float("bias", 1);
  const int64_t before = std::min((size - 1) / 2, channels),
                after = std::min(size - 1 - (size - 1) / 2, channels);
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  ParallelFor(dims[0] * channels, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, inner)),
              [&](int64_t begin, int64_t end) {
                for (int64_t plane = begin; plane < end; ++plane) {
                  const int64_t c = plane % channels;
                  A* to = y.data() + plane * inner;
                  std::fill_n(to, inner, A(0));
                  for (int64_t other = std::max<int64_t>(0, c - before);
                       other <= std::min(channels - 1, c + after); ++other) {
                    const A* from = x.data() + (plane - c + other) * inner;
                    for (int64_t i = 0; i < inner; ++i) to[i] += from[i] * from[i];
                  }
                  const A* own = x.data() + plane * inner;
                  for (int64_t i = 0; i < inner; ++i)
                    to[i] = own[i] / std::pow(bias + alpha * to[i], beta);
                }
              });
  y.Finish();
  return Ok();
}

Status Lrn(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? LrnAs<double>(context)
                                                        : LrnAs<float>(context);
}

Status InferLpNorm(InferContext& context) {
  const int64_t p = context.attributes().Int("p", 2);
  if (p != 1 && p != 2) return InvalidArgument("LpNormalization has p 1 or 2, given ", p);
  if (context.shape(0).has_rank()) {
    const auto rank = static_cast<int64_t>(context.shape(0).rank());
    ASC_RETURN_IF_ERROR(NormalizeAxis(context.attributes().Int("axis", -1), rank).status());
  }
  return InferSameAsFirst(context);
}

template <typename A>
Status LpNormAs(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  ASC_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(context.attributes().Int("axis", -1),
                                                         static_cast<int64_t>(dims.size())));
  const bool squares = context.attributes().Int("p", 2) == 2;
  const int64_t length = dims[static_cast<size_t>(axis)],
                inner = ElementCount(dims, static_cast<size_t>(axis) + 1, dims.size());
  const int64_t outer = ElementCount(dims, 0, static_cast<size_t>(axis));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  ParallelFor(outer * inner, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, length)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const int64_t start = row / inner * length * inner + row % inner;
                  double norm = 0;
                  for (int64_t i = 0; i < length; ++i) {
                    const auto value = static_cast<double>(x.data()[start + i * inner]);
                    norm += squares ? value * value : std::fabs(value);
                  }
                  if (squares) norm = std::sqrt(norm);
                  for (int64_t i = 0; i < length; ++i) {
                    const int64_t at = start + i * inner;
                    y.data()[at] =
                        norm == 0 ? A(0) : static_cast<A>(static_cast<double>(x.data()[at]) / norm);
                  }
                }
              });
  y.Finish();
  return Ok();
}

Status LpNorm(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? LpNormAs<double>(context)
                                                        : LpNormAs<float>(context);
}
}  // namespace

void AddLpNormOps(OpTable& table) {
  table.Add("LRN", 13)
      .Doc("x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta")
      .Method("local_response_norm")
      .Input("x", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .RequiredAttr("size", AttributeType::kInt, "", "channels that are summed over")
      .Attr("alpha", 1e-4f)
      .Attr("beta", 0.75f)
      .Attr("bias", 1.0f, "k")
      .Class(OpClass::kNormalization)
      .Infer(InferLrn)
      .Kernel(Lrn);
  table.Add("LpNormalization", 22)
      .Doc("x / its norm along an axis; 0 where the norm is 0")
      .Method("normalize")
      .Input("input", "T")
      .Output("output", "T")
      .Types("T", types::kFloats)
      .Attr("axis", int64_t{-1}, "dim")
      .Attr("p", int64_t{2}, "", "1: sum of absolute values, 2: Euclidean")
      .Class(OpClass::kNormalization)
      .Infer(InferLpNorm)
      .Kernel(LpNorm);
}

}  // namespace asc
