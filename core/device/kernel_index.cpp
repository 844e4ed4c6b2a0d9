#include "core/device/kernel_index.h"

namespace asc {

KernelIndex::KernelIndex(const std::vector<KernelEntry>& entries) {
  for (const KernelEntry& entry : entries) by_operator_[Cat(entry.domain, ":", entry.op)].push_back(entry);
}

const std::vector<KernelEntry>& KernelIndex::Of(const OpSchema& schema) const {
  static const auto* none = new std::vector<KernelEntry>;
  const auto it = by_operator_.find(Cat(schema.domain, ":", schema.name));
  return it == by_operator_.end() ? *none : it->second;
}

}  // namespace asc
