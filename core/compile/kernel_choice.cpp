#include "core/compile/kernel_choice.h"

#include <algorithm>

namespace asc {
namespace {
class ReferenceStep : public Kernel {
 public:
  explicit ReferenceStep(ReferenceKernel kernel) : kernel_(kernel) {}
  Status Run(KernelContext& context) const override { return kernel_(context); }
  std::string_view name() const override { return "reference"; }

 private:
  ReferenceKernel kernel_;
};
}  // namespace

Result<std::shared_ptr<const Kernel>> ChooseKernel(const Device& device, const KernelRequest& request) {
  const OpSchema& schema = *request.node.schema;
  struct Candidate {
    const KernelEntry* entry;
    double cost;
  };
  std::vector<Candidate> candidates;
  for (const KernelEntry& entry : device.Kernels(schema)) {
    if (entry.supports(request)) candidates.push_back({&entry, entry.cost ? entry.cost(request) : 0.0});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  for (const Candidate& candidate : candidates) {
    Result<std::unique_ptr<Kernel>> kernel = candidate.entry->create(request);
    if (kernel.ok()) return std::shared_ptr<const Kernel>(std::move(kernel).value());
    if (kernel.status().code() != Code::kUnavailable) return std::move(kernel).status();
  }
  if (schema.reference == nullptr) {
    return Error(Code::kUnsupportedOperator, "operator ", schema.FullName(), " has no kernel on ", device.properties().id);
  }
  return std::shared_ptr<const Kernel>(std::make_shared<ReferenceStep>(schema.reference));
}

}  // namespace asc
