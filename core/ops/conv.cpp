// Conv: convolution over any number of spatial axes, with groups and dilations.
#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/families.h"

namespace asc {
namespace {
Status CheckBias(const InferContext& context) {
  if (!context.HasInput(2) || !context.shape(2).has_rank()) return Ok();
  const Shape& bias = context.shape(2);
  const Shape& w = context.shape(1);
  const bool fits = bias.rank() == 1 && !(w.has_rank() && w[0].is_constant() &&
                                          bias[0].is_constant() && bias[0] != w[0]);
  if (fits) return Ok();
  return ShapeError("Conv needs a bias of one value a filter, shape [",
                    w.has_rank() ? w[0].ToString() : "filters", "], given ", bias);
}

Status InferConv(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, 0, 1));
  ASC_RETURN_IF_ERROR(CheckBias(context));
  context.SetOutput(0, context.dtype(0), std::move(shape));
  return Ok();
}

template <typename A>
Status ConvAs(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const ConvGeometry geometry,
                       ReadConvGeometry(context, context.input(0).dims(), context.input(1).dims()));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(const auto w, ComputeInput<A>::Make(context, context.input(1)));
  ComputeInput<A> bias;
  if (context.HasInput(2)) {
    ASC_ASSIGN_OR_RETURN(bias, ComputeInput<A>::Make(context, context.input(2)));
  }
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  Convolve<A>(geometry, x.data(), w.data(), bias.data(), y.data());
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
