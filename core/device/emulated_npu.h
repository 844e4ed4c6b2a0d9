// Emulated NPUs: models of Ascend chips. Results are computed on the host; the chip's memory limit is enforced.
#ifndef ASC_CORE_DEVICE_EMULATED_NPU_H_
#define ASC_CORE_DEVICE_EMULATED_NPU_H_

#include "core/device/device.h"

namespace asc {

// An Ascend 910B: 256 TFLOPS in float16, 900 GB/s. The figures are the published ones of the chip; no time is modelled yet.
std::unique_ptr<Device> MakeEmulated910B(std::string id, const std::vector<KernelEntry>& host_kernels);

}  // namespace asc

#endif  // ASC_CORE_DEVICE_EMULATED_NPU_H_
