// Steps whose extents come with the data: the kernel is chosen while running, and kept for the extents that were met.
#ifndef ASC_CORE_COMPILE_DYNAMIC_STEP_H_
#define ASC_CORE_COMPILE_DYNAMIC_STEP_H_

#include "core/compile/options.h"
#include "core/compile/plan.h"
#include "core/device/device.h"

namespace asc {

// The arguments must outlive the result.
std::unique_ptr<DynamicKernels> MakeDynamicKernels(const Node& node, const Device& device, PackedConstants& constants,
                                                   const CompileOptions& options, int threads);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_DYNAMIC_STEP_H_
