// Packing of small weights without a primitive: oneDNN generates code for each reorder, which takes longer than the copy itself.
#ifndef ASC_CORE_KERNELS_ONEDNN_SMALL_WEIGHTS_H_
#define ASC_CORE_KERNELS_ONEDNN_SMALL_WEIGHTS_H_

#include <dnnl.hpp>

namespace asc::onednn {

// Up to this many elements the loop here is the faster way.
inline constexpr int64_t kMostSmallElements = 1 << 16;

// Copies a float32 tensor in a plain layout (any strides) to a blocked or plain one of the same extents, on the caller's team; padding
// becomes zero. False, with nothing written, for layouts of other kinds.
bool ReorderSmall(const dnnl::memory::desc& from_desc, const float* from,
                  const dnnl::memory::desc& to_desc, float* to);

}  // namespace asc::onednn

#endif  // ASC_CORE_KERNELS_ONEDNN_SMALL_WEIGHTS_H_
