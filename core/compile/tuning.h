// Tuning: measures the kernels that could do a step and takes the fastest.
#ifndef ASC_CORE_COMPILE_TUNING_H_
#define ASC_CORE_COMPILE_TUNING_H_

#include "core/compile/tuning_cache.h"

namespace asc {

// The extents of a step's operands in storage form; of absent ones empty.
struct StorageExtents {
  std::vector<Dims> inputs, outputs;
};

// The kernel that the cache names for the request, or the fastest of those that can be made, which the cache then keeps; what cannot
// be measured is left to the estimates. Each is run a few times, on made-up inputs, with weights that are not in the processor's
// caches, as in a model that is larger than those. It stays with the cheapest by estimate unless another one is 3 % faster. On the thread that
// owns the team of request.threads; takes some tens of milliseconds for each candidate.
Result<std::shared_ptr<const Kernel>> ChooseTunedKernel(const Device& device, const KernelRequest& request,
                                                        const StorageExtents& extents, TuningCache& cache);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_TUNING_H_
