#include "core/gradient/step.h"

#include <algorithm>

#include "core/gradient/gradient.h"

namespace asc {

Expr GradientStep::g(size_t i) {
  if (!gradients_[i].valid()) gradients_[i] = Fill(y(i), 0).id();
  return Expr(*this, gradients_[i]);
}

void GradientStep::Give(size_t i, const Expr& gradient) {
  if (!ok() || !Wants(i)) return;
  Value& value = mutable_graph().value(gradient.id());
  Result<ValueType> merged = MergeTypes(value.type, graph().value(node_.inputs[i]).type);
  if (!merged.ok()) {
    Fail(InternalError("the gradient of input ", i, " of ", node_.schema->FullName(),
                       " is wrong: ", merged.status().message()));
    return;
  }
  value.type = std::move(merged).value();
  given_[i] = gradient.id();
}

void GradientStep::GiveThrough(const Expr& formula) {
  if (!ok()) return;
  std::vector<size_t> slots;
  std::vector<ValueId> xs;
  for (size_t i = 0; i < input_count(); ++i) {
    // A value that comes in twice has one gradient, for both.
    if (!Wants(i) || std::find(xs.begin(), xs.end(), node_.inputs[i]) != xs.end()) continue;
    slots.push_back(i);
    xs.push_back(node_.inputs[i]);
  }
  GradientOptions options;
  options.reason = reason();
  options.seed = g().id();
  options.fixed = node_.inputs;
  Result<std::vector<ValueId>> gradients = AddGradients(mutable_graph(), formula.id(), xs, options);
  if (!gradients.ok()) return Fail(std::move(gradients).status());
  for (size_t i = 0; i < slots.size(); ++i) Give(slots[i], Expr(*this, (*gradients)[i]));
}

size_t GradientStep::RankOf(size_t i) {
  const Result<size_t> rank = Rank(node_.input(i), node_.schema->InputParameter(i)->name);
  if (rank.ok()) return *rank;
  Refuse("needs the rank of '", node_.schema->InputParameter(i)->name, "', which is not known");
  return 0;
}

void GradientStep::RefuseOutput(size_t i) {
  if (i < gradients_.size() && gradients_[i].valid())
    Refuse("through its output '", node_.schema->OutputParameter(i)->name, "' is not there");
}

}  // namespace asc
