// Kernel entries grouped by operator, so that a look-up while planning is one hash.
#ifndef ASC_CORE_DEVICE_KERNEL_INDEX_H_
#define ASC_CORE_DEVICE_KERNEL_INDEX_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/kernel.h"

namespace asc {

// Keeps the order of the entries it is given.
class KernelIndex {
 public:
  explicit KernelIndex(const std::vector<KernelEntry>& entries);
  const std::vector<KernelEntry>& Of(const OpSchema& schema) const;

 private:
  std::unordered_map<std::string, std::vector<KernelEntry>> by_operator_;
};

}  // namespace asc

#endif  // ASC_CORE_DEVICE_KERNEL_INDEX_H_
