// What a gradient rule sees: one node, the gradients of its outputs, and the means to write those of its inputs.
#ifndef ASC_CORE_GRADIENT_STEP_H_
#define ASC_CORE_GRADIENT_STEP_H_

#include <vector>

#include "core/gradient/expression.h"

namespace asc {

// A hint where there is no gradient.
inline constexpr std::string_view kOtherWays =
    "write it by operators that have a gradient, or name its output in xs or zs";

class GradientStep : public OperatorWriter {
 public:
  // `gradients`: of the node's outputs, an invalid id where y does not depend on one.
  // `wanted`: whether input i has a share in y that matters.
  GradientStep(Graph& graph, const Node& node, std::vector<ValueId> gradients,
               std::vector<bool> wanted, WrittenFor reason)
      : OperatorWriter(graph, std::move(reason)),
        node_(node),
        gradients_(std::move(gradients)),
        wanted_(std::move(wanted)),
        given_(node.inputs.size()) {}

  const Node& node() const { return node_; }
  const AttributeMap& attributes() const { return node_.attributes; }
  size_t input_count() const { return node_.inputs.size(); }
  size_t output_count() const { return node_.outputs.size(); }

  // Invalid where the node has none.
  Expr x(size_t i = 0) { return Expr(*this, node_.input(i)); }
  Expr y(size_t i = 0) { return Expr(*this, node_.output(i)); }
  // The gradient of output i; zeros where y does not depend on it.
  Expr g(size_t i = 0);
  bool HasGradient(size_t i) const { return gradients_[i].valid(); }
  bool Wants(size_t i) const { return i < wanted_.size() && wanted_[i]; }

  // The gradient of input i has the input's shape.
  void Give(size_t i, const Expr& gradient);
  // The same for inputs that broadcast: sums over what that added.
  void GiveSummed(size_t i, const Expr& gradient) { Give(i, SumTo(gradient, x(i))); }

  // Gives the gradients of `formula`, which computes output 0 once more, by operators with rules of their own.
  void GiveThrough(const Expr& formula);

  // The rank of input i. Fails, and gives 0, where it is not known.
  size_t RankOf(size_t i);
  // E5033: what the rule does not cover.
  template <typename... Args>
  void Refuse(const Args&... what) {
    Fail(Error(Code::kUnsupportedOperator, "the gradient of ", node_.schema->FullName(), " ",
               what...)
             .WithHint(kOtherWays));
  }
  // Fails where y depends on output i, for which the rule has nothing.
  void RefuseOutput(size_t i);

  // Of input i; invalid: none.
  ValueId given(size_t i) const { return given_[i]; }

 private:
  const Node& node_;
  std::vector<ValueId> gradients_;
  std::vector<bool> wanted_;
  std::vector<ValueId> given_;
};

}  // namespace asc

#endif  // ASC_CORE_GRADIENT_STEP_H_
