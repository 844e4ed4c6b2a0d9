// Gradients of reductions and of sums that run along an axis.
#include "core/gradient/rules.h"

namespace asc {
namespace {
// With extent 1 where the node reduced, so that it broadcasts to x. All axes give a number, which does.
Expr Kept(GradientStep& s, const Expr& reduced) {
  if (s.attributes().Int("keepdims", 1) != 0 || !s.x(1).valid()) return reduced;
  return Apply("Unsqueeze", {reduced, s.x(1)});
}

// A reduction of `x` over the same axes, which stay.
Expr Over(GradientStep& s, std::string_view op, const Expr& x) {
  const int64_t noop = s.attributes().Int("noop_with_empty_axes", 0);
  return Apply(op, {x, s.x(1)},
               Attributes({{"keepdims", int64_t{1}}, {"noop_with_empty_axes", noop}}));
}

void ReduceMean(GradientStep& s) {
  s.Give(0, ExpandLike(Kept(s, s.g() * CountShare(s.x(), s.y())), s.x()));
}

// Max and Min: elements that are the result share its gradient alike.
void ReduceExtreme(GradientStep& s) {
  const Expr is_result = CastLike(Apply("Equal", {s.x(), Kept(s, s.y())}), s.x());
  s.Give(0, Kept(s, s.g()) / Over(s, "ReduceSum", is_result) * is_result);
}

// The product of the other elements: also where one of them is 0, or several are. (Where two are, gradients of this
// gradient miss what they share.)
void ReduceProd(GradientStep& s) {
  const Expr x = s.x(), one = Number(x, 1);
  const Expr is_zero = Apply("Equal", {x, Number(x, 0)});
  const Expr zeros = Over(s, "ReduceSum", CastLike(is_zero, x));
  const Expr safe = Where(is_zero, one, x);
  const Expr product = Over(s, "ReduceProd", safe);
  const Expr lone = Apply("And", {is_zero, Apply("Equal", {zeros, one})});
  const Expr others = Where(zeros < 0.5, product / safe, Where(lone, product, 0));
  s.Give(0, Kept(s, s.g()) * others);
}

// 0 where all elements are.
void ReduceL2(GradientStep& s) {
  const Expr norm = Kept(s, s.y());
  const Expr is_zero = Apply("Equal", {norm, Number(norm, 0)});
  const Expr safe = Where(is_zero, Fill(norm, 1), norm);
  s.Give(0, Kept(s, s.g()) * Where(is_zero, Number(norm, 0), s.x() / safe));
}

void CumSum(GradientStep& s) {
  AttributeMap attributes = s.attributes();
  attributes.Set("reverse", int64_t{attributes.Int("reverse", 0) == 0});
  s.Give(0, Apply("CumSum", {s.g(), s.x(1)}, std::move(attributes)));
}

constexpr GradientRow kRows[] = {
    {"CumSum", CumSum},
    {"ReduceL1", [](GradientStep& s) { s.Give(0, Kept(s, s.g()) * Apply("Sign", {s.x()})); }},
    {"ReduceL2", ReduceL2},
    {"ReduceLogSum",
     [](GradientStep& s) {
       s.Give(0, ExpandLike(Kept(s, s.g()) / Over(s, "ReduceSum", s.x()), s.x()));
     }},
    {"ReduceLogSumExp",
     [](GradientStep& s) { s.Give(0, Kept(s, s.g()) * Apply("Exp", {s.x() - Kept(s, s.y())})); }},
    {"ReduceMax", ReduceExtreme},
    {"ReduceMean", ReduceMean},
    {"ReduceMin", ReduceExtreme},
    {"ReduceProd", ReduceProd},
    {"ReduceSum", [](GradientStep& s) { s.Give(0, ExpandLike(Kept(s, s.g()), s.x())); }},
    {"ReduceSumSquare", [](GradientStep& s) { s.Give(0, 2 * Kept(s, s.g()) * s.x()); }},
};
}  // namespace

std::span<const GradientRow> ReductionGradients() { return kRows; }

}  // namespace asc
