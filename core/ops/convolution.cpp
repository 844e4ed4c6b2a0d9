#include "core/ops/convolution.h"

#include <algorithm>
#include <type_traits>

#include "core/base/parallel.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/cost.h"
#include "core/ops/op_builder.h"

namespace asc {
namespace {
constexpr int64_t kFilterTile = 4;  // filters that share each read of the input
constexpr int64_t kRowTile = 64;    // outputs of a row whose sums stay in the first-level cache

// The shape that a weight should have, as text: "[64, 3, 3, 3]".
std::string WantedWeight(const Shape& w, const Dim& channels_per_group,
                         const std::vector<int64_t>& kernel) {
  std::vector<Dim> wanted = {w[0], channels_per_group};
  wanted.insert(wanted.end(), kernel.begin(), kernel.end());
  return Shape(std::move(wanted)).ToString();
}

// One row of the output (all spatial positions but the last axis fixed), for up to kFilterTile
// filters: sums over channels and taps.
template <typename T>
class RowConvolver {
 public:
  // What products are added up in: sums of thousands of float32 would lose two digits.
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;

  RowConvolver(const ConvGeometry& geometry, const T* x, const T* w) : g_(geometry), x_(x), w_(w) {
    for (const WindowAxis& axis : g_.axes) {
      input_size_ *= axis.input;
      kernel_size_ *= axis.kernel;
    }
    const size_t outer = g_.axes.size() - 1;
    taps_ = kernel_size_ / g_.axes[outer].kernel;
    row_starts_.resize(static_cast<size_t>(taps_));
  }

  // Where each combination of taps on the outer axes reads: the offset of the input row, or -1
  // outside the input.
  void SetRow(int64_t row) {
    const size_t outer = g_.axes.size() - 1;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      int64_t rest_row = row, rest_tap = tap, offset = 0, stride = g_.axes[outer].input;
      for (size_t i = outer; i-- > 0;) {
        const WindowAxis& axis = g_.axes[i];
        const int64_t position =
            axis.Start(rest_row % axis.output) + rest_tap % axis.kernel * axis.dilation;
        rest_row /= axis.output;
        rest_tap /= axis.kernel;
        if (position < 0 || position >= axis.input) {
          offset = -1;
          break;
        }
        offset += position * stride;
        stride *= axis.input;
      }
      row_starts_[static_cast<size_t>(tap)] = offset;
    }
  }

  // The outputs [begin, begin + count) of the row for `filters` filters from `filter` on (of all
  // groups), in sums.
  void Run(int64_t image, int64_t filter, int64_t filters, int64_t begin, int64_t count,
           Sum (*sums)[kRowTile]) const {
    const WindowAxis& axis = g_.axes.back();
    const int64_t group = filter / g_.filters;
    const T* x_group = x_ + (image * g_.groups + group) * g_.channels * input_size_;
    const int64_t filter_size = g_.channels * kernel_size_;
    for (int64_t c = 0; c < g_.channels; ++c) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const int64_t start = row_starts_[static_cast<size_t>(tap)];
        if (start < 0) continue;
        const T* row = x_group + c * input_size_ + start;
        for (int64_t k = 0; k < axis.kernel; ++k) {
          int64_t first = 0, last = 0;
          axis.OutputRange(k, &first, &last);
          first = std::max(first, begin) - begin;
          last = std::min(last, begin + count) - begin;
          if (first >= last) continue;
          const T* taken = row + axis.Start(begin + first) + k * axis.dilation;
          const T* weight = w_ + filter * filter_size + c * kernel_size_ + tap * axis.kernel + k;
          for (int64_t f = 0; f < filters; ++f) {
            Accumulate(weight[f * filter_size], taken, axis.stride, last - first, sums[f] + first);
          }
        }
      }
    }
  }

 private:
  static void Accumulate(Sum weight, const T* x, int64_t stride, int64_t count, Sum* sums) {
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) sums[i] += weight * x[i];
    } else {
      for (int64_t i = 0; i < count; ++i) sums[i] += weight * x[i * stride];
    }
  }

  const ConvGeometry& g_;
  const T* x_;
  const T* w_;
  int64_t input_size_ = 1, kernel_size_ = 1, taps_ = 1;
  std::vector<int64_t> row_starts_;
};

// A convolution that reads each input once sees one long row.
void MergePointwiseAxes(ConvGeometry& geometry) {
  int64_t size = 1;
  for (const WindowAxis& axis : geometry.axes) {
    if (axis.kernel != 1 || axis.stride != 1 || axis.pad_begin != 0 || axis.pad_end != 0) return;
    size *= axis.input;
  }
  WindowAxis merged;
  merged.input = merged.output = size;
  geometry.axes = {merged};
}
}  // namespace

std::optional<std::vector<int64_t>> WeightKernel(const Shape& w) {
  if (!w.has_rank()) return std::nullopt;
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < w.rank(); ++i) {
    if (!w[i].is_constant()) return std::nullopt;
    kernel.push_back(w[i].value());
  }
  return kernel;
}

namespace {
// The shape of a weight for data `x` where all that is known of the given one is its number of
// filters.
std::string WeightOfRank(const InferContext& context, const Shape& x, const Shape& w) {
  std::vector<std::string> extents = {w.rank() > 0 ? w[0].ToString() : "filters"};
  const int64_t groups = std::max<int64_t>(context.attributes().Int("group", 1), 1);
  extents.push_back(Dim::FloorDiv(x[1], Dim(groups)).ToString());
  const auto kernel = context.attributes().Ints("kernel_shape");
  for (size_t i = 0; i + 2 < x.rank(); ++i)
    extents.push_back(i < kernel.size() ? Cat(kernel[i]) : std::string("kernel"));
  return Cat(extents);
}
}  // namespace

Result<Shape> InferConvolution(const InferContext& context, size_t x_input, size_t w_input) {
  const std::string op = context.schema().FullName();
  const Shape& x = context.shape(x_input);
  const Shape& w = context.shape(w_input);
  if (!x.has_rank() && !w.has_rank()) return Shape();
  const size_t rank = x.has_rank() ? x.rank() : w.rank();
  if (rank < 3)
    return ShapeError(op, " needs data [N, C, extents...] of rank 3 or more, given ",
                      x.has_rank() ? x : w);
  if (x.has_rank() && w.has_rank() && x.rank() != w.rank()) {
    Status status = ShapeError(op, " needs a weight of the data's rank ", x.rank(), ", given data ",
                               x, " and weight ", w);
    return std::move(status).WithHint(
        Cat("the weight should have shape ", WeightOfRank(context, x, w)));
  }
  const auto kernel = WeightKernel(w);
  if (!kernel && !context.attributes().Has("kernel_shape")) {
    Shape out = Shape::UnknownDims(rank);
    if (x.has_rank()) out[0] = x[0];
    if (w.has_rank()) out[1] = w[0];
    return out;
  }
  Result<WindowSpec> read = ReadWindow(op, context.attributes(), kernel, rank - 2);
  const int64_t groups = context.attributes().Int("group", 1);
  if (groups < 1) return InvalidArgument(op, " needs group >= 1, given ", groups);
  if (!read.ok()) {
    if (read.status().code() != Code::kShapeMismatch || !x.has_rank() || !kernel)
      return std::move(read).status();
    return std::move(read).status().WithHint(
        Cat("the weight should have shape ",
            WantedWeight(w, Dim::FloorDiv(x[1], Dim(groups)),
                         context.attributes().Ints("kernel_shape", *kernel))));
  }
  const WindowSpec& spec = *read;
  if (x.has_rank() && w.has_rank() && x[1].is_constant() && w[1].is_constant()) {
    const int64_t channels = x[1].value();
    if (channels % groups != 0 || channels / groups != w[1].value()) {
      Status status = ShapeError(op, " of data ", x, " with group ", groups, " needs a weight for ",
                                 channels, " channels, given weight ", w);
      if (channels % groups != 0)
        return std::move(status).WithHint(Cat("group must divide ", channels));
      return std::move(status).WithHint(Cat("the weight should have shape ",
                                            WantedWeight(w, Dim(channels / groups), spec.kernel)));
    }
  }
  if (w.has_rank() && w[0].is_constant() && w[0].value() % groups != 0) {
    return ShapeError(op, " with group ", groups,
                      " needs a number of filters that it divides, given weight ", w);
  }
  Shape out = Shape::UnknownDims(rank);
  if (x.has_rank()) out[0] = x[0];
  if (w.has_rank()) out[1] = w[0];
  if (!x.has_rank()) return out;
  Dims spatial;
  for (size_t i = 0; i + 2 < rank; ++i) {
    out[i + 2] = spec.OutputExtent(i, x[i + 2]);
    if (x[i + 2].is_constant()) spatial.push_back(x[i + 2].value());
  }
  if (spatial.size() == spec.rank()) ASC_RETURN_IF_ERROR(ResolveWindow(op, spec, spatial).status());
  return out;
}

Status CheckConvBias(const InferContext& context, size_t bias_input, size_t w_input) {
  if (!context.HasInput(bias_input) || !context.shape(bias_input).has_rank()) return Ok();
  const Shape& bias = context.shape(bias_input);
  const Shape& w = context.shape(w_input);
  const bool fits = bias.rank() == 1 && !(w.has_rank() && w[0].is_constant() &&
                                          bias[0].is_constant() && bias[0] != w[0]);
  if (fits) return Ok();
  return ShapeError(context.schema().FullName(), " needs a bias of one value a filter, shape [",
                    w.has_rank() ? w[0].ToString() : "filters", "], given ", bias);
}

Result<ConvGeometry> ReadConvGeometry(const KernelContext& context, const Dims& x, const Dims& w) {
  ConvGeometry geometry;
  geometry.batch = x[0];
  geometry.groups = context.attributes().Int("group", 1);
  geometry.channels = w[1];
  geometry.filters = w[0] / geometry.groups;
  const std::string op = context.schema().FullName();
  const std::vector<int64_t> kernel(w.begin() + 2, w.end());
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec,
                       ReadWindow(op, context.attributes(), kernel, kernel.size()));
  ASC_ASSIGN_OR_RETURN(geometry.axes, ResolveWindow(op, spec, Dims(x.begin() + 2, x.end())));
  return geometry;
}

template <typename T>
void Convolve(const ConvGeometry& whole, const T* x, const T* w, const T* bias, T* y) {
  ConvGeometry geometry = whole;
  MergePointwiseAxes(geometry);
  const int64_t width = geometry.axes.back().output;
  int64_t rows = 1, work = geometry.channels;
  for (size_t i = 0; i + 1 < geometry.axes.size(); ++i) rows *= geometry.axes[i].output;
  for (const WindowAxis& axis : geometry.axes) work *= axis.kernel;
  // Tiles of filters stay within a group: they read the same channels.
  const int64_t tiles = (geometry.filters + kFilterTile - 1) / kFilterTile;
  const int64_t tasks = geometry.batch * geometry.groups * tiles;
  if (rows == 0 || width == 0) return;
  const int64_t chunks = (width + kRowTile - 1) / kRowTile;
  const int64_t units = tasks * rows * chunks;
  const int64_t unit_work = std::max<int64_t>(1, work * kFilterTile * std::min(width, kRowTile));
  ParallelFor(units, std::max<int64_t>(1, (1 << 16) / unit_work), [&](int64_t begin, int64_t end) {
    RowConvolver<T> convolver(geometry, x, w);
    typename RowConvolver<T>::Sum sums[kFilterTile][kRowTile];
    int64_t row_set = -1;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = unit % chunks, row = unit / chunks % rows, task = unit / chunks / rows;
      const int64_t tile = task % tiles, group = task / tiles % geometry.groups,
                    image = task / tiles / geometry.groups;
      const int64_t filter = group * geometry.filters + tile * kFilterTile;
      const int64_t filters = std::min(kFilterTile, geometry.filters - tile * kFilterTile);
      const int64_t first = chunk * kRowTile, count = std::min(kRowTile, width - first);
      if (row != row_set) convolver.SetRow(row_set = row);
      for (int64_t f = 0; f < filters; ++f)
        std::fill_n(sums[f], count, bias == nullptr ? 0 : bias[filter + f]);
      convolver.Run(image, filter, filters, first, count, sums);
      for (int64_t f = 0; f < filters; ++f) {
        const int64_t plane = image * geometry.groups * geometry.filters + filter + f;
        T* result = y + (plane * rows + row) * width + first;
        for (int64_t i = 0; i < count; ++i) result[i] = static_cast<T>(sums[f][i]);
      }
    }
  });
}

template void Convolve<float>(const ConvGeometry&, const float*, const float*, const float*,
                              float*);
template void Convolve<double>(const ConvGeometry&, const double*, const double*, const double*,
                               double*);
template void Convolve<uint32_t>(const ConvGeometry&, const uint32_t*, const uint32_t*,
                                 const uint32_t*, uint32_t*);

template <typename A>
Status ConvolveInputs(KernelContext& context, A* y) {
  ASC_ASSIGN_OR_RETURN(const ConvGeometry geometry,
                       ReadConvGeometry(context, context.input(0).dims(), context.input(1).dims()));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto w, ComputeInput<A>::Make(context, context.input(1)));
  ASC_ASSIGN_OR_RETURN(const auto bias, ComputeInput<A>::MakeOptional(context, 2));
  Convolve<A>(geometry, x.data(), w.data(), bias.data(), y);
  return Ok();
}

template Status ConvolveInputs<float>(KernelContext&, float*);
template Status ConvolveInputs<double>(KernelContext&, double*);

void AddConvAttributes(OpBuilder& builder) {
  builder
      .OptionalAttr("kernel_shape", AttributeType::kInts, "kernel_size",
                    "kernel extents; default: the weight's")
      .OptionalAttr("strides", AttributeType::kInts, "stride", "step between windows; default 1")
      .OptionalAttr("pads", AttributeType::kInts, "padding",
                    "begins of all axes, then ends; default 0")
      .OptionalAttr("dilations", AttributeType::kInts, "dilation", "step between taps; default 1")
      .Attr("group", int64_t{1}, "groups",
            "channels and filters are split into this many independent groups")
      .Attr("auto_pad", "NOTSET", "", "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
      .Class(OpClass::kConvolution);
}

CostEstimate ConvolutionCost(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs, size_t w_input) {
  CostEstimate cost;
  cost.bytes = DenseBytes(inputs, outputs);
  if (const auto w = inputs[w_input].shape.ToDims()) {
    cost.flops =
        2 * KnownElementCount(outputs[0]) * static_cast<double>(ElementCount(*w, 1, w->size()));
  }
  return cost;
}

}  // namespace asc
