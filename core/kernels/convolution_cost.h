// How long convolutions take, for the choice between kernels.
//
// The figures were fitted to measurements on one CPU (docs/performance.md): what counts is how they
// relate. They depend on the extents and the number of threads alone, so that a model compiles
// alike each time and everywhere.
#ifndef ASC_CORE_KERNELS_CONVOLUTION_COST_H_
#define ASC_CORE_KERNELS_CONVOLUTION_COST_H_

#include "core/device/kernel.h"
#include "core/kernels/winograd/problem.h"

namespace asc {

// Seconds by the sums that define the convolution. Takes what Conv and asc.FusedConv take.
double DirectConvolutionSeconds(const KernelRequest& request);

// Seconds by the vector engine's kernel for convolutions with a window for each channel. `unrolled`:
// it has loops made for that window.
double DepthwiseSeconds(const KernelRequest& request, bool unrolled);

// Seconds by Winograd's algorithm, with a surcharge on F(4x4) because it rounds more coarsely.
double WinogradSeconds(const winograd::Problem& p, int threads);

}  // namespace asc

#endif  // ASC_CORE_KERNELS_CONVOLUTION_COST_H_
