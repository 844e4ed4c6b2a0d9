#include "core/ops/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace asc {
namespace {
template <typename E>
Result<E> ReadChoice(const AttributeMap& attributes, std::string_view attribute,
                     std::string_view otherwise,
                     const std::vector<std::pair<std::string_view, E>>& choices) {
  const std::string given = attributes.String(attribute, otherwise);
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == given) return value;
    names.emplace_back(name);
  }
  Status status = InvalidArgument("Resize attribute '", attribute, "' must be one of ", names,
                                  ", given '", given, "'");
  const std::string nearest = NearestMatch(given, names);
  return nearest.empty() ? std::move(status)
                         : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

// The place of output i among the inputs. F is double for weights; float where the place is rounded
// to an index, because at halves the peers' choice hangs on float's rounding.
template <typename F>
F Place(const ResizeSpec& spec, const ResizeAxis& axis, int64_t i) {
  const auto scale = static_cast<F>(axis.scale), x = static_cast<F>(i);
  const auto n = static_cast<F>(axis.input), m = static_cast<F>(axis.output);
  const F half = F(0.5);
  switch (spec.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (x + half) / scale - half;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const F adjustment = m / (scale * n);
      return n / 2 * (1 - adjustment) + (x + half) / scale - half;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.output > 1 ? (x + half) / scale - half : F(0);
    case ResizeCoordinates::kAlignCorners:
      return axis.output > 1 ? x * (n - 1) / (static_cast<F>(axis.length) - 1) : F(0);
    case ResizeCoordinates::kAsymmetric:
      return x / scale;
    case ResizeCoordinates::kTfCropAndResize: {
      const auto start = static_cast<F>(axis.roi_start), end = static_cast<F>(axis.roi_end);
      return axis.output > 1 ? start * (n - 1) + x * (end - start) * (n - 1) / (m - 1)
                             : half * (start + end) * (n - 1);
    }
  }
  return 0;
}

int64_t ClampIndex(double place, int64_t n) {
  if (!(place > 0)) return 0;  // NaN too
  return place < static_cast<double>(n - 1) ? static_cast<int64_t>(place) : n - 1;
}

double Kernel(const ResizeSpec& spec, double distance) {
  const double d = std::fabs(distance), a = spec.cubic_a;
  if (spec.mode == ResizeMode::kLinear) return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0.0;
}
}  // namespace

Result<ResizeSpec> ReadResizeSpec(const AttributeMap& attributes) {
  ResizeSpec spec;
  ASC_ASSIGN_OR_RETURN(spec.mode, ReadChoice<ResizeMode>(attributes, "mode", "nearest",
                                                         {{"nearest", ResizeMode::kNearest},
                                                          {"linear", ResizeMode::kLinear},
                                                          {"cubic", ResizeMode::kCubic}}));
  ASC_ASSIGN_OR_RETURN(spec.coordinates,
                       ReadChoice<ResizeCoordinates>(
                           attributes, "coordinate_transformation_mode", "half_pixel",
                           {{"half_pixel", ResizeCoordinates::kHalfPixel},
                            {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
                            {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
                            {"align_corners", ResizeCoordinates::kAlignCorners},
                            {"asymmetric", ResizeCoordinates::kAsymmetric},
                            {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize}}));
  ASC_ASSIGN_OR_RETURN(spec.nearest, ReadChoice<ResizeNearest>(
                                         attributes, "nearest_mode", "round_prefer_floor",
                                         {{"round_prefer_floor", ResizeNearest::kRoundPreferFloor},
                                          {"round_prefer_ceil", ResizeNearest::kRoundPreferCeil},
                                          {"floor", ResizeNearest::kFloor},
                                          {"ceil", ResizeNearest::kCeil}}));
  ASC_ASSIGN_OR_RETURN(spec.aspect,
                       ReadChoice<ResizeAspect>(attributes, "keep_aspect_ratio_policy", "stretch",
                                                {{"stretch", ResizeAspect::kStretch},
                                                 {"not_larger", ResizeAspect::kNotLarger},
                                                 {"not_smaller", ResizeAspect::kNotSmaller}}));
  spec.antialias = attributes.Int("antialias", 0) != 0;
  spec.exclude_outside = attributes.Int("exclude_outside", 0) != 0;
  spec.cubic_a = attributes.Float("cubic_coeff_a", -0.75f);
  if (spec.antialias && spec.mode == ResizeMode::kNearest) {
    return InvalidArgument("Resize has no antialias for mode 'nearest'")
        .WithHint("use mode 'linear' or 'cubic'");
  }
  return spec;
}

std::vector<int64_t> NearestIndices(const ResizeSpec& spec, const ResizeAxis& axis) {
  std::vector<int64_t> indices(static_cast<size_t>(axis.output));
  for (int64_t i = 0; i < axis.output; ++i) {
    const auto place = Place<float>(spec, axis, i);
    float rounded = 0;
    switch (spec.nearest) {
      case ResizeNearest::kRoundPreferFloor:
        rounded = std::ceil(place - 0.5f);
        break;
      case ResizeNearest::kRoundPreferCeil:
        rounded = std::floor(place + 0.5f);
        break;
      case ResizeNearest::kFloor:
        rounded = std::floor(place);
        break;
      case ResizeNearest::kCeil:
        rounded = std::ceil(place);
        break;
    }
    indices[static_cast<size_t>(i)] = ClampIndex(rounded, axis.input);
  }
  return indices;
}

ResizeTaps InterpolationTaps(const ResizeSpec& spec, const ResizeAxis& axis) {
  // Antialiasing stretches the kernel over the inputs that one output stands for.
  const double squeeze = spec.antialias ? std::min(1.0, axis.scale) : 1.0;
  const double reach = (spec.mode == ResizeMode::kLinear ? 1 : 2) / squeeze;
  ResizeTaps out;
  // Inputs farther away than all of the axis are the same clamped edges again.
  const auto side =
      static_cast<int64_t>(std::min(std::ceil(reach), static_cast<double>(2 * axis.input + 2)));
  out.taps = 2 * side;
  out.indices.resize(static_cast<size_t>(axis.output * out.taps));
  out.weights.resize(out.indices.size());
  for (int64_t i = 0; i < axis.output; ++i) {
    const double place = Place<double>(spec, axis, i);
    const double low = std::floor(place);
    double* weights = out.weights.data() + i * out.taps;
    int64_t* indices = out.indices.data() + i * out.taps;
    double sum = 0;
    for (int64_t k = 0; k < out.taps; ++k) {
      const double index = low + static_cast<double>(k - side + 1);
      const bool outside = index < 0 || index > static_cast<double>(axis.input - 1);
      weights[k] = spec.exclude_outside && outside ? 0 : Kernel(spec, (index - place) * squeeze);
      indices[k] = ClampIndex(index, axis.input);
      sum += weights[k];
    }
    if ((spec.antialias || spec.exclude_outside) && sum != 0) {
      for (int64_t k = 0; k < out.taps; ++k) weights[k] /= sum;
    }
  }
  return out;
}

std::vector<bool> OutsideInput(const ResizeSpec& spec, const ResizeAxis& axis) {
  std::vector<bool> outside(static_cast<size_t>(axis.output));
  for (int64_t i = 0; i < axis.output; ++i) {
    const double place = Place<double>(spec, axis, i);
    outside[static_cast<size_t>(i)] = place < 0 || place > static_cast<double>(axis.input - 1);
  }
  return outside;
}

}  // namespace asc
