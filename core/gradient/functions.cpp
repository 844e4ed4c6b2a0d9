// Gradients of element-wise functions of one tensor.
#include <cmath>
#include <numbers>

#include "core/gradient/rules.h"

namespace asc {
namespace {
// What has no derivative but 0, or looks at a shape alone.
void Nothing(GradientStep&) {}

constexpr GradientRow kRows[] = {
    {"Abs", [](GradientStep& s) { s.Give(0, s.g() * Apply("Sign", {s.x()})); }},
    {"Acos", [](GradientStep& s) { s.Give(0, -s.g() / Apply("Sqrt", {1 - s.x() * s.x()})); }},
    {"Acosh", [](GradientStep& s) { s.Give(0, s.g() / Apply("Sqrt", {s.x() * s.x() - 1})); }},
    {"Asin", [](GradientStep& s) { s.Give(0, s.g() / Apply("Sqrt", {1 - s.x() * s.x()})); }},
    {"Asinh", [](GradientStep& s) { s.Give(0, s.g() / Apply("Sqrt", {s.x() * s.x() + 1})); }},
    {"Atan", [](GradientStep& s) { s.Give(0, s.g() / (s.x() * s.x() + 1)); }},
    {"Atanh", [](GradientStep& s) { s.Give(0, s.g() / (1 - s.x() * s.x())); }},
    {"Cast", [](GradientStep& s) { s.Give(0, CastLike(s.g(), s.x())); }},
    {"CastLike", [](GradientStep& s) { s.Give(0, CastLike(s.g(), s.x())); }},
    {"Bernoulli", Nothing},
    {"Ceil", Nothing},
    {"Cos", [](GradientStep& s) { s.Give(0, -s.g() * Apply("Sin", {s.x()})); }},
    {"Cosh", [](GradientStep& s) { s.Give(0, s.g() * Apply("Sinh", {s.x()})); }},
    {"Erf",
     [](GradientStep& s) {
       s.Give(0, s.g() * (2 * std::numbers::inv_sqrtpi * Apply("Exp", {-s.x() * s.x()})));
     }},
    {"Exp", [](GradientStep& s) { s.Give(0, s.g() * s.y()); }},
    {"EyeLike", Nothing},
    {"Floor", Nothing},
    {"Hardmax", Nothing},
    {"Identity", [](GradientStep& s) { s.Give(0, s.g()); }},
    {"Log", [](GradientStep& s) { s.Give(0, s.g() / s.x()); }},
    {"Neg", [](GradientStep& s) { s.Give(0, -s.g()); }},
    {"RandomNormalLike", Nothing},
    {"RandomUniformLike", Nothing},
    {"Reciprocal", [](GradientStep& s) { s.Give(0, -s.g() * (s.y() * s.y())); }},
    {"Round", Nothing},
    {"Sign", Nothing},
    {"Sin", [](GradientStep& s) { s.Give(0, s.g() * Apply("Cos", {s.x()})); }},
    {"Sinh", [](GradientStep& s) { s.Give(0, s.g() * Apply("Cosh", {s.x()})); }},
    {"Sqrt", [](GradientStep& s) { s.Give(0, s.g() / (2 * s.y())); }},
    {"Tan", [](GradientStep& s) { s.Give(0, s.g() * (s.y() * s.y() + 1)); }},
};
}  // namespace

std::span<const GradientRow> FunctionGradients() { return kRows; }

}  // namespace asc
