// The device interface: what the compiler and the runtime need to know of the machine that runs a graph.
#ifndef ASC_CORE_DEVICE_DEVICE_H_
#define ASC_CORE_DEVICE_DEVICE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/device/kernel.h"

namespace asc {

struct DeviceProperties {
  std::string id;       // "cpu", "npu:0"
  std::string name;     // "Ascend 910B (emulated)", the CPU's model name
  std::string kind;     // "host" or "emulated"
  int cores = 1;
  int64_t memory_bytes = 0;                  // 0: that of the host
  double bandwidth_bytes_per_second = 0;     // 0: not known
  std::map<DataType, double> flops;          // peak per second, by element type; empty: not known
  std::map<DataType, int> c0;                // block sizes that its kernels like; DefaultC0 where absent
  std::map<DataType, int> narrow_c0;         // smaller ones that they take as well, for channels that do not fill those
};

// Thread-safe; lives as long as the process.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProperties& properties() const = 0;
  virtual const std::shared_ptr<Allocator>& allocator() const = 0;
  // Candidates for an operator, best first; the reference kernel is not listed.
  virtual const std::vector<KernelEntry>& Kernels(const OpSchema& schema) const = 0;
  // Whether the device has the operator at all (the reference kernel counts on the host).
  virtual bool Supports(const OpSchema& schema) const = 0;
  int C0(DataType type) const;
  // C0 and what else the kernels take, the preferred size first.
  std::vector<int> BlockSizes(DataType type) const;
};

// The devices of this process by id; "cpu" always, "npu:0" the emulated 910B. "npu0" and a plain number N mean "npu:N". E5020
// naming the ones that exist for others.
Result<Device*> FindDevice(std::string_view id);
std::vector<Device*> ListDevices();

// Called once by the room that owns the fast kernels (kernels/) before the first compile: what the host device offers.
void SetHostKernels(std::vector<KernelEntry> entries);

}  // namespace asc

#endif  // ASC_CORE_DEVICE_DEVICE_H_
