// Weights that are read part by part while they are packed (Tensor::is_lazy): what packers share.
#ifndef ASC_CORE_KERNELS_LAZY_WEIGHT_H_
#define ASC_CORE_KERNELS_LAZY_WEIGHT_H_

#include "core/tensor/tensor.h"

namespace asc {

// That much of one weight is in memory plain at a time: as much as the second-level caches of a few cores hold, so that it is packed
// from there.
inline constexpr int64_t kLazySliceBytes = 2 << 20;
// The same where few large parts are packed faster than many.
inline constexpr int64_t kLargeSliceBytes = 16 << 20;

// Room for a plain slice. Blocks of common sizes are kept for the next weight; what is larger is counted as a packed weight, and so
// goes back to the system with its last reference.
inline Result<std::shared_ptr<Buffer>> AllocateSlice(const std::shared_ptr<Allocator>& allocator,
                                                     size_t bytes) {
  const bool kept = bytes <= static_cast<size_t>(kLazySliceBytes);
  return Buffer::Allocate(allocator, kept ? MemoryUse::kTensor : MemoryUse::kPackedWeight, bytes);
}

// Tensor::CopyBytes of whole elements, split over the team.
void CopyOnTeam(const Tensor& weight, size_t begin, size_t count, std::byte* to);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_LAZY_WEIGHT_H_
