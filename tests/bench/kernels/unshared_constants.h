// Packed weights for kernels that are measured on their own.
#ifndef ASC_TESTS_BENCH_KERNELS_UNSHARED_CONSTANTS_H_
#define ASC_TESTS_BENCH_KERNELS_UNSHARED_CONSTANTS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/device/kernel.h"

namespace asc {

// Packs anew for each kernel that asks, so that several copies of a weight can be made.
class UnsharedConstants : public PackedConstants {
 public:
  Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor&, std::string_view, size_t,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make)
      override {
    return make(HostAllocator());
  }
  std::vector<std::string> Forms(const Tensor&) const override { return {}; }
};

}  // namespace asc

#endif  // ASC_TESTS_BENCH_KERNELS_UNSHARED_CONSTANTS_H_
