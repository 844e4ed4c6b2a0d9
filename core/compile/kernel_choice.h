// Chooses and makes the kernel of a step.
#ifndef ASC_CORE_COMPILE_KERNEL_CHOICE_H_
#define ASC_CORE_COMPILE_KERNEL_CHOICE_H_

#include <span>
#include <vector>

#include "core/device/device.h"

namespace asc {

// The device's kernels that support the request, the cheapest first by their estimates; the order of the list decides between equals.
std::vector<const KernelEntry*> KernelCandidates(const Device& device, const KernelRequest& request);

// The first of the candidates that can be made, else the operator's reference kernel. One whose creation says kUnavailable is passed
// over. E5033 when there is no kernel at all.
Result<std::shared_ptr<const Kernel>> MakeFirstKernel(const Device& device, std::span<const KernelEntry* const> candidates,
                                                      const KernelRequest& request);

inline Result<std::shared_ptr<const Kernel>> ChooseKernel(const Device& device, const KernelRequest& request) {
  return MakeFirstKernel(device, KernelCandidates(device, request), request);
}

}  // namespace asc

#endif  // ASC_CORE_COMPILE_KERNEL_CHOICE_H_
