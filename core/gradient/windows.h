// What gradients of convolutions and of pooling share: sliding windows, read backwards.
#ifndef ASC_CORE_GRADIENT_WINDOWS_H_
#define ASC_CORE_GRADIENT_WINDOWS_H_

#include <vector>

#include "core/gradient/step.h"
#include "core/ops/window.h"

namespace asc {

// Windows over the spatial axes of `data`, [N, C, extents...].
struct DataWindow {
  WindowSpec spec;                              // with the pads that auto_pad makes
  std::optional<std::vector<WindowAxis>> axes;  // where all extents are known

  size_t rank() const { return spec.rank(); }
  bool HasUnitStrides() const;
};

// Of a node with the attributes of a window; `kernel`: what a weight says of it. Refuses through the step what only known
// extents would tell.
DataWindow ReadDataWindow(GradientStep& step, const Expr& data,
                          const std::optional<std::vector<int64_t>>& kernel);

// The transposed convolution of `values` by `weight` [channels, filters / groups, kernel...], that gives data of `like`'s extents.
Expr SpreadOver(const Expr& values, const Expr& weight, const DataWindow& window, const Expr& like,
                int64_t groups);

// Sums over the batch and over all windows of what each tap of `weight` [channels of values, channels of data / groups, kernel...]
// multiplies.
Expr WeightGradient(const Expr& data, const Expr& values, const Expr& weight,
                    const DataWindow& window, int64_t groups);

// The extents of axes [begin, end) of x.
Expr Extents(const Expr& x, int64_t begin, int64_t end);
// [2, rank), of the extents.
Expr SpatialExtents(const Expr& x);

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_WINDOWS_H_
