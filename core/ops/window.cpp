#include "core/ops/window.h"

#include <algorithm>

namespace asc {
namespace {
// Far above any sense, far below overflow in the products of the formulae.
constexpr int64_t kMostExtent = int64_t{1} << 31;

int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0 && a > 0); }

Result<std::vector<int64_t>> ReadList(std::string_view op, const AttributeMap& attributes,
                                      std::string_view name, size_t rank, int64_t otherwise,
                                      int64_t least) {
  if (!attributes.Has(name)) return std::vector<int64_t>(rank, otherwise);
  std::vector<int64_t> values = attributes.Ints(name);
  if (values.size() != rank) {
    return InvalidArgument(op, " needs ", rank, " values in '", name, "', given ", values);
  }
  for (const int64_t value : values) {
    if (value < least || value > kMostExtent) {
      return InvalidArgument(op, " attribute '", name, "' must hold values from ", least, " to ",
                             kMostExtent, ", given ", values);
    }
  }
  return values;
}

Result<AutoPad> ReadAutoPad(std::string_view op, const AttributeMap& attributes) {
  const std::string name = attributes.String("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return AutoPad::kNotSet;
  if (name == "VALID") return AutoPad::kValid;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  return InvalidArgument(
      op, " attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, given '", name,
      "'");
}
}  // namespace

Dim WindowSpec::OutputExtent(size_t axis, const Dim& input) const {
  const Dim stride(strides[axis]);
  if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower)
    return Dim::CeilDiv(input, stride);
  const Dim room = input + Dim(pads_begin[axis] + pads_end[axis] - Span(axis));
  const Dim whole = Dim::FloorDiv(room, stride) + Dim(1);
  if (!ceil_mode || auto_pad == AutoPad::kValid || strides[axis] == 1) return whole;
  // A window that would start in the padding at the end is left out.
  const Dim starts = Dim::FloorDiv(input + Dim(pads_begin[axis] - 1), stride) + Dim(1);
  return Dim::Min(Dim::CeilDiv(room, stride) + Dim(1), starts);
}

void WindowAxis::OutputRange(int64_t k, int64_t* first, int64_t* last) const {
  const int64_t shift =
      pad_begin - k * dilation;  // o * stride >= shift, o * stride < input + shift
  *first = std::clamp<int64_t>(shift > 0 ? CeilDivide(shift, stride) : 0, 0, output);
  *last = std::clamp<int64_t>(input + shift > 0 ? CeilDivide(input + shift, stride) : 0, *first,
                              output);
}

void WindowAxis::TapRange(int64_t o, int64_t low, int64_t high, int64_t* first,
                          int64_t* last) const {
  const int64_t start = Start(o);
  *first = std::clamp<int64_t>(low > start ? CeilDivide(low - start, dilation) : 0, 0, kernel);
  *last =
      std::clamp<int64_t>(high > start ? CeilDivide(high - start, dilation) : 0, *first, kernel);
}

Result<WindowSpec> ReadWindow(std::string_view op, const AttributeMap& attributes,
                              const std::optional<std::vector<int64_t>>& kernel,
                              size_t spatial_rank, PadRule pad_rule) {
  WindowSpec spec;
  if (attributes.Has("kernel_shape") || !kernel) {
    ASC_ASSIGN_OR_RETURN(spec.kernel, ReadList(op, attributes, "kernel_shape", spatial_rank, 1, 1));
    if (kernel && *kernel != spec.kernel) {
      return ShapeError(op, " has kernel_shape ", spec.kernel, " but a weight with a kernel of ",
                        *kernel);
    }
  } else {
    spec.kernel = *kernel;
    for (const int64_t extent : spec.kernel) {
      if (extent < 1 || extent > kMostExtent)
        return ShapeError(op, " has a weight with an empty kernel: ", spec.kernel);
    }
  }
  ASC_ASSIGN_OR_RETURN(spec.strides, ReadList(op, attributes, "strides", spatial_rank, 1, 1));
  ASC_ASSIGN_OR_RETURN(spec.dilations, ReadList(op, attributes, "dilations", spatial_rank, 1, 1));
  ASC_ASSIGN_OR_RETURN(spec.auto_pad, ReadAutoPad(op, attributes));
  // Converters write both at times; auto_pad decides then.
  std::vector<int64_t> pads(2 * spatial_rank, 0);
  if (spec.auto_pad == AutoPad::kNotSet) {
    ASC_ASSIGN_OR_RETURN(pads, ReadList(op, attributes, "pads", 2 * spatial_rank, 0,
                                        pad_rule == PadRule::kAny ? -kMostExtent : 0));
  }
  int64_t taps = 1;
  for (const int64_t extent : spec.kernel) {
    if (extent > kMostExtent / taps)
      return InvalidArgument(op, " has a kernel of ", spec.kernel, ", more than ", kMostExtent,
                             " elements");
    taps *= extent;
  }
  for (size_t i = 0; i < spatial_rank; ++i) {
    if (spec.kernel[i] > 1 && spec.dilations[i] > kMostExtent / (spec.kernel[i] - 1)) {
      return InvalidArgument(op, " has dilations ", spec.dilations, " too large for a kernel of ",
                             spec.kernel);
    }
  }
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(spatial_rank);
  spec.pads_begin.assign(pads.begin(), middle);
  spec.pads_end.assign(middle, pads.end());
  spec.ceil_mode = attributes.Int("ceil_mode", 0) != 0;
  return spec;
}

void SplitSamePadding(AutoPad auto_pad, int64_t total, int64_t* begin, int64_t* end) {
  const int64_t less = total >> 1;
  *begin = auto_pad == AutoPad::kSameLower ? total - less : less;
  *end = total - *begin;
}

Result<std::vector<WindowAxis>> ResolveWindow(std::string_view op, const WindowSpec& spec,
                                              const Dims& spatial) {
  std::vector<WindowAxis> axes(spec.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& axis = axes[i];
    axis.input = spatial[i];
    axis.kernel = spec.kernel[i];
    axis.stride = spec.strides[i];
    axis.dilation = spec.dilations[i];
    axis.pad_begin = spec.pads_begin[i];
    axis.pad_end = spec.pads_end[i];
    axis.output = spec.OutputExtent(i, Dim(axis.input)).value();
    if (spec.auto_pad == AutoPad::kSameUpper || spec.auto_pad == AutoPad::kSameLower) {
      const int64_t total =
          std::max<int64_t>(0, (axis.output - 1) * axis.stride + spec.Span(i) - axis.input);
      SplitSamePadding(spec.auto_pad, total, &axis.pad_begin, &axis.pad_end);
    } else if (axis.output < 1) {
      return ShapeError(op, " has a window of ", spec.Span(i), " on spatial axis ", i,
                        ", larger than the padded input of ",
                        axis.input + axis.pad_begin + axis.pad_end)
          .WithHint("add padding, or use a smaller kernel or dilation");
    }
  }
  return axes;
}

}  // namespace asc
