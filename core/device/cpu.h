// The host CPU as a device.
#ifndef ASC_CORE_DEVICE_CPU_H_
#define ASC_CORE_DEVICE_CPU_H_

#include "core/device/device.h"

namespace asc {

// `kernels`: what SetHostKernels gave.
std::unique_ptr<Device> MakeCpuDevice(const std::vector<KernelEntry>& kernels);

}  // namespace asc

#endif  // ASC_CORE_DEVICE_CPU_H_
