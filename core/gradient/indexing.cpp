// Gradients of operators that pick elements, and of those that put them.
#include <algorithm>
#include <numeric>

#include "core/gradient/rules.h"

namespace asc {
namespace {
// Operators that only move elements, whatever their other inputs say: what they do to positions says where gradients go.
void Moved(GradientStep& s) {
  std::vector<Expr> inputs = {PositionsOf(s.x())};
  for (size_t i = 1; i < s.input_count(); ++i) inputs.push_back(s.x(i));
  s.Give(0, AddAt(s.x(), Apply(s.node().schema->name, inputs, s.attributes()), s.g()));
}

bool AllOnes(const Expr& x) {
  if (!x.valid()) return true;
  if (x.constant() == nullptr) return false;
  const Result<std::vector<int64_t>> ints = ToInt64Vector(*x.constant());
  return ints.ok() && std::all_of(ints->begin(), ints->end(), [](int64_t i) { return i == 1; });
}

// Without steps: the gradient with zeros before and behind.
void Slice(GradientStep& s) {
  const Expr starts = Cast(s.x(1), DataType::kInt64);
  const bool counted = starts.has_rank() && starts.shape()[0].is_constant();
  if (!AllOnes(s.x(4)) || (!s.x(3).valid() && !counted)) return Moved(s);
  Expr axes = s.x(3);
  if (!axes.valid()) {
    std::vector<int64_t> all(static_cast<size_t>(starts.shape()[0].value()));
    std::iota(all.begin(), all.end(), 0);
    axes = Ints(starts, all);
  }
  const Expr whole = Apply("Gather", {ShapeOf(s.x()), axes});
  const Expr part = Apply("Gather", {ShapeOf(s.g()), axes});
  const Expr none = Number(whole, 0);
  const Expr before =
      Where(starts < none, Apply("Max", {whole + starts, none}), Apply("Min", {starts, whole}));
  const Expr pads = Concat({before, whole - part - before}, 0);
  s.Give(0, Apply("Pad", {s.g(), pads, Expr(), axes}));
}

void Pad(GradientStep& s) {
  if (s.attributes().String("mode", "constant") != "constant") return Moved(s);
  const Expr inside = Apply("Pad", {s.g(), -s.x(1), Expr(), s.x(3)});
  s.Give(0, inside);
  if (!s.Wants(2)) return;
  const Expr around = ReduceSum(s.g(), Expr(), false) - ReduceSum(inside, Expr(), false);
  s.Give(2, ReshapeLike(around, s.x(2)));
}

// Rows along the axis are added where they came from.
void Gather(GradientStep& s) {
  const auto rank = static_cast<int64_t>(s.RankOf(0)), picked = static_cast<int64_t>(s.RankOf(1));
  if (!s.ok()) return;
  int64_t axis = s.attributes().Int("axis", 0);
  if (axis < 0) axis += rank;
  const Expr places = Unsqueeze(Cast(s.x(1), DataType::kInt64), {-1});
  Expr zeros = Fill(s.x(), 0), g = s.g();
  std::vector<int64_t> back(static_cast<size_t>(rank));
  if (axis > 0) {  // the axis comes first while rows are added
    std::vector<int64_t> of_x(static_cast<size_t>(rank));
    std::iota(of_x.begin(), of_x.end(), 0);
    std::rotate(of_x.begin(), of_x.begin() + axis, of_x.begin() + axis + 1);
    std::vector<int64_t> of_g(static_cast<size_t>(rank - 1 + picked));
    std::iota(of_g.begin(), of_g.end(), 0);
    std::rotate(of_g.begin(), of_g.begin() + axis, of_g.begin() + axis + picked);
    for (size_t i = 0; i < of_x.size(); ++i)
      back[static_cast<size_t>(of_x[i])] = static_cast<int64_t>(i);
    zeros = Transpose(zeros, of_x);
    g = Transpose(g, of_g);
  }
  const Expr sums =
      Apply("ScatterND", {zeros, places, g}, Attributes({{"reduction", std::string("add")}}));
  s.Give(0, axis > 0 ? Transpose(sums, back) : sums);
}

AttributeMap Along(const GradientStep& s, std::string_view reduction = "none") {
  return Attributes(
      {{"axis", s.attributes().Int("axis", 0)}, {"reduction", std::string(reduction)}});
}

void GatherElements(GradientStep& s) {
  s.Give(0, Apply("ScatterElements", {Fill(s.x(), 0), s.x(1), s.g()}, Along(s, "add")));
}

void GatherNd(GradientStep& s) {
  if (s.attributes().Int("batch_dims", 0) != 0) return Moved(s);
  s.Give(0, Apply("ScatterND", {Fill(s.x(), 0), s.x(1), s.g()},
                  Attributes({{"reduction", std::string("add")}})));
}

// ScatterElements and ScatterND: `scatter` puts updates into g, `gather` reads where they went.
void Scatter(GradientStep& s, std::string_view scatter, std::string_view gather,
             const AttributeMap& put, const AttributeMap& read) {
  const std::string reduction = s.attributes().String("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return s.Refuse("with reduction '", reduction, "' is not there");
  if (s.Wants(0)) {
    s.Give(0, reduction == "add" ? s.g() : Apply(scatter, {s.g(), s.x(1), Fill(s.x(2), 0)}, put));
  }
  if (s.Wants(2)) s.Give(2, Apply(gather, {s.g(), s.x(1)}, read));
}

void ScatterElements(GradientStep& s) {
  Scatter(s, "ScatterElements", "GatherElements", Along(s),
          Attributes({{"axis", s.attributes().Int("axis", 0)}}));
}

void ScatterNd(GradientStep& s) { Scatter(s, "ScatterND", "GatherND", {}, {}); }

void TopK(GradientStep& s) {
  Expr places = s.y(1);
  if (!places.valid()) {
    const std::vector<ValueId> again =
        s.AddMany("TopK", {s.x(0).id(), s.x(1).id()}, s.attributes(), 2);
    places = Expr(s, again[1]);
  }
  s.Give(0, Apply("ScatterElements", {Fill(s.x(), 0), places, s.g()}, Along(s)));
}

// [off, on]: elements are one or the other.
void OneHot(GradientStep& s) {
  const Expr numbers = s.g();
  const Expr off_on =
      Concat({Unsqueeze(Number(numbers, 0), {0}), Unsqueeze(Number(numbers, 1), {0})}, 0);
  const Expr is_on = Apply("OneHot", {s.x(0), s.x(1), off_on}, s.attributes());
  const Expr on = ReduceSum(s.g() * is_on, Expr(), false);
  const Expr off = ReduceSum(s.g(), Expr(), false) - on;
  s.Give(2, Concat({Unsqueeze(off, {0}), Unsqueeze(on, {0})}, 0));
}

void DepthToSpace(GradientStep& s) {
  if (s.attributes().String("mode", "DCR") != "DCR") return Moved(s);
  s.Give(0, Apply("SpaceToDepth", {s.g()},
                  Attributes({{"blocksize", s.attributes().Int("blocksize", 1)}})));
}

void SpaceToDepth(GradientStep& s) {
  if (s.attributes().String("mode", "DCR") != "DCR") return Moved(s);
  s.Give(0, Apply("DepthToSpace", {s.g()},
                  Attributes({{"blocksize", s.attributes().Int("blocksize", 1)}})));
}

constexpr GradientRow kRows[] = {
    {"Compress", Moved},
    {"DepthToSpace", DepthToSpace},
    {"Gather", Gather},
    {"GatherElements", GatherElements},
    {"GatherND", GatherNd},
    {"OneHot", OneHot},
    {"Pad", Pad},
    {"ReverseSequence",
     [](GradientStep& s) {
       s.Give(0, Apply("ReverseSequence", {s.g(), s.x(1)}, s.attributes()));
     }},
    {"ScatterElements", ScatterElements},
    {"ScatterND", ScatterNd},
    {"Slice", Slice},
    {"SpaceToDepth", SpaceToDepth},
    {"TopK", TopK},
    {"Trilu",
     [](GradientStep& s) {
       s.Give(0, Apply("Trilu", {s.g(), s.x(1)}, s.attributes()));
     }},
};
}  // namespace

std::span<const GradientRow> IndexingGradients() { return kRows; }

}  // namespace asc
