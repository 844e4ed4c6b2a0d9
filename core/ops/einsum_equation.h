// Einsum equations: parsing, and which axis of which operand belongs to which label.
#ifndef ASC_CORE_OPS_EINSUM_EQUATION_H_
#define ASC_CORE_OPS_EINSUM_EQUATION_H_

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace asc {

// A label is a letter; the axes of an ellipsis are labels below zero, -1 for the last one (they are
// aligned at the right).
using EinsumLabel = int;

struct EinsumTerm {
  std::vector<EinsumLabel> before,
      after;  // letters around the ellipsis; all in `before` where there is none
  bool ellipsis = false;

  // One label an axis for an ellipsis of `hidden` axes.
  std::vector<EinsumLabel> Labels(size_t hidden) const;
  size_t letters() const { return before.size() + after.size(); }
};

struct EinsumEquation {
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;  // explicit, or made by the rule of implicit mode
};

// E5003 for anything but letters, blanks, commas, at most one ellipsis a term and one "->"; for a
// number of terms other than `operands`; for output letters that are repeated or in no input.
Result<EinsumEquation> ParseEinsum(std::string_view equation, size_t operands);

// Axes that the ellipsis of a term stands for in an operand of this rank; E5001 when the letters do
// not fit the rank.
Result<size_t> EllipsisRank(const EinsumTerm& term, size_t rank, size_t operand);

}  // namespace asc

#endif  // ASC_CORE_OPS_EINSUM_EQUATION_H_
