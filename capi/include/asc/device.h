#ifndef ASC_DEVICE_H_
#define ASC_DEVICE_H_

/* The devices of this process: "cpu" is the host, "npu:N" an emulated NPU (also written "npuN" or
 * "N"). From any thread. E5020 naming the ones that exist for other names. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

/* A JSON array of the properties of all devices. */
ASC_API asc_status* asc_device_create_list(asc_bytes** out);
/* A JSON object: id, name, kind (host, emulated), cores, memory_bytes (0: the host's),
 * bandwidth_bytes_per_second (0: not known), flops ({element type: peak per second}),
 * c0 ({element type: block size}). */
ASC_API asc_status* asc_device_create_properties(asc_string device, asc_bytes** out);
/* A JSON object with an array for each operator of the registry that the device has, by full name
 * ("Conv", "asc.FusedConv"): the fast kernels that this build has for it, best first, and at the end
 * "reference", which does every case that the others don't, or "executor" for operators with bodies. */
ASC_API asc_status* asc_device_create_kernels(asc_string device, asc_bytes** out);

/* Bytes that tensors, arenas and packed weights of the device take now and took at most, and the
 * limit (0: none). */
ASC_API asc_status* asc_device_get_memory(asc_string device, int64_t* current_bytes,
                                          int64_t* peak_bytes, int64_t* limit_bytes);
/* The peak becomes what is in use now. */
ASC_API asc_status* asc_device_reset_peak(asc_string device);
/* Refuses (E5012) what would go over; 0 lifts the limit. E5003 when more is in use already. */
ASC_API asc_status* asc_device_set_memory_limit(asc_string device, int64_t bytes);
/* For tests of error handling: allocation number `nth` from now on is refused (E5012), counted from
 * 0, once; -1 takes that back. */
ASC_API asc_status* asc_device_inject_allocation_failure(asc_string device, int64_t nth);

ASC_EXTERN_C_END

#endif /* ASC_DEVICE_H_ */
