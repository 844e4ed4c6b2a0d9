#include "capi/src/device.h"

#include "asc/device.h"
#include "capi/src/handle.h"
#include "core/base/json_writer.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"

using asc::Device;
using asc::Ok;
using asc::Status;
using asc::capi::DeviceOf;
using asc::capi::Guard;

namespace asc::capi {

Result<Device*> DeviceOf(asc_string name) {
  ASC_NEED_TEXT(name);
  InstallHostKernels();
  return FindDevice(name.size == 0 ? std::string_view("cpu") : View(name));
}

namespace {
template <typename Map>
void WriteByType(JsonWriter& json, const Map& map) {
  json.BeginObject();
  for (const auto& [type, number] : map) json.Field(DataTypeName(type), number);
  json.EndObject();
}

void Write(JsonWriter& json, const DeviceProperties& properties) {
  json.BeginObject()
      .Field("id", properties.id)
      .Field("name", properties.name)
      .Field("kind", properties.kind)
      .Field("cores", properties.cores)
      .Field("memory_bytes", properties.memory_bytes)
      .Field("bandwidth_bytes_per_second", properties.bandwidth_bytes_per_second);
  WriteByType(json.Key("flops"), properties.flops);
  WriteByType(json.Key("c0"), properties.c0);
  json.EndObject();
}
}  // namespace
}  // namespace asc::capi

asc_status* asc_device_create_list(asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    asc::InstallHostKernels();
    asc::JsonWriter json;
    json.BeginArray();
    for (const Device* device : asc::ListDevices()) asc::capi::Write(json, device->properties());
    json.EndArray();
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_device_create_properties(asc_string device, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    asc::JsonWriter json;
    asc::capi::Write(json, found->properties());
    *out = asc_bytes::New(std::move(json).Take());
    return Ok();
  });
}

asc_status* asc_device_create_kernels(asc_string device, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const Device* found, DeviceOf(device));
    asc::JsonWriter json;
    json.BeginObject();
    for (const asc::OpSchema* schema : asc::OpRegistry::Global().All()) {
      if (!found->Supports(*schema)) continue;
      json.Key(schema->FullName()).BeginArray();
      for (const asc::KernelEntry& entry : found->Kernels(*schema)) json.Value(entry.name);
      json.Value(schema->reference == nullptr ? "executor" : "reference").EndArray();
    }
    json.EndObject();
    *out = asc_bytes::New(std::move(json).Take());
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
