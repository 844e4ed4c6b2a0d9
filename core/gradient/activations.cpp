// Gradients of activations. At a kink, the derivative of the side that gives 0 or the smaller slope. What a
// branch that is not taken would compute stays finite: 0 times infinity would be NaN in gradients of gradients.
#include <cmath>
#include <numbers>

#include "core/gradient/rules.h"

namespace asc {
namespace {
// Of nodes in the graph, where defaults are filled in.
double Attribute(const GradientStep& s, std::string_view name) {
  return static_cast<double>(s.attributes().Float(name, 0));
}

Expr Exp(const Expr& x) { return Apply("Exp", {x}); }
Expr Sigmoid(const Expr& x) { return Apply("Sigmoid", {x}); }
// exp(x * scale) below 0, and 1 above.
Expr ExpBelow(const Expr& x, double scale = 1) {
  return Exp(Apply("Min", {x, Number(x, 0)}) * scale);
}

void Elu(GradientStep& s) {
  const double alpha = Attribute(s, "alpha");
  s.Give(0, Where(s.x() > 0, s.g(), s.g() * (alpha * ExpBelow(s.x()))));
}

void Celu(GradientStep& s) { s.Give(0, s.g() * ExpBelow(s.x(), 1 / Attribute(s, "alpha"))); }

void Selu(GradientStep& s) {
  const double alpha = Attribute(s, "alpha");
  const Expr scaled = Attribute(s, "gamma") * s.g();
  s.Give(0, Where(s.x() > 0, scaled, scaled * (alpha * ExpBelow(s.x()))));
}

void Gelu(GradientStep& s) {
  const Expr x = s.x();
  if (s.attributes().String("approximate", "none") == "tanh") {
    // 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + c x^3)
    const double c = 0.044715, root = std::sqrt(2 / std::numbers::pi);
    const Expr square = x * x;
    const Expr t = Apply("Tanh", {root * (x * (1 + c * square))});
    const Expr slope = root * (1 + 3 * c * square);
    s.Give(0, s.g() * (0.5 * ((1 + t) + x * ((1 - t * t) * slope))));
    return;
  }
  const Expr distribution = 0.5 * (1 + Apply("Erf", {x * (1 / std::numbers::sqrt2)}));
  const Expr density = std::numbers::inv_sqrtpi / std::numbers::sqrt2 * Exp(-0.5 * (x * x));
  s.Give(0, s.g() * (distribution + x * density));
}

void HardSigmoid(GradientStep& s) {
  const Expr inside = Apply("And", {s.y() > 0, s.y() < 1});
  s.Give(0, Where(inside, Attribute(s, "alpha") * s.g(), 0));
}

void HardSwish(GradientStep& s) {
  const Expr x = s.x();
  const Expr middle = s.g() * (x / 3 + 0.5);
  s.Give(0, Where(x > 3, s.g(), Where(x > -3, middle, 0)));
}

void LeakyRelu(GradientStep& s) {
  s.Give(0, Where(s.x() > 0, s.g(), Attribute(s, "alpha") * s.g()));
}

void Mish(GradientStep& s) {
  const Expr t = Apply("Tanh", {Apply("Softplus", {s.x()})});
  s.Give(0, s.g() * (t + s.x() * ((1 - t * t) * Sigmoid(s.x()))));
}

void PRelu(GradientStep& s) {
  const Expr positive = s.x() > 0;
  s.Give(0, Where(positive, s.g(), s.g() * s.x(1)));
  if (s.Wants(1)) s.GiveSummed(1, Where(positive, Number(s.g(), 0), s.g() * s.x()));
}

void Shrink(GradientStep& s) {
  s.Give(0, Where(Apply("Abs", {s.x()}) > Attribute(s, "lambd"), s.g(), 0));
}

void Softsign(GradientStep& s) {
  const Expr size = 1 + Apply("Abs", {s.x()});
  s.Give(0, s.g() / (size * size));
}

// The derivative of x p, where p = sigmoid(alpha x).
Expr SwishSlope(const Expr& x, const Expr& p, double alpha) {
  return p + alpha * (x * (p * (1 - p)));
}

void Swish(GradientStep& s) {
  const double alpha = Attribute(s, "alpha");
  s.Give(0, s.g() * SwishSlope(s.x(), Sigmoid(alpha * s.x()), alpha));
}

void SwiGlu(GradientStep& s) {
  const double alpha = Attribute(s, "alpha");
  const Expr gate = s.x(0), p = Sigmoid(alpha * gate);
  if (s.Wants(0)) s.Give(0, s.g() * (s.x(1) * SwishSlope(gate, p, alpha)));
  if (s.Wants(1)) s.Give(1, s.g() * (gate * p));
}

constexpr GradientRow kRows[] = {
    {"Celu", Celu},
    {"Elu", Elu},
    {"Gelu", Gelu},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", HardSwish},
    {"LeakyRelu", LeakyRelu},
    {"Mish", Mish},
    {"PRelu", PRelu},
    {"Relu", [](GradientStep& s) { s.Give(0, Where(s.y() > 0, s.g(), 0)); }},
    {"Selu", Selu},
    {"Shrink", Shrink},
    {"Sigmoid", [](GradientStep& s) { s.Give(0, s.g() * (s.y() * (1 - s.y()))); }},
    {"Softplus", [](GradientStep& s) { s.Give(0, s.g() * Sigmoid(s.x())); }},
    {"Softsign", Softsign},
    {"SwiGLU", SwiGlu},
    {"Swish", Swish},
    {"Tanh", [](GradientStep& s) { s.Give(0, s.g() * (1 - s.y() * s.y())); }},
    {"ThresholdedRelu",
     [](GradientStep& s) { s.Give(0, Where(s.x() > Attribute(s, "alpha"), s.g(), 0)); }},
};
}  // namespace

std::span<const GradientRow> ActivationGradients() { return kRows; }

}  // namespace asc
