// Sliding windows: what convolution and pooling share. The one place for output-size formulae,
// padding and their checks; used by shape rules, reference kernels and fast kernels.
#ifndef ASC_CORE_OPS_WINDOW_H_
#define ASC_CORE_OPS_WINDOW_H_

#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/attributes.h"
#include "core/tensor/shape.h"

namespace asc {

enum class AutoPad : uint8_t { kNotSet, kValid, kSameUpper, kSameLower };

// The window attributes of a node, checked, with defaults filled in; one entry a spatial axis.
struct WindowSpec {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads_begin, pads_end;  // all 0 unless auto_pad is kNotSet
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;  // the last window may hang over the end

  size_t rank() const { return kernel.size(); }
  // Extent that a window covers: dilation * (kernel - 1) + 1.
  int64_t Span(size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
  // Windows along the axis for an input extent, constant or symbolic. Formulae: the ONNX definition
  // of AveragePool 22. Negative or zero where a constant extent is smaller than the window:
  // ResolveWindow refuses that.
  Dim OutputExtent(size_t axis, const Dim& input) const;
};

// One spatial axis with everything known.
struct WindowAxis {
  int64_t input = 0, output = 0, kernel = 1, stride = 1, dilation = 1;
  int64_t pad_begin = 0, pad_end = 0;  // auto_pad resolved

  // The outputs o in [first, last) whose tap `k` reads inside the input (at o * stride - pad_begin
  // + k * dilation).
  void OutputRange(int64_t k, int64_t* first, int64_t* last) const;
  // The taps k in [first, last) of output `o` that read inside [low, high).
  void TapRange(int64_t o, int64_t low, int64_t high, int64_t* first, int64_t* last) const;
  int64_t Start(int64_t o) const { return o * stride - pad_begin; }
};

// Windows slid over the data lie in it; those of a transposed convolution may be padded below zero,
// which grows the output.
enum class PadRule : uint8_t { kNonNegative, kAny };

// Reads kernel_shape, strides, dilations, pads, auto_pad (which makes pads ignored) and ceil_mode.
// `kernel` is what the weight says, where there is one; it must agree with kernel_shape. `op` is
// for messages. E5003 for values that make no sense, E5001 for a kernel_shape that contradicts the
// weight.
Result<WindowSpec> ReadWindow(std::string_view op, const AttributeMap& attributes,
                              const std::optional<std::vector<int64_t>>& kernel,
                              size_t spatial_rank, PadRule pad_rule = PadRule::kNonNegative);

// Everything about the axes for concrete spatial extents. E5001 when a window does not fit into the
// padded input.
Result<std::vector<WindowAxis>> ResolveWindow(std::string_view op, const WindowSpec& spec,
                                              const Dims& spatial);

// Splits the total padding of auto_pad SAME_*: the odd element goes to the end for kSameUpper.
void SplitSamePadding(AutoPad auto_pad, int64_t total, int64_t* begin, int64_t* end);

}  // namespace asc

#endif  // ASC_CORE_OPS_WINDOW_H_
