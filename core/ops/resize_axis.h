// Resize along one axis: where each output element reads, and with which weights. Formulae: the
// ONNX definition of Resize 19.
#ifndef ASC_CORE_OPS_RESIZE_AXIS_H_
#define ASC_CORE_OPS_RESIZE_AXIS_H_

#include <optional>
#include <vector>

#include "core/graph/attributes.h"
#include "core/tensor/tensor.h"

namespace asc {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize
};
enum class ResizeNearest : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
enum class ResizeAspect : uint8_t { kStretch, kNotLarger, kNotSmaller };

struct ResizeSpec {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  ResizeAspect aspect = ResizeAspect::kStretch;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75;
};

// E5003 for values that the operator does not have.
Result<ResizeSpec> ReadResizeSpec(const AttributeMap& attributes);

struct ResizeAxis {
  int64_t input = 0, output = 0;
  double scale = 1;                   // as given, or output / input
  double length = 0;                  // of the output; not whole where it comes from a scale
  double roi_start = 0, roi_end = 1;  // kTfCropAndResize

  // A scale that was given, not one that comes from the output's length.
  void SetScale(double given) {
    scale = given;
    length = static_cast<float>(input) * static_cast<float>(given);
  }
  bool IsIdentity() const {
    return input == output && scale == 1 && roi_start == 0 && roi_end == 1;
  }
};

// The input index that each output takes.
std::vector<int64_t> NearestIndices(const ResizeSpec& spec, const ResizeAxis& axis);

// Output i is the sum over k of weights[i * taps + k] * input[indices[i * taps + k]].
struct ResizeTaps {
  int64_t taps = 0;
  std::vector<int64_t> indices;
  std::vector<double> weights;
};
ResizeTaps InterpolationTaps(const ResizeSpec& spec, const ResizeAxis& axis);

// Outputs whose place lies outside the input (kTfCropAndResize gives them a fixed value).
std::vector<bool> OutsideInput(const ResizeSpec& spec, const ResizeAxis& axis);

}  // namespace asc

#endif  // ASC_CORE_OPS_RESIZE_AXIS_H_
