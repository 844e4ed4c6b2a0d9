#include "core/device/device.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "core/device/cpu.h"
#include "core/device/emulated_npu.h"

namespace asc {
namespace {
struct Devices {
  std::mutex mutex;
  std::vector<KernelEntry> host_kernels;
  std::vector<std::unique_ptr<Device>> devices;  // made on first need, after the kernels are known

  void MakeOnce() {
    if (!devices.empty()) return;
    devices.push_back(MakeCpuDevice(host_kernels));
    devices.push_back(MakeEmulated910B("npu:0", host_kernels));
  }
};

Devices& Global() {
  static Devices* devices = new Devices;  // never destroyed: tensors may outlive static destruction
  return *devices;
}

// "3" and "npu3" mean "npu:3".
std::string Canonical(std::string_view id) {
  const auto digits = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (digits(id)) return Cat("npu:", id);
  if (id.starts_with("npu") && digits(id.substr(3))) return Cat("npu:", id.substr(3));
  return std::string(id);
}
}  // namespace

int Device::C0(DataType type) const {
  const auto& c0 = properties().c0;
  const auto it = c0.find(type);
  return it == c0.end() ? DefaultC0(type) : it->second;
}

std::vector<int> Device::BlockSizes(DataType type) const {
  std::vector<int> sizes = {C0(type)};
  const auto& narrow = properties().narrow_c0;
  if (const auto it = narrow.find(type); it != narrow.end()) sizes.push_back(it->second);
  return sizes;
}

Result<Device*> FindDevice(std::string_view id) {
  Devices& all = Global();
  const std::lock_guard lock(all.mutex);
  all.MakeOnce();
  const std::string wanted = Canonical(id);
  if (const char* npus = std::getenv("PYASC_NPUS");
      npus != nullptr && *npus != '\0' && wanted != "cpu") {
    return Error(Code::kUnavailable,
                 "the environment variable PYASC_NPUS is not built yet, given '", npus, "'")
        .WithHint("unset it: npu:0 is an emulated 910B");
  }
  std::vector<std::string> names;
  for (const auto& device : all.devices) {
    if (device->properties().id == wanted) return device.get();
    names.push_back(device->properties().id);
  }
  return Error(Code::kDevice, "there is no device '", id, "'")
      .WithHint(Cat("the devices are ", names));
}

std::vector<Device*> ListDevices() {
  Devices& all = Global();
  const std::lock_guard lock(all.mutex);
  all.MakeOnce();
  std::vector<Device*> out;
  for (const auto& device : all.devices) out.push_back(device.get());
  return out;
}

void SetHostKernels(std::vector<KernelEntry> entries) {
  Devices& all = Global();
  const std::lock_guard lock(all.mutex);
  if (all.devices.empty()) all.host_kernels = std::move(entries);
}

}  // namespace asc
