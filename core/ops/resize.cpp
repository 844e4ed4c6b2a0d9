// Resize: interpolation to other extents, one axis after the other.
#include <algorithm>
#include <cmath>

#include "core/ops/cast_elements.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/resize_axis.h"

namespace asc {
namespace {
constexpr TypeSet kInterpolated = types::kNumeric;  // what modes other than nearest take
constexpr int64_t kMostExtent = int64_t{1} << 40;

// Old models pass an empty tensor for what they leave out.
bool Given(const InferContext& context, size_t i) {
  if (!context.HasInput(i)) return false;
  const Shape& shape = context.shape(i);
  return !(shape.has_rank() && shape.rank() == 1 && shape[0].IsConstant(0));
}

std::optional<std::vector<double>> RealValues(const Tensor* tensor) {
  if (tensor == nullptr) return std::nullopt;
  std::vector<double> values(static_cast<size_t>(tensor->size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = ReadAsDouble(tensor->dtype(), tensor->raw(), static_cast<int64_t>(i));
  return values;
}

// The axes that scales, sizes and roi speak of.
Result<std::vector<size_t>> ReadAxes(const AttributeMap& attributes, size_t rank) {
  std::vector<size_t> axes;
  if (!attributes.Has("axes")) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const int64_t axis : attributes.Ints("axes")) {
    Result<int64_t> normal = NormalizeAxis(axis, static_cast<int64_t>(rank));
    if (!normal.ok()) return std::move(normal).status().WithContext("Resize");
    if (std::find(axes.begin(), axes.end(), static_cast<size_t>(*normal)) != axes.end()) {
      return InvalidArgument("Resize has an axis twice in its axes ", attributes.Ints("axes"));
    }
    axes.push_back(static_cast<size_t>(*normal));
  }
  return axes;
}

Status CheckCount(std::string_view name, size_t given, size_t wanted) {
  if (given == wanted) return Ok();
  return ShapeError("Resize needs one value an axis in '", name, "': expected ", wanted, ", given ",
                    given);
}

Result<int64_t> ScaledExtent(int64_t input, double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    return InvalidArgument("Resize needs scales above 0, given ", scale);
  // In float32, as ONNX's own shape inference has it: 3 * 1.6666666f is 5.
  const float extent = std::floor(static_cast<float>(input) * static_cast<float>(scale));
  if (!(extent < static_cast<float>(kMostExtent))) {
    return InvalidArgument("Resize of extent ", input, " by ", scale, " is too large");
  }
  return static_cast<int64_t>(extent);
}

// Everything about all axes of the input, given concrete extents.
Result<std::vector<ResizeAxis>> ResolveAxes(const ResizeSpec& spec, const AttributeMap& attributes,
                                            const Dims& x,
                                            const std::optional<std::vector<double>>& scales,
                                            const std::optional<std::vector<int64_t>>& sizes,
                                            const std::optional<std::vector<double>>& roi) {
  ASC_ASSIGN_OR_RETURN(const std::vector<size_t> axes, ReadAxes(attributes, x.size()));
  std::vector<ResizeAxis> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    out[i].input = out[i].output = x[i];
    out[i].length = static_cast<double>(x[i]);
  }
  if (sizes) {
    ASC_RETURN_IF_ERROR(CheckCount("sizes", sizes->size(), axes.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      ResizeAxis& axis = out[axes[k]];
      axis.output = (*sizes)[k];
      if (axis.output < 0 || axis.output > kMostExtent)
        return InvalidArgument("Resize needs sizes of 0 or more, given ", *sizes);
      if (axis.input == 0 && axis.output > 0) {
        return ShapeError("Resize cannot fill extent ", axis.output, " from the empty axis ",
                          axes[k], " of ", x);
      }
      axis.scale =
          axis.input == 0 ? 1 : static_cast<double>(axis.output) / static_cast<double>(axis.input);
    }
    if (spec.aspect != ResizeAspect::kStretch && !axes.empty()) {
      double scale = out[axes[0]].scale;
      for (const size_t axis : axes) {
        scale = spec.aspect == ResizeAspect::kNotLarger ? std::min(scale, out[axis].scale)
                                                        : std::max(scale, out[axis].scale);
      }
      for (const size_t axis : axes) {
        out[axis].scale = scale;
        const double extent = std::floor(scale * static_cast<double>(out[axis].input) + 0.5);
        if (extent > static_cast<double>(kMostExtent))
          return InvalidArgument("Resize of ", x, " by ", scale, " is too large");
        out[axis].output = static_cast<int64_t>(extent);
      }
    }
    for (const size_t axis : axes) out[axis].length = static_cast<double>(out[axis].output);
  } else {
    ASC_RETURN_IF_ERROR(CheckCount("scales", scales->size(), axes.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      ResizeAxis& axis = out[axes[k]];
      axis.SetScale((*scales)[k]);
      ASC_ASSIGN_OR_RETURN(axis.output, ScaledExtent(axis.input, axis.scale));
    }
  }
  if (spec.coordinates == ResizeCoordinates::kTfCropAndResize) {
    if (!roi) return InvalidArgument("Resize with tf_crop_and_resize needs 'roi'");
    ASC_RETURN_IF_ERROR(CheckCount("roi (starts, then ends)", roi->size(), 2 * axes.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      out[axes[k]].roi_start = (*roi)[k];
      out[axes[k]].roi_end = (*roi)[axes.size() + k];
    }
  }
  return out;
}

// An extent that is not known, scaled: exact for whole factors and their inverses.
Dim ScaledDim(const Dim& input, double scale) {
  const double inverse = 1 / scale;
  if (scale >= 1 && scale <= 1e6 && scale == std::floor(scale))
    return input * Dim(static_cast<int64_t>(scale));
  if (inverse >= 1 && inverse <= 64 && inverse == std::floor(inverse) &&
      std::exp2(std::round(std::log2(inverse))) == inverse) {
    return Dim::FloorDiv(input, Dim(static_cast<int64_t>(inverse)));
  }
  return Dim::Unknown();
}

// The shape where extents or values are not all known.
Result<Shape> SymbolicShape(const InferContext& context, const ResizeSpec& spec, bool by_sizes) {
  Shape out = context.shape(0);
  const size_t rank = out.rank();
  ASC_ASSIGN_OR_RETURN(const std::vector<size_t> axes, ReadAxes(context.attributes(), rank));
  const auto sizes = by_sizes ? context.Dims(3) : std::nullopt;
  const auto scales = by_sizes ? std::nullopt : RealValues(context.constant(2));
  if (sizes) ASC_RETURN_IF_ERROR(CheckCount("sizes", sizes->size(), axes.size()));
  if (scales) ASC_RETURN_IF_ERROR(CheckCount("scales", scales->size(), axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    Dim& extent = out[axes[k]];
    if (sizes && spec.aspect == ResizeAspect::kStretch) {
      extent = (*sizes)[k];
    } else if (scales && extent.is_constant()) {
      ASC_ASSIGN_OR_RETURN(const int64_t scaled, ScaledExtent(extent.value(), (*scales)[k]));
      extent = Dim(scaled);
    } else {
      extent = scales && (*scales)[k] > 0 ? ScaledDim(extent, (*scales)[k]) : Dim::Unknown();
    }
  }
  return out;
}

Status InferResize(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ResizeSpec spec, ReadResizeSpec(context.attributes()));
  const DataType type = context.dtype(0);
  if (spec.mode != ResizeMode::kNearest && type != DataType::kUndefined &&
      !kInterpolated.Contains(type)) {
    return TypeError("Resize interpolates numbers, given ", DataTypeName(type))
        .WithHint("use mode 'nearest'");
  }
  const bool by_scales = Given(context, 2), by_sizes = Given(context, 3);
  if (by_scales == by_sizes) {
    return InvalidArgument("Resize needs either 'scales' or 'sizes', given ",
                           by_scales ? "both" : "neither");
  }
  context.SetOutput(0, type);
  const Shape& x = context.shape(0);
  if (!x.has_rank()) return Ok();
  const auto sizes = by_sizes ? context.Ints(3) : std::nullopt;
  const auto scales = by_scales ? RealValues(context.constant(2)) : std::nullopt;
  const auto roi = RealValues(context.constant(1));
  const bool roi_known =
      roi || spec.coordinates != ResizeCoordinates::kTfCropAndResize || !context.HasInput(1);
  if (x.is_static() && (sizes || scales) && roi_known) {
    ASC_ASSIGN_OR_RETURN(const auto axes,
                         ResolveAxes(spec, context.attributes(), *x.ToDims(), scales, sizes, roi));
    Dims out;
    for (const ResizeAxis& axis : axes) out.push_back(axis.output);
    if (!CheckedElementCount(out)) {
      return InvalidArgument("Resize of ", x, " to ", out, " is too large");
    }
    context.SetOutput(0, type, Shape(out));
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(Shape shape, SymbolicShape(context, spec, by_sizes));
  context.SetOutput(0, type, std::move(shape));
  return Ok();
}

template <typename T>
void TakeNearest(const ResizeSpec& spec, const std::vector<ResizeAxis>& axes, const Tensor& x,
                 Tensor& y) {
  if (axes.empty()) {
    static_cast<T*>(y.raw())[0] = static_cast<const T*>(x.raw())[0];
    return;
  }
  const Dims strides = ContiguousStrides(x.dims());
  std::vector<std::vector<int64_t>> offsets;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<int64_t>& of_axis = offsets.emplace_back(NearestIndices(spec, axes[i]));
    for (int64_t& index : of_axis) index *= strides[i];
  }
  const std::vector<int64_t>& inner = offsets.back();
  const auto width = static_cast<int64_t>(inner.size());
  const int64_t rows = width == 0 ? 0 : y.size() / width;
  ParallelFor(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, width)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  int64_t rest = row, base = 0;
                  for (size_t i = axes.size() - 1; i-- > 0;) {
                    base += offsets[i][static_cast<size_t>(rest % axes[i].output)];
                    rest /= axes[i].output;
                  }
                  const T* from = static_cast<const T*>(x.raw()) + base;
                  T* to = static_cast<T*>(y.raw()) + row * width;
                  for (int64_t i = 0; i < width; ++i) to[i] = from[inner[static_cast<size_t>(i)]];
                }
              });
}

// One axis of [outer, axis, inner].
template <typename A>
void InterpolateAxis(const ResizeTaps& taps, const ResizeAxis& axis, int64_t outer, int64_t inner,
                     const A* x, A* y) {
  ParallelFor(outer * axis.output,
              std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, inner * taps.taps)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const int64_t i = row % axis.output;
                  const A* from = x + row / axis.output * axis.input * inner;
                  A* to = y + row * inner;
                  std::fill_n(to, inner, A(0));
                  for (int64_t k = 0; k < taps.taps; ++k) {
                    const auto weight =
                        static_cast<A>(taps.weights[static_cast<size_t>(i * taps.taps + k)]);
                    if (weight == A(0)) continue;  // what has no weight may be NaN
                    const A* tap =
                        from + taps.indices[static_cast<size_t>(i * taps.taps + k)] * inner;
                    for (int64_t j = 0; j < inner; ++j) to[j] += weight * tap[j];
                  }
                }
              });
}

// Rounds to the nearest integer, halves to even, and stops at the ends of the type.
template <typename T, typename A>
T RoundToInteger(A value) {
  const double rounded = std::nearbyint(static_cast<double>(value));
  if (!(rounded > static_cast<double>(std::numeric_limits<T>::lowest())))
    return std::numeric_limits<T>::lowest();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

template <typename A>
Status Interpolate(KernelContext& context, const ResizeSpec& spec,
                   const std::vector<ResizeAxis>& axes) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.size() == 0) return Ok();
  ASC_ASSIGN_OR_RETURN(auto buffer, context.Scratch(static_cast<size_t>(x.size()) * sizeof(A)));
  CastElements(x.dtype(), x.raw(), DataTypeOf<A>::value, buffer->data(), x.size());
  Dims dims = x.dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].IsIdentity()) continue;
    const int64_t outer = ElementCount(dims, 0, i), inner = ElementCount(dims, i + 1, dims.size());
    dims[i] = axes[i].output;
    ASC_ASSIGN_OR_RETURN(auto next,
                         context.Scratch(static_cast<size_t>(ElementCount(dims)) * sizeof(A)));
    InterpolateAxis<A>(InterpolationTaps(spec, axes[i]), axes[i], outer, inner,
                       reinterpret_cast<const A*>(buffer->data()),
                       reinterpret_cast<A*>(next->data()));
    buffer = std::move(next);
  }
  const A* values = reinterpret_cast<const A*>(buffer->data());
  const bool integers = VisitIntegers(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    MapElements(values, y.data<T>(), y.size(), RoundToInteger<T, A>);
  });
  if (!integers) CastElements(DataTypeOf<A>::value, values, y.dtype(), y.raw(), y.size());
  return Ok();
}

// tf_crop_and_resize: outputs outside the input take a fixed value.
void FillOutside(const ResizeSpec& spec, const std::vector<ResizeAxis>& axes, float value,
                 Tensor& y) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::vector<bool> outside = OutsideInput(spec, axes[i]);
    const int64_t outer = ElementCount(y.dims(), 0, i),
                  inner = ElementCount(y.dims(), i + 1, y.rank());
    for (int64_t row = 0; row < outer * axes[i].output; ++row) {
      if (!outside[static_cast<size_t>(row % axes[i].output)]) continue;
      VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                uint32_t, uint64_t, bool>(y.dtype(), [&](auto zero) {
        using T = decltype(zero);
        T element;
        CastElements(DataType::kFloat32, &value, DataTypeOf<T>::value, &element, 1);
        std::fill_n(y.data<T>() + row * inner, inner, element);
      });
    }
  }
}

Status Resize(KernelContext& context) {
  const Tensor& x = context.input(0);
  ASC_ASSIGN_OR_RETURN(const ResizeSpec spec, ReadResizeSpec(context.attributes()));
  const auto given = [&](size_t i) {
    return context.HasInput(i) && context.input(i).size() > 0 ? &context.input(i) : nullptr;
  };
  std::optional<std::vector<int64_t>> sizes;
  if (const Tensor* tensor = given(3)) {
    ASC_ASSIGN_OR_RETURN(sizes, ToInt64Vector(*tensor));
  }
  ASC_ASSIGN_OR_RETURN(const auto axes,
                       ResolveAxes(spec, context.attributes(), x.dims(), RealValues(given(2)),
                                   sizes, RealValues(given(1))));
  Status status;
  if (spec.mode == ResizeMode::kNearest) {
    const bool done = VisitBySize(x.dtype(), [&](auto zero) {
      TakeNearest<decltype(zero)>(spec, axes, x, context.output(0));
    });
    if (!done) return NoKernel(context);
  } else {
    const bool narrow = BitWidth(x.dtype()) <= 16 || x.dtype() == DataType::kFloat32;
    ASC_RETURN_IF_ERROR(narrow ? Interpolate<float>(context, spec, axes)
                               : Interpolate<double>(context, spec, axes));
  }
  if (spec.coordinates == ResizeCoordinates::kTfCropAndResize) {
    FillOutside(spec, axes, context.attributes().Float("extrapolation_value", 0),
                context.output(0));
  }
  return Ok();
}
}  // namespace

void AddResizeOps(OpTable& table) {
  table.Add("Resize", 19)
      .Doc("interpolates to other extents, given as factors or as sizes")
      .Input("x", "T1")
      .OptionalInput("roi", "T2")
      .OptionalInput("scales", "T3")
      .OptionalInput("sizes", "T4")
      .Output("y", "T1")
      .Types("T1", types::kNumeric | types::kBool | types::kString | types::kComplex)
      .Types("T2", types::kFloats - TypeSet{DataType::kBFloat16})
      .Types("T3", TypeSet{DataType::kFloat32})
      .Types("T4", types::kInt64)
      .Attr("mode", "nearest", "", "nearest, linear or cubic")
      .Attr("coordinate_transformation_mode", "half_pixel", "",
            "how places of outputs map to places of inputs")
      .Attr("nearest_mode", "round_prefer_floor", "",
            "round_prefer_floor, round_prefer_ceil, floor or ceil")
      .Attr("keep_aspect_ratio_policy", "stretch", "",
            "with sizes: stretch, not_larger or not_smaller")
      .Attr("antialias", int64_t{0}, "", "1: stretch the filter when shrinking")
      .Attr("exclude_outside", int64_t{0}, "", "1: elements outside have no weight")
      .Attr("extrapolation_value", 0.0f, "",
            "of outputs outside the input, with tf_crop_and_resize")
      .Attr("cubic_coeff_a", -0.75f)
      .OptionalAttr("axes", AttributeType::kInts, "",
                    "the axes that roi, scales and sizes speak of; default all")
      .Infer(InferResize)
      .Kernel(Resize);
}

}  // namespace asc
