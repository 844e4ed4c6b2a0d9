// Loops over windows that pooling and transposed convolution share.
#ifndef ASC_CORE_OPS_WINDOW_WALK_H_
#define ASC_CORE_OPS_WINDOW_WALK_H_

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
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
// input plane at offset + (o - first) * step with tap number `tap` of the kernel. Taps that lie in
// the padding for the whole row cost nothing, however large the kernel is.
template <typename Visit>
void ForEachTapOfRow(const std::vector<WindowAxis>& axes, int64_t row, Visit&& visit) {
  const WindowAxis& last_axis = axes.back();
  // An outer axis: its taps inside the input, the one at hand, and what a step along it means.
  struct Walk {
    int64_t first, last, at, start, dilation, stride, tap_stride;
  };
  absl::InlinedVector<Walk, 3> walks(axes.size() - 1);
  int64_t stride = last_axis.input, tap_stride = last_axis.kernel;
  for (size_t i = walks.size(); i-- > 0;) {
    const WindowAxis& axis = axes[i];
    const int64_t o = row % axis.output;
    row /= axis.output;
    int64_t first = 0, last = 0;
    axis.TapRange(o, 0, axis.input, &first, &last);
    if (first >= last) return;
    walks[i] = {first, last, first, axis.Start(o), axis.dilation, stride, tap_stride};
    stride *= axis.input;
    tap_stride *= axis.kernel;
  }
  // Of the last axis the taps that some output has inside the input.
  int64_t begin = 0, end = 0, other = 0;
  last_axis.TapRange(last_axis.output - 1, 0, last_axis.input, &begin, &other);
  last_axis.TapRange(0, 0, last_axis.input, &other, &end);
  while (true) {
    int64_t offset = 0, tap = 0;
    for (const Walk& walk : walks) {
      offset += (walk.start + walk.at * walk.dilation) * walk.stride;
      tap += walk.at * walk.tap_stride;
    }
    for (int64_t k = begin; k < end; ++k) {
      int64_t first = 0, last = 0;
      last_axis.OutputRange(k, &first, &last);
      if (first >= last) continue;
      const int64_t start = offset + last_axis.Start(first) + k * last_axis.dilation;
      visit(tap + k, start, last_axis.stride, first, last);
    }
    size_t i = walks.size();
    while (i > 0 && ++walks[i - 1].at == walks[i - 1].last) {
      walks[i - 1].at = walks[i - 1].first;
      --i;
    }
    if (i == 0) return;
  }
}

// Calls body(plane, row) for all rows of all planes, split over threads.
template <typename Body>
void ForEachWindowRow(const std::vector<WindowAxis>& axes, int64_t planes, Body&& body) {
  const int64_t rows = SizesOf(axes).rows;
  auto row_work = static_cast<double>(axes.back().output);
  for (const WindowAxis& axis : axes) row_work *= static_cast<double>(axis.kernel);
  ParallelFor(planes * rows, std::max<int64_t>(1, static_cast<int64_t>((1 << 15) / std::max(1.0, row_work))),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) body(i / rows, i % rows);
              });
}

}  // namespace asc

#endif  // ASC_CORE_OPS_WINDOW_WALK_H_
