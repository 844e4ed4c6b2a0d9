// ConvTranspose: the gradient of convolution with respect to its data; each input element spreads
// over a window of the output.
#include <algorithm>

#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/cost.h"
#include "core/ops/families.h"
#include "core/ops/window_walk.h"

namespace asc {
namespace {
struct TransposeSpec {
  WindowSpec window;
  std::vector<int64_t> output_padding;
  std::optional<std::vector<int64_t>> output_shape;

  // Output extent that no padding would give.
  Dim FullExtent(size_t axis, const Dim& input) const {
    return Dim(window.strides[axis]) * (input - Dim(1)) +
           Dim(output_padding[axis] + window.Span(axis));
  }
  Dim OutputExtent(size_t axis, const Dim& input) const {
    if (output_shape) return Dim((*output_shape)[axis]);
    if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
      return input * Dim(window.strides[axis]);
    }
    return FullExtent(axis, input) - Dim(window.pads_begin[axis] + window.pads_end[axis]);
  }
};

Result<std::vector<int64_t>> ReadExtents(const AttributeMap& attributes, std::string_view name,
                                         size_t rank) {
  std::vector<int64_t> values = attributes.Ints(name, std::vector<int64_t>(rank, 0));
  const bool sane =
      std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 0 && v <= INT32_MAX; });
  if (values.size() == rank && sane) return values;
  return InvalidArgument("ConvTranspose needs ", rank, " values that are not negative in '", name,
                         "', given ", values);
}

Result<TransposeSpec> ReadTranspose(const AttributeMap& attributes,
                                    const std::optional<std::vector<int64_t>>& kernel,
                                    size_t spatial_rank) {
  TransposeSpec spec;
  ASC_ASSIGN_OR_RETURN(
      spec.window, ReadWindow("ConvTranspose", attributes, kernel, spatial_rank, PadRule::kAny));
  ASC_ASSIGN_OR_RETURN(spec.output_padding,
                       ReadExtents(attributes, "output_padding", spatial_rank));
  if (attributes.Has("output_shape") && !attributes.Ints("output_shape").empty()) {
    ASC_ASSIGN_OR_RETURN(spec.output_shape, ReadExtents(attributes, "output_shape", spatial_rank));
  }
  return spec;
}

// The window of the convolution that this one transposes: it slides over y (its input) and gives x
// (its output).
Result<std::vector<WindowAxis>> ResolveTranspose(const TransposeSpec& spec, const Dims& spatial) {
  std::vector<WindowAxis> axes(spec.window.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& axis = axes[i];
    const Dim y = spec.OutputExtent(i, Dim(spatial[i]));
    if (y.value() < 0 || y.value() > INT32_MAX * int64_t{64}) {
      return ShapeError("ConvTranspose of extent ", spatial[i], " on spatial axis ", i,
                        " would have output extent ", y);
    }
    axis.output = spatial[i];
    axis.input = y.value();
    axis.kernel = spec.window.kernel[i];
    axis.stride = spec.window.strides[i];
    axis.dilation = spec.window.dilations[i];
    axis.pad_begin = spec.window.pads_begin[i];
    axis.pad_end = spec.window.pads_end[i];
    const bool same =
        spec.window.auto_pad == AutoPad::kSameUpper || spec.window.auto_pad == AutoPad::kSameLower;
    if (same || spec.output_shape) {
      // Negative where strides leave gaps wider than the kernel: SAME then pads the output on both sides, an
      // output_shape alone at the end.
      int64_t total = spec.FullExtent(i, Dim(spatial[i])).value() - axis.input;
      if (!same) total = std::max<int64_t>(0, total);
      const bool upper = spec.window.auto_pad == AutoPad::kSameUpper;
      SplitSamePadding(upper ? AutoPad::kSameUpper : AutoPad::kSameLower, total, &axis.pad_begin,
                       &axis.pad_end);
    }
  }
  return axes;
}

Status InferConvTranspose(InferContext& context) {
  const Shape& x = context.shape(0);
  const Shape& w = context.shape(1);
  context.SetOutput(0, context.dtype(0));
  if (!x.has_rank() && !w.has_rank()) return Ok();
  const size_t rank = x.has_rank() ? x.rank() : w.rank();
  if (rank < 3)
    return ShapeError("ConvTranspose needs data [N, C, extents...] of rank 3 or more, given ",
                      x.has_rank() ? x : w);
  if (x.has_rank() && w.has_rank() && x.rank() != w.rank()) {
    return ShapeError("ConvTranspose needs a weight of the data's rank ", x.rank(), ", given data ",
                      x, " and weight ", w);
  }
  const int64_t groups = context.attributes().Int("group", 1);
  if (groups < 1) return InvalidArgument("ConvTranspose needs group >= 1, given ", groups);
  if (w.has_rank() && w[0].is_constant() && w[0].value() % groups != 0) {
    return ShapeError("ConvTranspose with group ", groups,
                      " needs a number of channels that it divides, given weight ", w);
  }
  if (x.has_rank() && w.has_rank() && x[1].is_constant() && w[0].is_constant() && x[1] != w[0]) {
    return ShapeError("ConvTranspose of data ", x, " needs a weight for ", x[1],
                      " channels, given weight ", w)
        .WithHint("the weight's shape is [channels, filters / group, kernel...]");
  }
  Shape out = Shape::UnknownDims(rank);
  if (x.has_rank()) out[0] = x[0];
  if (w.has_rank()) out[1] = w[1] * Dim(groups);
  if (context.HasInput(2) && context.shape(2).has_rank()) {
    const Shape& bias = context.shape(2);
    if (bias.rank() != 1 || (bias[0].is_constant() && out[1].is_constant() && bias[0] != out[1])) {
      return ShapeError("ConvTranspose needs a bias of one value a filter, shape [", out[1],
                        "], given ", bias);
    }
  }
  const auto kernel = WeightKernel(w);
  if (x.has_rank() && (kernel || context.attributes().Has("kernel_shape"))) {
    ASC_ASSIGN_OR_RETURN(const TransposeSpec spec,
                         ReadTranspose(context.attributes(), kernel, rank - 2));
    Dims spatial;
    for (size_t i = 0; i + 2 < rank; ++i) {
      out[i + 2] = spec.OutputExtent(i, x[i + 2]);
      if (x[i + 2].is_constant()) spatial.push_back(x[i + 2].value());
    }
    if (spatial.size() + 2 == rank) ASC_RETURN_IF_ERROR(ResolveTranspose(spec, spatial).status());
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return Ok();
}

// Adds the contributions of one channel of x to one plane of y.
template <typename A>
void Spread(const std::vector<WindowAxis>& axes, const A* x, const A* w, A* y) {
  const int64_t rows = SizesOf(axes).rows, width = axes.back().output;
  for (int64_t row = 0; row < rows; ++row) {
    const A* from = x + row * width;
    ForEachTapOfRow(axes, row,
                    [&](int64_t tap, int64_t offset, int64_t step, int64_t first, int64_t last) {
                      const A weight = w[tap];
                      for (int64_t i = first; i < last; ++i)
                        y[offset + (i - first) * step] += weight * from[i];
                    });
  }
}

template <typename A>
Status ConvTransposeAs(KernelContext& context) {
  const Dims& x_dims = context.input(0).dims();
  const Dims& w_dims = context.input(1).dims();
  const int64_t groups = context.attributes().Int("group", 1);
  const int64_t channels = w_dims[0] / groups, filters = w_dims[1];
  const std::vector<int64_t> kernel(w_dims.begin() + 2, w_dims.end());
  ASC_ASSIGN_OR_RETURN(const TransposeSpec spec,
                       ReadTranspose(context.attributes(), kernel, kernel.size()));
  ASC_ASSIGN_OR_RETURN(const auto axes,
                       ResolveTranspose(spec, Dims(x_dims.begin() + 2, x_dims.end())));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto w, ComputeInput<A>::Make(context, context.input(1)));
  ASC_ASSIGN_OR_RETURN(const auto bias, ComputeInput<A>::MakeOptional(context, 2));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const WindowSizes sizes = SizesOf(axes);
  int64_t kernel_size = 1;
  for (const WindowAxis& axis : axes) kernel_size *= axis.kernel;
  ParallelFor(x_dims[0] * groups * filters, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t filter = plane % filters, group = plane / filters % groups,
                    image = plane / filters / groups;
      A* out = y.data() + plane * sizes.input;
      std::fill_n(out, sizes.input,
                  bias.data() == nullptr ? A(0) : bias.data()[group * filters + filter]);
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        Spread(axes, x.data() + (image * groups * channels + c) * sizes.output,
               w.data() + (c * filters + filter) * kernel_size, out);
      }
    }
  });
  y.Finish();
  return Ok();
}

Status ConvTranspose(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? ConvTransposeAs<double>(context)
                                                        : ConvTransposeAs<float>(context);
}

// Each element of x meets each tap of each filter of its group.
CostEstimate ConvTransposeCost(const std::vector<ValueType>& inputs,
                               const std::vector<ValueType>& outputs, const AttributeMap&) {
  CostEstimate cost = ConvolutionCost(inputs, outputs, 1);
  if (const auto w = inputs[1].shape.ToDims()) {
    cost.flops =
        2 * KnownElementCount(inputs[0]) * static_cast<double>(ElementCount(*w, 1, w->size()));
  }
  return cost;
}
}  // namespace

void AddConvTransposeOps(OpTable& table) {
  OpBuilder conv = table.Add("ConvTranspose", 22);
  conv.Doc(
          "transposed convolution of data [N, C, extents...] with a weight [C, M / group, "
          "kernel...]")
      .Method("conv_transpose2d")
      .Fusion("ConvTranspose2d")
      .Input("x", "T")
      .Input("weight", "T")
      .OptionalInput("bias", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .OptionalAttr("output_padding", AttributeType::kInts, "",
                    "added at the end of each axis; default 0")
      .OptionalAttr("output_shape", AttributeType::kInts, "",
                    "spatial extents wanted; padding follows from them")
      .Infer(InferConvTranspose)
      .Kernel(ConvTranspose)
      .Cost(ConvTransposeCost);
  AddConvAttributes(conv);
}

}  // namespace asc
