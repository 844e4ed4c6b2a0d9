#include "core/gradient/rules.h"

#include <map>

namespace asc {
namespace {
const std::map<std::string, GradientRule, std::less<>>& AllRules() {
  static const auto* const rules = [] {
    auto* made = new std::map<std::string, GradientRule, std::less<>>;
    for (const auto family :
         {ActivationGradients, ArithmeticGradients, AttentionGradients, ConvolutionGradients,
          EinsumGradients, FunctionGradients, IndexingGradients, LossGradients, MatMulGradients,
          NormalizationGradients, PoolingGradients, RearrangementGradients, ReductionGradients,
          ResamplingGradients}) {
      for (const GradientRow& row : family()) made->emplace(row.op, row.rule);
    }
    return made;
  }();
  return *rules;
}
}  // namespace

GradientRule FindGradient(const OpSchema& schema) {
  if (!schema.domain.empty()) return nullptr;
  const auto found = AllRules().find(schema.name);
  return found == AllRules().end() ? nullptr : found->second;
}

std::vector<std::string> OperatorsWithGradient() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : AllRules()) names.push_back(name);
  return names;
}

}  // namespace asc
