// The gradient of Einsum: for each operand, the others and the gradient of the result, summed to its labels.
#include <algorithm>
#include <map>
#include <set>

#include "core/gradient/rules.h"
#include "core/ops/einsum_equation.h"

namespace asc {
namespace {
using Labels = std::vector<EinsumLabel>;

// Labels as text: those of an ellipsis get letters that the equation does not have.
class Letters {
 public:
  explicit Letters(const std::vector<Labels>& terms) {
    for (const Labels& term : terms) taken_.insert(term.begin(), term.end());
  }

  // False: more labels than letters.
  bool Append(std::string& text, const Labels& labels) {
    for (const EinsumLabel label : labels) {
      if (label > 0) {
        text += static_cast<char>(label);
        continue;
      }
      auto found = hidden_.find(label);
      if (found == hidden_.end()) {
        const size_t free = kAll.find_first_not_of(Taken());
        if (free == std::string_view::npos) return false;
        taken_.insert(kAll[free]);
        found = hidden_.emplace(label, kAll[free]).first;
      }
      text += found->second;
    }
    return true;
  }

 private:
  static constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string Taken() const {
    std::string taken;
    for (const EinsumLabel label : taken_) {
      if (label > 0) taken += static_cast<char>(label);
    }
    return taken;
  }

  std::set<EinsumLabel> taken_;
  std::map<EinsumLabel, char> hidden_;
};

// Whether each label is of one extent wherever that is known: axes of extent 1 may stand for any.
bool AgreeOnExtents(GradientStep& s, const std::vector<Labels>& terms) {
  std::map<EinsumLabel, Dim> extents;
  for (size_t i = 0; i < s.input_count(); ++i) {
    for (size_t axis = 0; axis < terms[i].size(); ++axis) {
      const Dim& extent = s.x(i).shape()[axis];
      const auto [found, fresh] = extents.emplace(terms[i][axis], extent);
      const bool is_hidden = terms[i][axis] < 0;  // of an ellipsis: broadcasts
      const bool known = extent.is_constant() && found->second.is_constant();
      if (!fresh && !(found->second == extent) && (known || is_hidden)) return false;
    }
  }
  return true;
}

void Einsum(GradientStep& s) {
  const Result<EinsumEquation> equation =
      ParseEinsum(s.attributes().String("equation", ""), s.input_count());
  if (!equation.ok()) return s.Fail(equation.status());
  size_t hidden = 0;
  for (size_t i = 0; i < s.input_count(); ++i) {
    if (!s.x(i).has_rank()) return s.Refuse("needs the ranks of its operands, which are not known");
    if (equation->inputs[i].ellipsis)
      hidden = s.x(i).shape().rank() - equation->inputs[i].letters();
  }
  std::vector<Labels> terms;
  for (const EinsumTerm& term : equation->inputs) terms.push_back(term.Labels(hidden));
  if (!AgreeOnExtents(s, terms)) return s.Refuse("with operands that broadcast is not there");
  terms.push_back(equation->output.Labels(hidden));
  Letters letters(terms);
  for (size_t i = 0; i < s.input_count(); ++i) {
    if (!s.Wants(i)) continue;
    Labels kept;
    std::vector<int64_t> summed;  // axes whose label nothing else has
    std::string text;
    std::vector<Expr> operands;
    bool fits = true;
    for (size_t other = 0; other < terms.size(); ++other) {
      if (other == i) continue;
      if (!operands.empty()) text += ',';
      fits &= letters.Append(text, terms[other]);
      operands.push_back(other < s.input_count() ? s.x(other) : s.g());
    }
    for (size_t axis = 0; axis < terms[i].size(); ++axis) {
      const EinsumLabel label = terms[i][axis];
      if (std::count(terms[i].begin(), terms[i].end(), label) > 1)
        return s.Refuse("with a label twice in one operand is not there");
      const bool elsewhere = std::any_of(terms.begin(), terms.end(), [&](const Labels& term) {
        return &term != &terms[i] && std::find(term.begin(), term.end(), label) != term.end();
      });
      if (elsewhere)
        kept.push_back(label);
      else
        summed.push_back(static_cast<int64_t>(axis));
    }
    text += "->";
    fits &= letters.Append(text, kept);
    if (!fits) return s.Refuse("needs more letters than there are");
    const Expr product = Apply("Einsum", operands, Attributes({{"equation", text}}));
    s.Give(i, ExpandLike(Unsqueeze(product, summed), s.x(i)));
  }
}

constexpr GradientRow kRows[] = {{"Einsum", Einsum}};
}  // namespace

std::span<const GradientRow> EinsumGradients() { return kRows; }

}  // namespace asc
