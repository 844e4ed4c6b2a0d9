// Gradients of Conv and ConvTranspose: each is the other's.
#include "core/ops/convolution.h"

#include <algorithm>
#include <numeric>

#include "core/gradient/rules.h"
#include "core/gradient/windows.h"

namespace asc {
namespace {
void GiveBias(GradientStep& s) {
  if (!s.Wants(2)) return;
  std::vector<int64_t> axes(s.RankOf(0));
  if (!s.ok()) return;
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + 1);
  s.Give(2, ReduceSum(s.g(), axes, false));
}

void Conv(GradientStep& s) {
  const Expr x = s.x(0), w = s.x(1);
  const int64_t groups = s.attributes().Int("group", 1);
  const DataWindow window = ReadDataWindow(s, x, WeightKernel(w.shape()));
  if (!s.ok()) return;
  if (s.Wants(0)) s.Give(0, SpreadOver(s.g(), w, window, x, groups));
  if (s.Wants(1)) s.Give(1, WeightGradient(x, s.g(), w, window, groups));
  GiveBias(s);
}

// The pads that output_shape and auto_pad stand for; they take known extents.
bool ResolvePads(GradientStep& s, WindowSpec& spec) {
  const bool same = spec.auto_pad == AutoPad::kSameUpper || spec.auto_pad == AutoPad::kSameLower;
  if (!same && !s.attributes().Has("output_shape")) return true;
  const Shape &x = s.x().shape(), &y = s.y().shape();
  const std::vector<int64_t> beyond =
      s.attributes().Ints("output_padding", std::vector<int64_t>(spec.rank(), 0));
  for (size_t i = 0; i < spec.rank(); ++i) {
    if (!x[i + 2].is_constant() || !y.has_rank() || !y[i + 2].is_constant()) return false;
    const int64_t total =
        spec.strides[i] * (x[i + 2].value() - 1) + beyond[i] + spec.Span(i) - y[i + 2].value();
    if (total < 0) return false;
    SplitSamePadding(same ? spec.auto_pad : AutoPad::kSameLower, total, &spec.pads_begin[i],
                     &spec.pads_end[i]);
  }
  return true;
}

// The convolution that this one transposes slides over y and gives x.
void ConvTranspose(GradientStep& s) {
  const Expr w = s.x(1);
  const int64_t groups = s.attributes().Int("group", 1);
  const auto kernel = WeightKernel(w.shape());
  const size_t rank = s.RankOf(0);
  if (!s.ok()) return;
  if (!kernel && !s.attributes().Has("kernel_shape"))
    return s.Refuse("needs the extents of its kernel, which are not known");
  DataWindow window;
  Result<WindowSpec> spec =
      ReadWindow("ConvTranspose", s.attributes(), kernel, rank - 2, PadRule::kAny);
  if (!spec.ok()) return s.Fail(std::move(spec).status());
  window.spec = std::move(spec).value();
  const auto negative = [](const std::vector<int64_t>& pads) {
    return std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; });
  };
  if (!ResolvePads(s, window.spec) || negative(window.spec.pads_begin) ||
      negative(window.spec.pads_end)) {
    return s.Refuse("needs padding that is known and not negative");
  }
  std::vector<int64_t> pads = window.spec.pads_begin;
  pads.insert(pads.end(), window.spec.pads_end.begin(), window.spec.pads_end.end());
  if (s.Wants(0)) {
    s.Give(0, Apply("Conv", {s.g(), w},
                    Attributes({{"strides", window.spec.strides},
                                {"dilations", window.spec.dilations},
                                {"pads", pads},
                                {"group", groups}})));
  }
  if (s.Wants(1)) s.Give(1, WeightGradient(s.g(), s.x(0), w, window, groups));
  GiveBias(s);
}

constexpr GradientRow kRows[] = {{"Conv", Conv}, {"ConvTranspose", ConvTranspose}};
}  // namespace

std::span<const GradientRow> ConvolutionGradients() { return kRows; }

}  // namespace asc
