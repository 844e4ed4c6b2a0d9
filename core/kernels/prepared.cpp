// Operators that make something of their attributes before they run (ops/ml/prepared.h): made once, with the plan.
#include "core/ops/ml/prepared.h"

#include "core/kernels/families.h"
#include "core/ops/ml/common.h"

namespace asc {
namespace {
class PreparedKernel : public Kernel {
 public:
  explicit PreparedKernel(std::unique_ptr<Prepared> prepared) : prepared_(std::move(prepared)) {}
  Status Run(KernelContext& context) const override { return prepared_->Run(context); }
  std::string_view name() const override { return "prepared"; }

 private:
  std::unique_ptr<Prepared> prepared_;
};

bool Supports(const KernelRequest& request) { return FindPrepare(*request.node.schema) != nullptr; }

Result<std::unique_ptr<Kernel>> Create(const KernelRequest& request) {
  const PrepareFn prepare = FindPrepare(*request.node.schema);
  ASC_ASSIGN_OR_RETURN(std::unique_ptr<Prepared> prepared,
                       prepare(request.node.attributes, request.inputs[0].dtype));
  std::unique_ptr<Kernel> kernel = std::make_unique<PreparedKernel>(std::move(prepared));
  return kernel;
}
}  // namespace

void AddPreparedKernels(KernelTable& table) {
  for (const std::string_view op :
       {"CategoryMapper", "LabelEncoder", "OneHotEncoder", "TreeEnsemble", "TreeEnsembleClassifier",
        "TreeEnsembleRegressor"}) {
    table.push_back({op, kMlDomain, "prepared", Supports, nullptr, Create});
  }
}

}  // namespace asc
