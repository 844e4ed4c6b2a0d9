#include "capi/src/device.h"

#include <nlohmann/json.hpp>

#include "asc/device.h"
#include "capi/src/handle.h"
#include "core/kernels/registry.h"

using asc::Device;
using asc::Ok;
using asc::Status;
using asc::capi::DeviceOf;
using asc::capi::Guard;
using Json = nlohmann::ordered_json;

namespace asc::capi {

Result<Device*> DeviceOf(asc_string name) {
  ASC_NEED_TEXT(name);
  InstallHostKernels();
  return FindDevice(name.size == 0 ? std::string_view("cpu") : View(name));
}

namespace {
template <typename Map>
Json ByTypeName(const Map& map) {
  Json out = Json::object();
  for (const auto& [type, number] : map) out[std::string(DataTypeName(type))] = number;
  return out;
}

Json ToJson(const DeviceProperties& properties) {
  return {{"id", properties.id},
          {"name", properties.name},
          {"kind", properties.kind},
          {"cores", properties.cores},
          {"memory_bytes", properties.memory_bytes},
          {"bandwidth_bytes_per_second", properties.bandwidth_bytes_per_second},
          {"flops", ByTypeName(properties.flops)},
          {"c0", ByTypeName(properties.c0)}};
}
}  // namespace
}  // namespace asc::capi

asc_status* asc_device_create_list(asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    asc::InstallHostKernels();
    Json list = Json::array();
    for (const Device* device : asc::ListDevices())
      list.push_back(asc::capi::ToJson(device->properties()));
    *out = asc_bytes::New(list.dump());
    return Ok();
  });
}

asc_status* asc_device_create_properties(asc_string device, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    *out = asc_bytes::New(asc::capi::ToJson(found->properties()).dump());
    return Ok();
  });
}

asc_status* asc_device_get_memory(asc_string device, int64_t* current_bytes, int64_t* peak_bytes,
                                  int64_t* limit_bytes) {
  return Guard([&]() -> Status {
    ASC_NEED(current_bytes);
    ASC_NEED(peak_bytes);
    ASC_NEED(limit_bytes);
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    const asc::MemoryStats stats = found->allocator()->stats();
    *current_bytes = stats.current_bytes;
    *peak_bytes = stats.peak_bytes;
    *limit_bytes = stats.limit_bytes;
    return Ok();
  });
}

asc_status* asc_device_reset_peak(asc_string device) {
  return Guard([&]() -> Status {
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    found->allocator()->ResetPeak();
    return Ok();
  });
}

asc_status* asc_device_set_memory_limit(asc_string device, int64_t bytes) {
  return Guard([&]() -> Status {
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    return found->allocator()->SetLimit(bytes);
  });
}

asc_status* asc_device_inject_allocation_failure(asc_string device, int64_t nth) {
  return Guard([&]() -> Status {
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    if (nth < -1)
      return asc::InvalidArgument("an allocation's number is not negative, given ", nth);
    if (nth == -1) {
      found->allocator()->SetHook({});
      return Ok();
    }
    auto left = std::make_shared<std::atomic<int64_t>>(nth);
    found->allocator()->SetHook([left](asc::MemoryUse, size_t) { return left->fetch_sub(1) != 0; });
    return Ok();
  });
}
