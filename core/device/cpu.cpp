#include "core/device/cpu.h"

#include <unistd.h>

#include <fstream>

#include "core/base/instruction_set.h"
#include "core/base/parallel.h"
#include "core/device/kernel_index.h"

namespace asc {
namespace {
std::string CpuModelName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "CPU";
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const std::vector<KernelEntry>& kernels) : kernels_(kernels) {
    properties_.id = "cpu";
    properties_.name = CpuModelName();
    properties_.kind = "host";
    properties_.cores = AvailableCores();
    properties_.memory_bytes = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
#if defined(__x86_64__)
    // One vector of float32, as direct convolution kernels block channels.
    const bool wide = BestInstructionSet() == InstructionSet::kAvx512;
    properties_.c0[DataType::kFloat32] = wide ? 16 : 8;
    if (wide) properties_.narrow_c0[DataType::kFloat32] = 8;
#endif
  }

  const DeviceProperties& properties() const override { return properties_; }
  const std::shared_ptr<Allocator>& allocator() const override { return HostAllocator(); }
  const std::vector<KernelEntry>& Kernels(const OpSchema& schema) const override { return kernels_.Of(schema); }
  bool Supports(const OpSchema&) const override { return true; }

 private:
  DeviceProperties properties_;
  KernelIndex kernels_;
};
}  // namespace

std::unique_ptr<Device> MakeCpuDevice(const std::vector<KernelEntry>& kernels) {
  return std::make_unique<CpuDevice>(kernels);
}

}  // namespace asc
