#include "core/device/emulated_npu.h"

#include "core/base/instruction_set.h"
#include "core/device/kernel_index.h"

namespace asc {
namespace {
class EmulatedNpu : public Device {
 public:
  EmulatedNpu(DeviceProperties properties, const std::vector<KernelEntry>& host_kernels)
      : properties_(std::move(properties)), allocator_(std::make_shared<Allocator>(properties_.id)), kernels_(host_kernels) {
    // A fresh allocator holds nothing, so that its limit cannot be refused.
    allocator_->SetLimit(properties_.memory_bytes).ok();
  }

  const DeviceProperties& properties() const override { return properties_; }
  const std::shared_ptr<Allocator>& allocator() const override { return allocator_; }
  const std::vector<KernelEntry>& Kernels(const OpSchema& schema) const override { return kernels_.Of(schema); }
  bool Supports(const OpSchema&) const override { return true; }

 private:
  DeviceProperties properties_;
  std::shared_ptr<Allocator> allocator_;
  KernelIndex kernels_;
};
}  // namespace

std::unique_ptr<Device> MakeEmulated910B(std::string id, const std::vector<KernelEntry>& host_kernels) {
  DeviceProperties properties;
  properties.id = std::move(id);
  properties.name = "Ascend 910B (emulated)";
  properties.kind = "emulated";
  properties.cores = 32;
  properties.memory_bytes = int64_t{64} << 30;
  properties.bandwidth_bytes_per_second = 900e9;
  properties.flops = {{DataType::kFloat16, 256e12}, {DataType::kFloat32, 128e12}, {DataType::kInt8, 512e12}};
  // Kernels of the host do the work, so blocks are as wide as the host likes them.
#if defined(__x86_64__)
  properties.c0[DataType::kFloat32] = BestInstructionSet() == InstructionSet::kAvx512 ? 16 : 8;
#endif
  return std::make_unique<EmulatedNpu>(std::move(properties), host_kernels);
}

}  // namespace asc
