#include "core/compile/dynamic_step.h"

#include <list>
#include <mutex>

#include "core/compile/kernel_choice.h"

namespace asc {
namespace {
class KernelsByExtents : public DynamicKernels {
 public:
  static constexpr size_t kMostKernels = 16;

  KernelsByExtents(const Node& node, const Device& device, PackedConstants& constants, const CompileOptions& options, int threads)
      : node_(node), device_(device), constants_(constants), assume_finite_(options.assume_finite), threads_(threads) {}

  Result<std::shared_ptr<const Kernel>> For(const std::vector<const AnyValue*>& inputs,
                                            const std::vector<ValueType>& outputs) const override {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (!SameExtents(it->inputs, inputs)) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().kernel;
    }
    Entry entry;
    KernelRequest request{node_, {}, {}, constants_, device_.allocator(), threads_, assume_finite_, false};
    for (const AnyValue* input : inputs) {
      OperandDesc desc;
      if (input != nullptr) {
        desc.present = true;
        if (input->is_tensor()) {
          desc.dtype = input->tensor().dtype();
          desc.dims = input->tensor().dims();
        }
      }
      entry.inputs.push_back({desc.present, desc.dims});
      request.inputs.push_back(std::move(desc));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      OperandDesc desc;
      desc.present = node_.outputs[i].valid();
      desc.dtype = outputs[i].dtype;
      if (const auto dims = outputs[i].shape.ToDims()) desc.dims = *dims;
      request.outputs.push_back(std::move(desc));
    }
    ASC_ASSIGN_OR_RETURN(entry.kernel, ChooseKernel(device_, request));
    entries_.push_front(std::move(entry));
    if (entries_.size() > kMostKernels) entries_.pop_back();
    return entries_.front().kernel;
  }

 private:
  struct Entry {
    std::vector<std::pair<bool, Dims>> inputs;
    std::shared_ptr<const Kernel> kernel;
  };

  static bool SameExtents(const std::vector<std::pair<bool, Dims>>& known, const std::vector<const AnyValue*>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const bool present = values[i] != nullptr;
      if (known[i].first != present) return false;
      if (present && values[i]->is_tensor() && values[i]->tensor().dims() != known[i].second) return false;
    }
    return true;
  }

  const Node& node_;
  const Device& device_;
  PackedConstants& constants_;
  const bool assume_finite_;
  const int threads_;
  mutable std::mutex mutex_;
  mutable std::list<Entry> entries_;  // most recent first
};
}  // namespace

std::unique_ptr<DynamicKernels> MakeDynamicKernels(const Node& node, const Device& device, PackedConstants& constants,
                                                   const CompileOptions& options, int threads) {
  return std::make_unique<KernelsByExtents>(node, device, constants, options, threads);
}

}  // namespace asc
