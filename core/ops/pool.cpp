// MaxPool, AveragePool and LpPool over any number of spatial axes. NaN propagates.
#include <cmath>
#include <limits>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/window_walk.h"

namespace asc {
namespace {
Result<WindowSpec> ReadPool(std::string_view op, const AttributeMap& attributes,
                            size_t spatial_rank) {
  ASC_ASSIGN_OR_RETURN(WindowSpec spec, ReadWindow(op, attributes, std::nullopt, spatial_rank));
  for (size_t i = 0; i < spec.rank(); ++i) {
    if (std::max(spec.pads_begin[i], spec.pads_end[i]) < spec.Span(i)) continue;
    return InvalidArgument(op, " has padding ", std::max(spec.pads_begin[i], spec.pads_end[i]),
                           " on spatial axis ", i, ", which would hold whole windows of extent ",
                           spec.Span(i))
        .WithHint("padding must be smaller than the kernel");
  }
  return spec;
}

Status InferPool(InferContext& context) {
  const std::string op = context.schema().FullName();
  const Shape& x = context.shape(0);
  for (size_t i = 0; i < context.output_count(); ++i) {
    context.SetOutput(i, i == 0 ? context.dtype(0) : DataType::kInt64);
  }
  if (!x.has_rank()) return Ok();
  if (x.rank() < 3)
    return ShapeError(op, " needs data [N, C, extents...] of rank 3 or more, given ", x);
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec, ReadPool(op, context.attributes(), x.rank() - 2));
  Shape out = x;
  Dims spatial;
  for (size_t i = 0; i < spec.rank(); ++i) {
    out[i + 2] = spec.OutputExtent(i, x[i + 2]);
    if (x[i + 2].is_constant()) spatial.push_back(x[i + 2].value());
  }
  if (spatial.size() == spec.rank()) ASC_RETURN_IF_ERROR(ResolveWindow(op, spec, spatial).status());
  for (size_t i = 0; i < context.output_count(); ++i) {
    context.SetOutput(i, i == 0 ? context.dtype(0) : DataType::kInt64, out);
  }
  return Ok();
}

Result<std::vector<WindowAxis>> ReadAxes(const KernelContext& context) {
  const Dims& x = context.input(0).dims();
  const std::string op = context.schema().FullName();
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec, ReadPool(op, context.attributes(), x.size() - 2));
  return ResolveWindow(op, spec, Dims(x.begin() + 2, x.end()));
}

int64_t Planes(const Tensor& tensor) { return tensor.dim(0) * tensor.dim(1); }

template <typename T>
constexpr T Lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

template <typename T>
void MaxPoolValues(const std::vector<WindowAxis>& axes, const Tensor& x, Tensor& y) {
  using C = ComputeType<T>;
  const WindowSizes sizes = SizesOf(axes);
  const int64_t width = axes.back().output;
  ForEachWindowRow(axes, Planes(x), [&](int64_t plane, int64_t row) {
    const T* in = x.data<T>() + plane * sizes.input;
    T* out = y.data<T>() + plane * sizes.output + row * width;
    std::fill_n(out, width, static_cast<T>(Lowest<C>()));
    ForEachTapOfRow(axes, row,
                    [&](int64_t, int64_t offset, int64_t step, int64_t first, int64_t last) {
                      for (int64_t o = first; o < last; ++o) {
                        const T candidate = in[offset + (o - first) * step];
                        const C value = Widen(candidate), best = Widen(out[o]);
                        out[o] = value > best || value != value ? candidate : out[o];
                      }
                    });
  });
}

// A flat index into an input plane, counted with the first spatial axis fastest.
int64_t ColumnMajor(const std::vector<WindowAxis>& axes, int64_t index) {
  int64_t out = 0, stride = 1;
  Dims position(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    position[i] = index % axes[i].input;
    index /= axes[i].input;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    out += position[i] * stride;
    stride *= axes[i].input;
  }
  return out;
}

// The first of equal elements, and the first NaN, is the one whose index counts.
template <typename T>
void MaxPoolIndices(const std::vector<WindowAxis>& axes, bool column_major, const Tensor& x,
                    Tensor& indices) {
  const WindowSizes sizes = SizesOf(axes);
  const int64_t width = axes.back().output;
  ForEachWindowRow(axes, Planes(x), [&](int64_t plane, int64_t row) {
    const T* in = x.data<T>() + plane * sizes.input;
    int64_t* out = indices.data<int64_t>() + plane * sizes.output + row * width;
    std::fill_n(out, width, int64_t{-1});
    ForEachTapOfRow(axes, row,
                    [&](int64_t, int64_t offset, int64_t step, int64_t first, int64_t last) {
                      for (int64_t o = first; o < last; ++o) {
                        const int64_t at = offset + (o - first) * step;
                        if (out[o] < 0) {
                          out[o] = at;
                          continue;
                        }
                        const auto value = Widen(in[at]), best = Widen(in[out[o]]);
                        if (value > best || (value != value && best == best)) out[o] = at;
                      }
                    });
    for (int64_t o = 0; o < width; ++o) {
      if (out[o] >= 0)
        out[o] = plane * sizes.input + (column_major ? ColumnMajor(axes, out[o]) : out[o]);
    }
  });
}

Status MaxPool(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const auto axes, ReadAxes(context));
  const bool column_major = context.attributes().Int("storage_order", 0) != 0;
  const auto pool = [&](auto zero) {
    using T = decltype(zero);
    MaxPoolValues<T>(axes, context.input(0), context.output(0));
    if (context.HasOutput(1))
      MaxPoolIndices<T>(axes, column_major, context.input(0), context.output(1));
  };
  const bool done =
      VisitType<float, double, Half, BFloat16, int8_t, uint8_t>(context.input(0).dtype(), pool);
  return done ? Ok() : NoKernel(context);
}

// Sums f(x) over the windows into the output (as A), then calls finish(sum, row, o) for each
// output.
template <typename F, typename Finish>
Status SumPool(KernelContext& context, const std::vector<WindowAxis>& axes, F f, Finish finish) {
  const WindowSizes sizes = SizesOf(axes);
  const int64_t width = axes.back().output;
  Status status = NoKernel(context);
  VisitCompute(context.input(0).dtype(), [&](auto zero) {
    using A = decltype(zero);
    status = [&]() -> Status {
      ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
      ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
      ForEachWindowRow(axes, Planes(context.input(0)), [&](int64_t plane, int64_t row) {
        const A* in = x.data() + plane * sizes.input;
        A* out = y.data() + plane * sizes.output + row * width;
        std::fill_n(out, width, A(0));
        ForEachTapOfRow(axes, row,
                        [&](int64_t, int64_t offset, int64_t step, int64_t first, int64_t last) {
                          for (int64_t o = first; o < last; ++o)
                            out[o] += f(in[offset + (o - first) * step]);
                        });
        for (int64_t o = 0; o < width; ++o) out[o] = finish(out[o], row, o);
      });
      y.Finish();
      return Ok();
    }();
  });
  return status;
}

// Elements that each window of an axis counts.
std::vector<std::vector<int64_t>> WindowCounts(const std::vector<WindowAxis>& axes,
                                               bool include_padding) {
  std::vector<std::vector<int64_t>> counts;
  for (const WindowAxis& axis : axes) {
    std::vector<int64_t>& of_axis = counts.emplace_back();
    for (int64_t o = 0; o < axis.output; ++o) {
      int64_t first = 0, last = 0;
      // What a last window reads beyond the padding (ceil_mode) is never counted.
      axis.TapRange(o, include_padding ? -axis.pad_begin : 0,
                    axis.input + (include_padding ? axis.pad_end : 0), &first, &last);
      of_axis.push_back(last - first);
    }
  }
  return counts;
}

Status AveragePool(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const auto axes, ReadAxes(context));
  const auto counts = WindowCounts(axes, context.attributes().Int("count_include_pad", 0) != 0);
  const auto divisor = [&](int64_t row, int64_t o) {
    int64_t count = counts.back()[static_cast<size_t>(o)];
    for (size_t i = axes.size() - 1; i-- > 0;) {
      count *= counts[i][static_cast<size_t>(row % axes[i].output)];
      row /= axes[i].output;
    }
    return std::max<int64_t>(1, count);
  };
  return SumPool(
      context, axes, [](auto x) { return x; },
      [&](auto sum, int64_t row, int64_t o) {
        return sum / static_cast<decltype(sum)>(divisor(row, o));
      });
}

Status LpPool(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const auto axes, ReadAxes(context));
  const int64_t p = context.attributes().Int("p", 2);
  if (p == 1) {
    return SumPool(
        context, axes, [](auto x) { return std::fabs(x); },
        [](auto sum, int64_t, int64_t) { return sum; });
  }
  if (p == 2) {
    return SumPool(
        context, axes, [](auto x) { return x * x; },
        [](auto sum, int64_t, int64_t) { return std::sqrt(sum); });
  }
  return SumPool(
      context, axes, [p](auto x) { return std::pow(std::fabs(x), static_cast<decltype(x)>(p)); },
      [p](auto sum, int64_t, int64_t) {
        return std::pow(sum, decltype(sum)(1) / static_cast<decltype(sum)>(p));
      });
}

Status InferLpPool(InferContext& context) {
  const int64_t p = context.attributes().Int("p", 2);
  if (p < 1) return InvalidArgument("LpPool needs p >= 1, given ", p);
  return InferPool(context);
}

void AddPoolAttributes(OpBuilder& builder) {
  builder.RequiredAttr("kernel_shape", AttributeType::kInts, "kernel_size", "window extents")
      .OptionalAttr("strides", AttributeType::kInts, "stride", "step between windows; default 1")
      .OptionalAttr("pads", AttributeType::kInts, "padding",
                    "begins of all axes, then ends; default 0")
      .OptionalAttr("dilations", AttributeType::kInts, "dilation", "step between taps; default 1")
      .Attr("auto_pad", "NOTSET", "", "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
      .Attr("ceil_mode", int64_t{0}, "", "1: the last window may hang over the end")
      .Class(OpClass::kPooling);
}
}  // namespace

void AddPoolOps(OpTable& table) {
  OpBuilder average = table.Add("AveragePool", 22);
  average.Doc("mean over windows of data [N, C, extents...]")
      .Method("avg_pool2d")
      .Fusion("AvgPool2d")
      .Input("x", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Attr("count_include_pad", int64_t{0}, "", "1: padding counts as zeros")
      .Infer(InferPool)
      .Kernel(AveragePool);
  AddPoolAttributes(average);

  OpBuilder lp = table.Add("LpPool", 22);
  lp.Doc("(sum of |x|^p)^(1/p) over windows of data [N, C, extents...]")
      .Method("lp_pool2d")
      .Input("x", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Attr("p", int64_t{2}, "norm_type", "the exponent")
      .Infer(InferLpPool)
      .Kernel(LpPool);
  AddPoolAttributes(lp);

  OpBuilder max = table.Add("MaxPool", 22);
  max.Doc("largest element of windows of data [N, C, extents...], and where it was; NaN wins")
      .Method("max_pool2d")
      .Fusion("MaxPool2d")
      .Input("x", "T")
      .Output("y", "T")
      .OptionalOutput("indices", "I")
      .Types("T", types::kFloats | TypeSet{DataType::kInt8, DataType::kUInt8})
      .Types("I", types::kInt64)
      .Attr("storage_order", int64_t{0}, "", "1: indices count the first spatial axis fastest")
      .Infer(InferPool)
      .Kernel(MaxPool);
  AddPoolAttributes(max);
}

}  // namespace asc
