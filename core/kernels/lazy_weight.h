// Weights that are read part by part while they are packed (Tensor::is_lazy): what packers share.
#ifndef ASC_CORE_KERNELS_LAZY_WEIGHT_H_
#define ASC_CORE_KERNELS_LAZY_WEIGHT_H_

#include "core/tensor/tensor.h"

namespace asc {

// That much of one weight is in memory plain at a time.
inline constexpr int64_t kLazySliceBytes = 16 << 20;

// Room for a plain slice. Counted as a packed weight: what is large then goes back to the system with its last reference.
inline Result<std::shared_ptr<Buffer>> AllocateSlice(const std::shared_ptr<Allocator>& allocator,
                                                     size_t bytes) {
  return Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes);
}

// Tensor::CopyBytes of whole elements, split over the team.
void CopyOnTeam(const Tensor& weight, size_t begin, size_t count, std::byte* to);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_LAZY_WEIGHT_H_
