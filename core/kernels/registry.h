// Makes the fast kernels of this build known to the host device.
#ifndef ASC_CORE_KERNELS_REGISTRY_H_
#define ASC_CORE_KERNELS_REGISTRY_H_

namespace asc {

// Safe to call often and from any thread; the first call counts. The runtime calls it before it hands out a device.
void InstallHostKernels();

}  // namespace asc

#endif  // ASC_CORE_KERNELS_REGISTRY_H_
