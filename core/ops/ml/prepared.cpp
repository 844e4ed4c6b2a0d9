#include "core/ops/ml/prepared.h"

#include "core/ops/ml/common.h"

namespace asc {

PrepareFn FindPrepare(const OpSchema& schema) {
  constexpr std::pair<std::string_view, PrepareFn> kRows[] = {
      {"CategoryMapper", PrepareCategoryMapper},
      {"LabelEncoder", PrepareLabelEncoder},
      {"OneHotEncoder", PrepareOneHotEncoder},
      {"TreeEnsemble", PrepareTreeEnsemble},
      {"TreeEnsembleClassifier", PrepareTreeEnsembleClassifier},
      {"TreeEnsembleRegressor", PrepareTreeEnsembleRegressor},
  };
  if (schema.domain != kMlDomain) return nullptr;
  for (const auto& [op, prepare] : kRows) {
    if (schema.name == op) return prepare;
  }
  return nullptr;
}

Status RunPrepared(KernelContext& context) {
  const PrepareFn prepare = FindPrepare(context.schema());
  if (prepare == nullptr)
    return InternalError(context.schema().FullName(), " has nothing to prepare");
  ASC_ASSIGN_OR_RETURN(const std::unique_ptr<Prepared> prepared,
                       prepare(context.attributes(), context.input(0).dtype()));
  return prepared->Run(context);
}

}  // namespace asc
