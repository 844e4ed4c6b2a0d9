// What this machine can do at most, by short measurements: the two lines of a roofline (Williams, Waterman, Patterson 2009).
#ifndef ASC_CORE_KERNELS_MACHINE_PEAKS_H_
#define ASC_CORE_KERNELS_MACHINE_PEAKS_H_

#include <memory>

#include "core/base/allocator.h"

namespace asc {

struct MachinePeaks {
  double flops_per_second = 0;  // float32; a fused multiply-add counts as two
  double bytes_per_second = 0;  // read from memory
};

// With the team of CurrentThreads(), on the thread that owns it. Takes about a quarter of a second, and a buffer of a few times the
// last level of cache while it runs (E5012 when there is no room).
Result<MachinePeaks> MeasurePeaks(const std::shared_ptr<Allocator>& allocator);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_MACHINE_PEAKS_H_
