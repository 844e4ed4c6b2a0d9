// Loops over windows that pooling and transposed convolution share.
#ifndef ASC_CORE_OPS_WINDOW_WALK_H_
#define ASC_CORE_OPS_WINDOW_WALK_H_

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/ops/window.h"

namespace asc {

struct WindowSizes {
  int64_t input = 1, output = 1;  // elements of one plane
  int64_t rows = 1;               // rows of one output plane: everything but the last axis
};

inline WindowSizes SizesOf(const std::vector<WindowAxis>& axes) {
  WindowSizes sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    sizes.input *= axes[i].input;
    sizes.output *= axes[i].output;
    if (i + 1 < axes.size()) sizes.rows *= axes[i].output;
  }
  return sizes;
}

// Visits the taps of one output row that lie inside the input, in row-major order of taps:
// visit(tap, offset, step, first, last) says that the outputs [first, last) of the row meet the
// input plane at offset + (o - first) * step with tap number `tap` of the kernel.
template <typename Visit>
void ForEachTapOfRow(const std::vector<WindowAxis>& axes, int64_t row, Visit&& visit) {
  const size_t outer = axes.size() - 1;
  const WindowAxis& last_axis = axes[outer];
  int64_t taps = 1;
  for (size_t i = 0; i < outer; ++i) taps *= axes[i].kernel;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t rest_row = row, rest_tap = tap, offset = 0, stride = last_axis.input;
    bool inside = true;
    for (size_t i = outer; inside && i-- > 0;) {
      const WindowAxis& axis = axes[i];
      const int64_t position =
          axis.Start(rest_row % axis.output) + rest_tap % axis.kernel * axis.dilation;
      rest_row /= axis.output;
      rest_tap /= axis.kernel;
      inside = position >= 0 && position < axis.input;
      offset += position * stride;
      stride *= axis.input;
    }
    if (!inside) continue;
    for (int64_t k = 0; k < last_axis.kernel; ++k) {
      int64_t first = 0, last = 0;
      last_axis.OutputRange(k, &first, &last);
      if (first >= last) continue;
      const int64_t start = offset + last_axis.Start(first) + k * last_axis.dilation;
      visit(tap * last_axis.kernel + k, start, last_axis.stride, first, last);
    }
  }
}

// Calls body(plane, row) for all rows of all planes, split over threads.
template <typename Body>
void ForEachWindowRow(const std::vector<WindowAxis>& axes, int64_t planes, Body&& body) {
  const int64_t rows = SizesOf(axes).rows;
  int64_t row_work = axes.back().output;
  for (const WindowAxis& axis : axes) row_work *= axis.kernel;
  ParallelFor(planes * rows, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, row_work)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) body(i / rows, i % rows);
              });
}

}  // namespace asc

#endif  // ASC_CORE_OPS_WINDOW_WALK_H_
