// Gradients of pooling.
#include <algorithm>
#include <numeric>

#include "core/gradient/rules.h"
#include "core/gradient/windows.h"

namespace asc {
namespace {
// Each value added to all elements of its window.
Expr SpreadSums(const Expr& values, const DataWindow& window, const Expr& like) {
  // One channel at a time: how many there are does not matter.
  const Expr planes = Reshape(values, Concat({Ints(values, {-1, 1}), SpatialExtents(values)}, 0));
  std::vector<int64_t> taps = {1, 1};
  taps.insert(taps.end(), window.spec.kernel.begin(), window.spec.kernel.end());
  const Expr ones = Apply("Expand", {Number(values, 1), Ints(values, taps)});
  return ReshapeLike(SpreadOver(planes, ones, window, like, 1), like);
}

// How many elements each window of AveragePool counts: a number where that is the same for all, else a tensor of the extents of y.
Expr WindowCounts(GradientStep& s, const DataWindow& window) {
  const WindowSpec& spec = window.spec;
  const bool include = s.attributes().Int("count_include_pad", 0) != 0;
  const auto none = [](const std::vector<int64_t>& pads) {
    return std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; });
  };
  const int64_t taps =
      std::accumulate(spec.kernel.begin(), spec.kernel.end(), int64_t{1}, std::multiplies<>());
  if (!spec.ceil_mode && (include || (none(spec.pads_begin) && none(spec.pads_end))))
    return Number(s.g(), static_cast<double>(taps));
  if (!window.axes) {
    if (spec.ceil_mode) {
      s.Refuse("with ceil_mode needs the extents of its data, which are not known");
      return Expr();
    }
    // Sums of ones, without those of the padding.
    const Expr x = s.x(), one = Number(x, 1);
    const Expr plane = Apply("Expand", {one, Concat({Ints(x, {1, 1}), SpatialExtents(x)}, 0)});
    std::vector<int64_t> weight = {1, 1}, pads = spec.pads_begin;
    weight.insert(weight.end(), spec.kernel.begin(), spec.kernel.end());
    pads.insert(pads.end(), spec.pads_end.begin(), spec.pads_end.end());
    return Apply(
        "Conv", {plane, Apply("Expand", {one, Ints(x, weight)})},
        Attributes({{"strides", spec.strides}, {"dilations", spec.dilations}, {"pads", pads}}));
  }
  Expr counts;
  for (size_t i = 0; i < window.axes->size(); ++i) {
    const WindowAxis& axis = (*window.axes)[i];
    std::vector<float> of_axis;
    for (int64_t o = 0; o < axis.output; ++o) {
      int64_t first = 0, last = 0;
      axis.TapRange(o, include ? -axis.pad_begin : 0, axis.input + (include ? axis.pad_end : 0),
                    &first, &last);
      of_axis.push_back(static_cast<float>(std::max<int64_t>(1, last - first)));
    }
    Dims dims(window.axes->size(), 1);
    dims[i] = axis.output;
    const Tensor tensor = Tensor::FromValues<float>(dims, std::span<const float>(of_axis));
    const Expr factor = CastLike(Expr(s, s.Constant(tensor)), s.g());
    counts = counts.valid() ? counts * factor : factor;
  }
  return counts;
}

void AveragePool(GradientStep& s) {
  const DataWindow window = ReadDataWindow(s, s.x(), std::nullopt);
  if (!s.ok()) return;
  const Expr counts = WindowCounts(s, window);
  if (s.ok()) s.Give(0, SpreadSums(s.g() / counts, window, s.x()));
}

// The derivative of (sum |x|^p)^(1/p), less what all elements of a sum share: |x|^(p-1) sign(x).
Expr PowerSlope(const Expr& x, int64_t p) {
  if (p == 1) return Apply("Sign", {x});
  if (p == 2) return x;
  const Expr size = Apply("Abs", {x});
  return Apply("Sign", {x}) * Apply("Pow", {size, Number(x, static_cast<double>(p - 1))});
}

// What they share: y^(1-p), 0 where y is.
Expr PowerShare(const Expr& y, int64_t p) {
  if (p == 1) return Number(y, 1);
  const Expr is_zero = Apply("Equal", {y, Number(y, 0)});
  const Expr safe = Where(is_zero, Fill(y, 1), y);
  return Where(is_zero, Number(y, 0), Apply("Pow", {safe, Number(y, static_cast<double>(1 - p))}));
}

void LpPool(GradientStep& s) {
  const DataWindow window = ReadDataWindow(s, s.x(), std::nullopt);
  if (!s.ok()) return;
  const int64_t p = s.attributes().Int("p", 2);
  s.Give(0, SpreadSums(s.g() * PowerShare(s.y(), p), window, s.x()) * PowerSlope(s.x(), p));
}

// To the first of the largest elements of each window.
void MaxPool(GradientStep& s) {
  Expr places = s.y(1);
  if (!places.valid() || s.attributes().Int("storage_order", 0) != 0) {
    AttributeMap attributes = s.attributes();
    attributes.Set("storage_order", int64_t{0});
    places = Expr(s, s.AddMany("MaxPool", {s.x().id()}, std::move(attributes), 2)[1]);
  }
  s.Give(0, AddAt(s.x(), places, s.g()));
}

void GlobalLpPool(GradientStep& s) {
  const int64_t p = s.attributes().Int("p", 2);
  s.Give(0, s.g() * PowerShare(s.y(), p) * PowerSlope(s.x(), p));
}

void GlobalMaxPool(GradientStep& s) {
  std::vector<int64_t> axes(s.RankOf(0));
  if (!s.ok()) return;
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin(), axes.begin() + 2);
  const Expr is_result = CastLike(Apply("Equal", {s.x(), s.y()}), s.x());
  s.Give(0, s.g() / ReduceSum(is_result, axes, true) * is_result);
}

constexpr GradientRow kRows[] = {
    {"AveragePool", AveragePool},
    {"GlobalAveragePool",
     [](GradientStep& s) { s.Give(0, ExpandLike(s.g() * CountShare(s.x(), s.y()), s.x())); }},
    {"GlobalLpPool", GlobalLpPool},
    {"GlobalMaxPool", GlobalMaxPool},
    {"LpPool", LpPool},
    {"MaxPool", MaxPool},
};
}  // namespace

std::span<const GradientRow> PoolingGradients() { return kRows; }

}  // namespace asc
