// Gradients of operators that keep all elements: reshape, repeat, join, cut.
#include "core/gradient/rules.h"

namespace asc {
namespace {
void Reshaped(GradientStep& s) { s.Give(0, ReshapeLike(s.g(), s.x())); }

void TransposeBack(GradientStep& s) {
  const std::vector<int64_t> permutation = s.attributes().Ints("perm");
  if (permutation.empty()) return s.Give(0, Apply("Transpose", {s.g()}));
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    const auto rank = static_cast<int64_t>(permutation.size());
    const int64_t axis = permutation[i] < 0 ? permutation[i] + rank : permutation[i];
    inverse[static_cast<size_t>(axis)] = static_cast<int64_t>(i);
  }
  s.Give(0, Transpose(s.g(), inverse));
}

// [r0, d0, r1, d1, ...] is the result with repeats and extents apart.
void Tile(GradientStep& s) {
  const size_t rank = s.RankOf(0);
  if (!s.ok()) return;
  if (rank == 0) return s.Give(0, s.g());
  const Expr both = Concat({Unsqueeze(s.x(1), {1}), Unsqueeze(ShapeOf(s.x()), {1})}, 1);
  const Expr apart = Apply("Reshape", {s.g(), Reshape(both, Ints(both, {-1}))},
                           Attributes({{"allowzero", int64_t{1}}}));
  std::vector<int64_t> repeats;
  for (size_t i = 0; i < rank; ++i) repeats.push_back(2 * static_cast<int64_t>(i));
  s.Give(0, ReduceSum(apart, repeats, false));
}

void ConcatApart(GradientStep& s) {
  const int64_t axis = s.attributes().Int("axis", 0);
  std::vector<Expr> extents;
  for (size_t i = 0; i < s.input_count(); ++i) {
    const Expr shape = ShapeOf(s.x(i));
    extents.push_back(Apply("Gather", {shape, Ints(shape, {axis})}));
  }
  const std::vector<ValueId> parts = s.AddMany("Split", {s.g().id(), Concat(extents, 0).id()},
                                               Attributes({{"axis", axis}}), s.input_count());
  for (size_t i = 0; i < parts.size(); ++i) s.Give(i, Expr(s, parts[i]));
}

void SplitTogether(GradientStep& s) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < s.output_count(); ++i) parts.push_back(s.g(i));
  s.Give(0, Concat(parts, s.attributes().Int("axis", 0)));
}

constexpr GradientRow kRows[] = {
    {"Concat", ConcatApart},  {"Expand", [](GradientStep& s) { s.GiveSummed(0, s.g()); }},
    {"Flatten", Reshaped},    {"Reshape", Reshaped},
    {"Split", SplitTogether}, {"Squeeze", Reshaped},
    {"Tile", Tile},           {"Transpose", TransposeBack},
    {"Unsqueeze", Reshaped},
};
}  // namespace

std::span<const GradientRow> RearrangementGradients() { return kRows; }

}  // namespace asc
