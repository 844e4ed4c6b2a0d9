#include "core/gradient/windows.h"

#include <algorithm>
#include <numeric>

namespace asc {
namespace {
std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The first `extents` elements along the spatial axes.
Expr CutTo(const Expr& x, const Expr& extents, size_t spatial_rank) {
  std::vector<int64_t> axes(spatial_rank);
  std::iota(axes.begin(), axes.end(), 2);
  const Expr starts = Ints(x, std::vector<int64_t>(spatial_rank, 0));
  return Apply("Slice", {x, starts, extents, Ints(x, axes)});
}

// The first two axes changed over.
Expr Swapped(const Expr& x, size_t spatial_rank) {
  std::vector<int64_t> permutation(spatial_rank + 2);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  return Transpose(x, permutation);
}

// [N, groups * c, extents...] as [c, groups * N, extents...].
Expr ByChannel(const Expr& x, const Expr& channels, int64_t groups, size_t spatial_rank) {
  if (groups == 1) return Swapped(x, spatial_rank);
  const Expr batch = Extents(x, 0, 1), extents = SpatialExtents(x);
  const Expr apart = Reshape(x, Concat({batch, Ints(x, {groups}), channels, extents}, 0));
  std::vector<int64_t> permutation(spatial_rank + 3);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[2]);
  return Reshape(Transpose(apart, permutation),
                 Concat({channels, batch * Ints(x, {groups}), extents}, 0));
}
}  // namespace

bool DataWindow::HasUnitStrides() const {
  return std::all_of(spec.strides.begin(), spec.strides.end(), [](int64_t s) { return s == 1; });
}

DataWindow ReadDataWindow(GradientStep& step, const Expr& data,
                          const std::optional<std::vector<int64_t>>& kernel) {
  DataWindow window;
  const AttributeMap& attributes = step.attributes();
  if (!data.has_rank() || (!kernel && !attributes.Has("kernel_shape"))) {
    step.Refuse("needs the rank of its data and the extents of its kernel, which are not known");
    return window;
  }
  const std::string op = step.node().schema->FullName();
  Result<WindowSpec> spec = ReadWindow(op, attributes, kernel, data.shape().rank() - 2);
  if (!spec.ok()) {
    step.Fail(std::move(spec).status());
    return window;
  }
  window.spec = std::move(spec).value();
  WindowSpec& read = window.spec;
  Dims extents;
  for (size_t i = 0; i < read.rank(); ++i) {
    if (data.shape()[i + 2].is_constant()) extents.push_back(data.shape()[i + 2].value());
  }
  if (extents.size() == read.rank()) {
    Result<std::vector<WindowAxis>> axes = ResolveWindow(op, read, extents);
    if (!axes.ok()) {
      step.Fail(std::move(axes).status());
      return window;
    }
    window.axes = std::move(axes).value();
    for (size_t i = 0; i < read.rank(); ++i) {
      read.pads_begin[i] = (*window.axes)[i].pad_begin;
      read.pads_end[i] = (*window.axes)[i].pad_end;
    }
  } else if (read.auto_pad == AutoPad::kSameUpper || read.auto_pad == AutoPad::kSameLower) {
    if (!window.HasUnitStrides())
      step.Refuse(
          "with auto_pad SAME and strides needs the extents of its data, which are not known");
    for (size_t i = 0; i < read.rank(); ++i)
      SplitSamePadding(read.auto_pad, read.Span(i) - 1, &read.pads_begin[i], &read.pads_end[i]);
  }
  return window;
}

Expr Extents(const Expr& x, int64_t begin, int64_t end) {
  return Apply("Shape", {x}, Attributes({{"start", begin}, {"end", end}}));
}

Expr SpatialExtents(const Expr& x) {
  return Apply("Shape", {x}, Attributes({{"start", int64_t{2}}}));
}

Expr SpreadOver(const Expr& values, const Expr& weight, const DataWindow& window, const Expr& like,
                int64_t groups) {
  const WindowSpec& spec = window.spec;
  std::vector<int64_t> pads_end = spec.pads_end, beyond(spec.rank(), 0);
  const bool exact = window.axes || (window.HasUnitStrides() && !spec.ceil_mode);
  for (size_t i = 0; i < spec.rank(); ++i) {
    if (window.axes) {
      const WindowAxis& axis = (*window.axes)[i];
      const int64_t reach =
          (axis.output - 1) * axis.stride + spec.Span(i) - axis.pad_begin - axis.input;
      pads_end[i] = std::max<int64_t>(0, reach);
      beyond[i] = std::max<int64_t>(0, -reach);
    } else if (!exact) {  // long enough for all extents
      pads_end[i] = 0;
      beyond[i] = spec.strides[i] - 1;
    }
  }
  const Expr spread = Apply("ConvTranspose", {values, weight},
                            Attributes({{"kernel_shape", spec.kernel},
                                        {"strides", spec.strides},
                                        {"dilations", spec.dilations},
                                        {"pads", Joined(spec.pads_begin, pads_end)},
                                        {"output_padding", beyond},
                                        {"group", groups}}));
  return exact ? spread : CutTo(spread, SpatialExtents(like), spec.rank());
}

// The same sums as a convolution whose kernel is as large as the values, where batch and channels have changed their parts, and strides and
// dilations too.
Expr WeightGradient(const Expr& data, const Expr& values, const Expr& weight,
                    const DataWindow& window, int64_t groups) {
  const WindowSpec& spec = window.spec;
  const size_t rank = spec.rank();
  const Expr sums =
      Apply("Conv", {ByChannel(data, Extents(weight, 1, 2), groups, rank), Swapped(values, rank)},
            Attributes({{"strides", spec.dilations},
                        {"dilations", spec.strides},
                        {"pads", Joined(spec.pads_begin, spec.pads_end)},
                        {"group", groups}}));
  // Strides may leave room at the end for taps that the kernel has not.
  const Expr cut = window.HasUnitStrides() ? sums : CutTo(sums, Ints(sums, spec.kernel), rank);
  return Swapped(cut, rank);
}

}  // namespace asc
