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

std::vector<const KernelEntry*> KernelCandidates(const Device& device, const KernelRequest& request) {
  std::vector<std::pair<double, const KernelEntry*>> priced;
  for (const KernelEntry& entry : device.Kernels(*request.node.schema)) {
    if (entry.supports(request)) priced.emplace_back(entry.cost ? entry.cost(request) : 0.0, &entry);
  }
  std::stable_sort(priced.begin(), priced.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const KernelEntry*> candidates;
  for (const auto& [cost, entry] : priced) candidates.push_back(entry);
  return candidates;
}

Result<std::shared_ptr<const Kernel>> MakeFirstKernel(const Device& device, std::span<const KernelEntry* const> candidates,
                                                      const KernelRequest& request) {
  for (const KernelEntry* candidate : candidates) {
    Result<std::unique_ptr<Kernel>> kernel = candidate->create(request);
    if (kernel.ok()) return std::shared_ptr<const Kernel>(std::move(kernel).value());
    if (kernel.status().code() != Code::kUnavailable) return std::move(kernel).status();
  }
  const OpSchema& schema = *request.node.schema;
  if (schema.reference == nullptr) {
    return Error(Code::kUnsupportedOperator, "operator ", schema.FullName(), " has no kernel on ", device.properties().id);
  }
  return std::shared_ptr<const Kernel>(std::make_shared<ReferenceStep>(schema.reference));
}

}  // namespace asc
