#include "core/ops/einsum_equation.h"

#include <algorithm>
#include <map>
#include <string>

namespace asc {
namespace {
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Result<EinsumTerm> ParseTerm(std::string_view text) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (IsLetter(text[i])) {
      (term.ellipsis ? term.after : term.before).push_back(text[i]);
    } else if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
    } else {
      return InvalidArgument("Einsum equation has '", text.substr(i, 8),
                             "' in a term: expected letters and at most one '...'");
    }
  }
  return term;
}

// All hidden axes, then the letters that occur once, in ASCII order.
EinsumTerm ImplicitOutput(const std::vector<EinsumTerm>& inputs) {
  std::map<EinsumLabel, int> counts;
  EinsumTerm output;
  for (const EinsumTerm& term : inputs) {
    output.ellipsis |= term.ellipsis;
    for (const auto* part : {&term.before, &term.after}) {
      for (const EinsumLabel label : *part) ++counts[label];
    }
  }
  for (const auto& [label, count] : counts) {
    if (count == 1) (output.ellipsis ? output.after : output.before).push_back(label);
  }
  return output;
}
}  // namespace

std::vector<EinsumLabel> EinsumTerm::Labels(size_t hidden) const {
  std::vector<EinsumLabel> labels = before;
  for (size_t i = hidden; ellipsis && i > 0; --i) labels.push_back(-static_cast<EinsumLabel>(i));
  labels.insert(labels.end(), after.begin(), after.end());
  return labels;
}

Result<EinsumEquation> ParseEinsum(std::string_view text, size_t operands) {
  EinsumEquation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    ASC_ASSIGN_OR_RETURN(EinsumTerm term, ParseTerm(left.substr(0, comma)));
    equation.inputs.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (equation.inputs.size() != operands) {
    return InvalidArgument("Einsum equation '", text.substr(0, 80), "' has ",
                           equation.inputs.size(), " terms for ", operands, " operands");
  }
  if (arrow == std::string_view::npos) {
    equation.output = ImplicitOutput(equation.inputs);
    return equation;
  }
  ASC_ASSIGN_OR_RETURN(equation.output, ParseTerm(text.substr(arrow + 2)));
  std::vector<EinsumLabel> seen;
  for (const auto* part : {&equation.output.before, &equation.output.after}) {
    for (const EinsumLabel label : *part) {
      const auto has = [&](const EinsumTerm& term) {
        return std::count(term.before.begin(), term.before.end(), label) +
                   std::count(term.after.begin(), term.after.end(), label) >
               0;
      };
      const std::string name(1, static_cast<char>(label));
      if (std::count(seen.begin(), seen.end(), label) > 0)
        return InvalidArgument("Einsum output has '", name, "' twice");
      if (std::none_of(equation.inputs.begin(), equation.inputs.end(), has)) {
        return InvalidArgument("Einsum output has '", name, "', which no input has");
      }
      seen.push_back(label);
    }
  }
  return equation;
}

Result<size_t> EllipsisRank(const EinsumTerm& term, size_t rank, size_t operand) {
  if (rank == term.letters() || (term.ellipsis && rank > term.letters()))
    return rank - term.letters();
  return ShapeError("Einsum operand ", operand, " of rank ", rank, " does not fit its term of ",
                    term.letters(), " letters", term.ellipsis ? " and an ellipsis" : "");
}

}  // namespace asc
