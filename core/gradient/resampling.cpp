// The gradient of Resize. Nearest elements move; otherwise the operator is a matrix for each axis, which it gives itself when it
// resizes the identity.
#include <numeric>

#include "core/gradient/rules.h"

namespace asc {
namespace {
// Whether the list has a number that is known to be 1 at `k`.
bool IsOne(const Expr& scales, size_t k) {
  const Tensor* const known = scales.constant();
  return known != nullptr && known->dtype() == DataType::kFloat32 && known->data<float>()[k] == 1;
}

bool IsGiven(const Expr& list) {
  const bool empty = list.has_rank() && list.shape().rank() == 1 && list.shape()[0].IsConstant(0);
  return list.valid() && !empty;
}

Expr Identity(const Expr& x, int64_t axis) {
  const Expr extent = Apply("Gather", {ShapeOf(x), Ints(x, {axis})});
  const Expr square = Apply("Expand", {Number(x, 0), Concat({extent, extent}, 0)});
  return Apply("EyeLike", {square});
}

void Resize(GradientStep& s) {
  const AttributeMap& attributes = s.attributes();
  if (attributes.String("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    return s.Refuse("with tf_crop_and_resize is not there");
  const Expr x = s.x();
  if (attributes.String("mode", "nearest") == "nearest") {
    const Expr moved = Apply("Resize", {PositionsOf(x), s.x(1), s.x(2), s.x(3)}, attributes);
    return s.Give(0, AddAt(x, moved, s.g()));
  }
  if (attributes.String("keep_aspect_ratio_policy", "stretch") != "stretch")
    return s.Refuse("that keeps the aspect ratio is not there");
  const size_t rank = s.RankOf(0);
  if (!s.ok()) return;
  std::vector<int64_t> axes = attributes.Ints("axes");
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  const Expr scales = s.x(2), sizes = s.x(3);
  const bool by_scales = IsGiven(scales);
  Expr g = s.g();
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t axis = axes[k] < 0 ? axes[k] + static_cast<int64_t>(rank) : axes[k];
    const auto at = static_cast<size_t>(axis);
    const bool same = s.y().has_rank() && s.y().shape()[at] == x.shape()[at];
    if (by_scales ? IsOne(scales, k) : same) continue;
    AttributeMap one = attributes;
    one.Set("axes", std::vector<int64_t>{0});
    const auto pick = [&](const Expr& list) {
      return Apply("Gather", {list, Ints(list, {static_cast<int64_t>(k)})});
    };
    const Expr none;
    const Expr matrix = Apply(
        "Resize",
        {Identity(x, axis), none, by_scales ? pick(scales) : none, by_scales ? none : pick(sizes)},
        std::move(one));
    std::vector<int64_t> last(rank);
    std::iota(last.begin(), last.end(), 0);
    std::swap(last[at], last.back());
    g = Transpose(Apply("MatMul", {Transpose(g, last), matrix}), last);
  }
  s.Give(0, g);
}

constexpr GradientRow kRows[] = {{"Resize", Resize}};
}  // namespace

std::span<const GradientRow> ResamplingGradients() { return kRows; }

}  // namespace asc
