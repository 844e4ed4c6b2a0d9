// Chooses and makes the kernel of a step.
#ifndef ASC_CORE_COMPILE_KERNEL_CHOICE_H_
#define ASC_CORE_COMPILE_KERNEL_CHOICE_H_

#include "core/device/device.h"

namespace asc {

// The cheapest of the device's candidates that support the request, else the operator's reference kernel. A candidate whose
// creation says kUnavailable is passed over. E5033 when there is no kernel at all.
Result<std::shared_ptr<const Kernel>> ChooseKernel(const Device& device, const KernelRequest& request);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_KERNEL_CHOICE_H_
