// Conv: convolution over any number of spatial axes, with groups and dilations.
#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/families.h"

namespace asc {
namespace {
Status InferConv(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, 0, 1));
  ASC_RETURN_IF_ERROR(CheckConvBias(context, 2, 1));
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

template <typename A>
Status ConvAs(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  ASC_RETURN_IF_ERROR(ConvolveInputs(context, y.data()));
  y.Finish();
  return Ok();
}

Status Conv(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? ConvAs<double>(context)
                                                        : ConvAs<float>(context);
}

CostEstimate ConvCost(const std::vector<ValueType>& inputs, const std::vector<ValueType>& outputs,
                      const AttributeMap&) {
  return ConvolutionCost(inputs, outputs, 1);
}
}  // namespace

void AddConvOps(OpTable& table) {
  OpBuilder conv = table.Add("Conv", 22);
  conv.Doc("convolution of data [N, C, extents...] with a weight [M, C / group, kernel...]")
      .Method("conv2d")
      .Fusion("Conv2d")
      .Input("x", "T")
      .Input("weight", "T")
      .OptionalInput("bias", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Infer(InferConv)
      .Kernel(Conv)
      .Cost(ConvCost);
  AddConvAttributes(conv);
}

}  // namespace asc
