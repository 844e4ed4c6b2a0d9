// Gradients of arithmetic with broadcasting, and of choices between tensors. Where several of Min's or Max's
// inputs are the result, they share its gradient alike.
#include "core/gradient/rules.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
void Mul(GradientStep& s) {
  if (s.Wants(0)) s.GiveSummed(0, s.g() * s.x(1));
  if (s.Wants(1)) s.GiveSummed(1, s.g() * s.x(0));
}

void Div(GradientStep& s) {
  const Expr share = s.g() / s.x(1);
  s.GiveSummed(0, share);
  if (s.Wants(1)) s.GiveSummed(1, -share * s.y());
}

// a - b * q, where q is the quotient rounded to minus infinity, or with `fmod` to zero.
void Mod(GradientStep& s) {
  s.GiveSummed(0, s.g());
  if (!s.Wants(1)) return;
  const Expr quotient = s.x(0) / s.x(1);
  const Expr rounded = s.attributes().Int("fmod", 0) == 0
                           ? Apply("Floor", {quotient})
                           : Apply("Sign", {quotient}) * Apply("Floor", {Apply("Abs", {quotient})});
  s.GiveSummed(1, -s.g() * rounded);
}

// The exponent where it is one number that is known.
std::optional<double> KnownExponent(const Expr& b) {
  const Tensor* constant = b.constant();
  if (constant == nullptr || constant->rank() != 0) return std::nullopt;
  return ReadAsDouble(constant->dtype(), constant->raw(), 0);
}

void Pow(GradientStep& s) {
  const Expr a = s.x(0), b = CastLike(s.x(1), a);
  if (s.Wants(0)) {
    const std::optional<double> known = KnownExponent(s.x(1));
    if (known && *known == 2) {
      s.GiveSummed(0, s.g() * (2 * a));
    } else if (known && *known != 0) {
      s.GiveSummed(0, s.g() * (*known * Apply("Pow", {a, Number(a, *known - 1)})));
    } else if (!known) {
      // 0 to the power of 0 stays 1 around there: no -1st power of 0.
      const Expr flat = Apply("Equal", {b, Number(b, 0)});
      const Expr less = Where(flat, Fill(b, 1), b - 1);
      s.GiveSummed(0, s.g() * (b * Apply("Pow", {a, less})));
    }
  }
  if (s.Wants(1)) {
    // The logarithm of 0 comes with a power that is 0 (or infinite).
    const Expr safe = Where(Apply("Equal", {a, Number(a, 0)}), Fill(a, 1), a);
    s.GiveSummed(1, CastLike(s.g() * (s.y() * Apply("Log", {safe})), s.x(1)));
  }
}

void Sum(GradientStep& s) {
  for (size_t i = 0; i < s.input_count(); ++i) {
    if (s.Wants(i)) s.GiveSummed(i, s.g());
  }
}

void Mean(GradientStep& s) {
  const Expr share = s.g() / static_cast<double>(s.input_count());
  for (size_t i = 0; i < s.input_count(); ++i) {
    if (s.Wants(i)) s.GiveSummed(i, share);
  }
}

// Min and Max.
void Extreme(GradientStep& s) {
  if (s.input_count() == 1) return s.Give(0, s.g());
  std::vector<Expr> is_result;
  for (size_t i = 0; i < s.input_count(); ++i)
    is_result.push_back(CastLike(Apply("Equal", {s.x(i), s.y()}), s.y()));
  const Expr share = s.g() / Apply("Sum", is_result);
  for (size_t i = 0; i < s.input_count(); ++i) {
    if (s.Wants(i)) s.GiveSummed(i, share * is_result[i]);
  }
}

void Choose(GradientStep& s) {
  const Expr none = Number(s.g(), 0);
  if (s.Wants(1)) s.GiveSummed(1, Where(s.x(0), s.g(), none));
  if (s.Wants(2)) s.GiveSummed(2, Where(s.x(0), none, s.g()));
}

// A bound may be a list of one number.
Expr Bound(const Expr& x) {
  return x.has_rank() && x.shape().rank() == 0 ? x : Reshape(x, Ints(x, {}));
}

void GiveBound(GradientStep& s, size_t i, const Expr& gradients) {
  if (s.Wants(i)) s.Give(i, ReshapeLike(ReduceSum(gradients, Expr(), false), s.x(i)));
}

void Clip(GradientStep& s) {
  const Expr x = s.x(0), low = Bound(s.x(1)), high = Bound(s.x(2)), none = Number(x, 0);
  Expr inside = s.g();
  if (low.valid()) {
    const Expr below = x < low;
    inside = Where(below, none, inside);
    Expr at_low = Where(below, s.g(), none);
    if (high.valid()) at_low = Where(low > high, none, at_low);
    GiveBound(s, 1, at_low);
  }
  if (high.valid()) {
    const Expr bounded = low.valid() ? Apply("Max", {x, low}) : x;
    const Expr above = bounded > high;
    inside = Where(above, none, inside);
    GiveBound(s, 2, Where(above, s.g(), none));
  }
  s.Give(0, inside);
}

constexpr GradientRow kRows[] = {
    {"Add", Sum},
    {"Clip", Clip},
    {"Div", Div},
    {"Max", Extreme},
    {"Mean", Mean},
    {"Min", Extreme},
    {"Mod", Mod},
    {"Mul", Mul},
    {"Pow", Pow},
    {"Sub",
     [](GradientStep& s) {
       s.GiveSummed(0, s.g());
       if (s.Wants(1)) s.GiveSummed(1, -s.g());
     }},
    {"Sum", Sum},
    {"Where", Choose},
};
}  // namespace

std::span<const GradientRow> ArithmeticGradients() { return kRows; }

}  // namespace asc
