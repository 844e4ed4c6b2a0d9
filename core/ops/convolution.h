// Direct convolution: what Conv, its fused and its quantised forms share.
#ifndef ASC_CORE_OPS_CONVOLUTION_H_
#define ASC_CORE_OPS_CONVOLUTION_H_

#include <vector>

#include "core/graph/op_schema.h"
#include "core/ops/window.h"

namespace asc {

// X [batch, groups * channels, input...], W [groups * filters, channels, kernel...], Y [batch,
// groups * filters, output...].
struct ConvGeometry {
  int64_t batch = 0, groups = 1, channels = 0, filters = 0;
  std::vector<WindowAxis> axes;
};

// The kernel's extents from a weight's shape, where they are all constants.
std::optional<std::vector<int64_t>> WeightKernel(const Shape& w);

// The shape rule of convolutions with the data at input `x` and the weight at input `w`: gives the
// output's shape (unknown rank where neither has one). E5001 naming the shape that the weight
// should have.
Result<Shape> InferConvolution(const InferContext& context, size_t x, size_t w);

// E5001 unless input `bias`, where there is one, holds one value for each filter of the weight.
Status CheckConvBias(const InferContext& context, size_t bias, size_t w);

// The geometry for concrete extents. Repeats no checks of InferConvolution.
Result<ConvGeometry> ReadConvGeometry(const KernelContext& context, const Dims& x, const Dims& w);

// y = x * w + bias (bias may be null: zeros). T is float, double or uint32_t (integers wrap
// around).
template <typename T>
void Convolve(const ConvGeometry& geometry, const T* x, const T* w, const T* bias, T* y);

extern template void Convolve<float>(const ConvGeometry&, const float*, const float*, const float*,
                                     float*);
extern template void Convolve<double>(const ConvGeometry&, const double*, const double*,
                                      const double*, double*);
extern template void Convolve<uint32_t>(const ConvGeometry&, const uint32_t*, const uint32_t*,
                                        const uint32_t*, uint32_t*);

// y = input 0 * input 1 + input 2 (which may be absent), in the type A that they are computed in.
template <typename A>
Status ConvolveInputs(KernelContext& context, A* y);

extern template Status ConvolveInputs<float>(KernelContext&, float*);
extern template Status ConvolveInputs<double>(KernelContext&, double*);

// Adds the window attributes of convolutions, with PyTorch's names in methods.
class OpBuilder;
void AddConvAttributes(OpBuilder& builder);
CostEstimate ConvolutionCost(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs, size_t w);

}  // namespace asc

#endif  // ASC_CORE_OPS_CONVOLUTION_H_
