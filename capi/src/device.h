#ifndef ASC_CAPI_SRC_DEVICE_H_
#define ASC_CAPI_SRC_DEVICE_H_

#include "asc/handle.h"
#include "core/device/device.h"

namespace asc::capi {

// The device of that name, with the fast kernels of this build; empty text is "cpu".
Result<Device*> DeviceOf(asc_string name);

}  // namespace asc::capi

#endif  // ASC_CAPI_SRC_DEVICE_H_
