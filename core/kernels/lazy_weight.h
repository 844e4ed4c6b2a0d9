// Weights that are read part by part while they are packed (Tensor::is_lazy): what packers share.
#ifndef ASC_CORE_KERNELS_LAZY_WEIGHT_H_
#define ASC_CORE_KERNELS_LAZY_WEIGHT_H_

#include "core/tensor/tensor.h"

namespace asc {

// That much of one weight is in memory plain at a time, for each thread of the team: as much as a second-level cache holds, so that it is
// packed from there.
inline constexpr int64_t kLazySliceBytes = 512 << 10;
// The most, and where few large parts are packed faster than many.
inline constexpr int64_t kLargeSliceBytes = 16 << 20;

// Room for a plain slice. Small ones all take one size, which is kept for the next weight; what is larger is counted as a packed
// weight, and so goes back to the system with its last reference.
inline Result<std::shared_ptr<Buffer>> AllocateSlice(const std::shared_ptr<Allocator>& allocator,
                                                     size_t bytes) {
  constexpr auto kSmall = static_cast<size_t>(kLazySliceBytes);
  return bytes <= kSmall ? Buffer::Allocate(allocator, MemoryUse::kTensor, kSmall)
                         : Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes);
}

// Tensor::CopyBytes of whole elements, split over the team.
void CopyOnTeam(const Tensor& weight, size_t begin, size_t count, std::byte* to);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_LAZY_WEIGHT_H_
