// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv: products of quantised tensors, summed
// in 32 bits that wrap around.
#include <cmath>

#include "core/ops/cast_elements.h"
#include "core/ops/compute_buffer.h"
#include "core/ops/convolution.h"
#include "core/ops/families.h"
#include "core/ops/matmul.h"
#include "core/ops/quantize_range.h"

namespace asc {
namespace {
constexpr TypeSet kInt8Types = {DataType::kInt8, DataType::kUInt8};
constexpr TypeSet kFloat8Types = {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                  DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};

enum class Side {
  kLeft,
  kRight
};  // of a matrix product: parameters for each row, or for each column

// The shape under which a scale or zero point broadcasts to a matrix: [M] on the left means [M, 1].
Dims ParameterDims(const Dims& dims, Side side) {
  if (dims.size() != 1 || side == Side::kRight || dims[0] == 1) return dims;
  return {dims[0], 1};
}

// A scale must be the same along the axis that is summed over.
Status CheckParameter(const InferContext& context, size_t i, const Shape& matrix, Side side) {
  if (!context.HasInput(i)) return Ok();
  const auto dims = context.shape(i).ToDims(), target = matrix.ToDims();
  if (!dims || !target || ElementCount(*dims) == 1) return Ok();
  const Dims own = ParameterDims(*dims, side);
  const auto both = BroadcastDims(own, *target);
  const bool row_or_column =
      side == Side::kLeft ? own.back() == 1 : own.size() < 2 || own[own.size() - 2] == 1;
  if (target->size() >= 2 && row_or_column && both.ok() && *both == *target) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' as a scalar or one value a ", side == Side::kLeft ? "row" : "column", " of ",
                    *target, ", given ", *dims);
}

// (x - zero point) as A, with the zero point (null: 0) broadcast to x's shape from `zero_dims`.
template <typename A>
Result<std::shared_ptr<Buffer>> Centered(KernelContext& context, const Tensor& x,
                                         const Tensor* zero, const Dims& zero_dims) {
  ASC_ASSIGN_OR_RETURN(auto buffer, context.Scratch(static_cast<size_t>(x.size()) * sizeof(A)));
  A* out = reinterpret_cast<A*>(buffer->data());
  // Sign extension first: the low 32 bits are what wrap-around arithmetic wants.
  constexpr DataType kCompute = std::is_same_v<A, float> ? DataType::kFloat32 : DataType::kUInt32;
  CastElements(x.dtype(), x.raw(), kCompute, out, x.size());
  if (zero == nullptr) return buffer;
  ASC_ASSIGN_OR_RETURN(const auto zeros,
                       context.Scratch(static_cast<size_t>(zero->size()) * sizeof(A)));
  const A* offsets = reinterpret_cast<const A*>(zeros->data());
  CastElements(zero->dtype(), zero->raw(), kCompute, zeros->data(), zero->size());
  if (zero->size() == 1) {
    for (int64_t i = 0; i < x.size(); ++i) out[i] -= offsets[0];
    return buffer;
  }
  const auto walk = BroadcastWalk(x.dims(), zero_dims);
  const int64_t step = walk.inner_stride(0);
  walk.Rows(0, walk.size(), [&](int64_t index, const auto& at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[index + i] -= offsets[at[0] + i * step];
  });
  return buffer;
}

const Tensor* Optional(KernelContext& context, size_t i) {
  return context.HasInput(i) ? &context.input(i) : nullptr;
}

// a * b of the centred inputs number `a` and `b`, with zero points at a_zero and b_zero.
template <typename A>
Status MultiplyCentered(KernelContext& context, size_t a, size_t a_zero, size_t b, size_t b_zero,
                        A* out) {
  const auto centered = [&](size_t x, size_t zero, Side side) {
    const Tensor* point = Optional(context, zero);
    const Dims dims = point == nullptr ? Dims() : ParameterDims(point->dims(), side);
    return Centered<A>(context, context.input(x), point, dims);
  };
  ASC_ASSIGN_OR_RETURN(const auto left, centered(a, a_zero, Side::kLeft));
  ASC_ASSIGN_OR_RETURN(const auto right, centered(b, b_zero, Side::kRight));
  MultiplyStacks<A>(context.input(a).dims(), context.input(b).dims(), false, false,
                    reinterpret_cast<const A*>(left->data()),
                    reinterpret_cast<const A*>(right->data()), out);
  return Ok();
}

Status InferMatMulInteger(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape,
                       MatMulShape("MatMulInteger", context.shape(0), context.shape(1)));
  ASC_RETURN_IF_ERROR(CheckParameter(context, 2, context.shape(0), Side::kLeft));
  ASC_RETURN_IF_ERROR(CheckParameter(context, 3, context.shape(1), Side::kRight));
  context.SetOutput(0, DataType::kInt32, std::move(shape));
  return Ok();
}

Status MatMulInteger(KernelContext& context) {
  return MultiplyCentered<uint32_t>(context, 0, 2, 1, 3,
                                    static_cast<uint32_t*>(context.output(0).raw()));
}

Status InferQLinearMatMul(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape,
                       MatMulShape("QLinearMatMul", context.shape(0), context.shape(3)));
  for (const size_t i : {size_t{1}, size_t{2}})
    ASC_RETURN_IF_ERROR(CheckParameter(context, i, context.shape(0), Side::kLeft));
  for (const size_t i : {size_t{4}, size_t{5}})
    ASC_RETURN_IF_ERROR(CheckParameter(context, i, context.shape(3), Side::kRight));
  for (const size_t i : {size_t{6}, size_t{7}})
    ASC_RETURN_IF_ERROR(CheckParameter(context, i, shape, Side::kLeft));
  context.SetOutput(0, context.dtype(7), std::move(shape));
  return Ok();
}

// values[i] = f(values[i], parameter) with input number `i` broadcast as the parameter of rows or
// columns of `dims`.
template <typename F>
Status ApplyParameter(KernelContext& context, size_t i, Side side, const Dims& dims, float* values,
                      F f) {
  const Tensor& parameter = context.input(i);
  ASC_ASSIGN_OR_RETURN(Tensor real,
                       Tensor::Allocate(DataType::kFloat32, ParameterDims(parameter.dims(), side),
                                        context.run().allocator, MemoryUse::kScratch));
  CastElements(parameter.dtype(), parameter.raw(), DataType::kFloat32, real.raw(), real.size());
  if (real.size() == 1) {
    const float value = real.data<float>()[0];
    for (int64_t k = 0; k < ElementCount(dims); ++k) values[k] = f(values[k], value);
  } else {
    CombineBroadcast(real, dims, values, f);
  }
  return Ok();
}

// Scaled sums to the output's type: integers round to even and saturate.
void StoreQuantized(const float* values, Tensor& y) {
  const auto range = IntegerRange(y.dtype());
  if (!range) return CastElements(DataType::kFloat32, values, y.dtype(), y.raw(), y.size());
  if (y.dtype() == DataType::kInt8) {
    MapElements(values, y.data<int8_t>(), y.size(),
                [&](float v) { return static_cast<int8_t>(range->Clamp(v)); });
  } else {
    MapElements(values, y.data<uint8_t>(), y.size(),
                [&](float v) { return static_cast<uint8_t>(range->Clamp(v)); });
  }
}

// A scale or zero point of a matrix product's row reaches the product's row as it is; one of a
// stack does too.
Status QLinearMatMul(KernelContext& context) {
  Tensor& y = context.output(0);
  const bool integers = IsInteger(context.input(0).dtype()) && IsInteger(context.input(3).dtype());
  ASC_ASSIGN_OR_RETURN(const auto buffer,
                       context.Scratch(static_cast<size_t>(y.size()) * sizeof(float)));
  float* values = reinterpret_cast<float*>(buffer->data());
  if (integers) {
    ASC_ASSIGN_OR_RETURN(const auto sums,
                         context.Scratch(static_cast<size_t>(y.size()) * sizeof(uint32_t)));
    ASC_RETURN_IF_ERROR(
        MultiplyCentered<uint32_t>(context, 0, 2, 3, 5, reinterpret_cast<uint32_t*>(sums->data())));
    MapElements(reinterpret_cast<const int32_t*>(sums->data()), values, y.size(),
                [](int32_t sum) { return static_cast<float>(sum); });
  } else {
    ASC_RETURN_IF_ERROR(MultiplyCentered<float>(context, 0, 2, 3, 5, values));
  }
  const auto multiply = [](float v, float s) { return v * s; };
  ASC_RETURN_IF_ERROR(ApplyParameter(context, 1, Side::kLeft, y.dims(), values, multiply));
  ASC_RETURN_IF_ERROR(ApplyParameter(context, 4, Side::kRight, y.dims(), values, multiply));
  ASC_RETURN_IF_ERROR(ApplyParameter(context, 6, Side::kLeft, y.dims(), values,
                                     [](float v, float s) { return v / s; }));
  const bool round = IntegerRange(y.dtype()).has_value();
  ASC_RETURN_IF_ERROR(
      ApplyParameter(context, 7, Side::kLeft, y.dims(), values,
                     [=](float v, float zero) { return (round ? std::nearbyint(v) : v) + zero; }));
  StoreQuantized(values, y);
  return Ok();
}

// One value, or one a filter.
Status CheckFilters(const InferContext& context, size_t i, const Shape& w) {
  if (!context.HasInput(i) || !context.shape(i).has_rank()) return Ok();
  const Shape& shape = context.shape(i);
  if (shape.rank() == 0) return Ok();
  const bool one = shape.rank() == 1 && (!shape[0].is_constant() || shape[0] == Dim(1));
  const bool each = shape.rank() == 1 && (!w.has_rank() || !w[0].is_constant() || shape[0] == w[0]);
  if (one || each) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' as a scalar or one value a filter, given ", shape);
}

Status CheckScalar(const InferContext& context, size_t i) {
  if (!context.HasInput(i) || !context.shape(i).has_rank()) return Ok();
  const Dim count = context.shape(i).ElementCount();
  if (!count.is_constant() || count.value() == 1) return Ok();
  return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                    "' as a scalar, given ", context.shape(i));
}

// Sums of x * w, both centred, by the direct convolution.
Status ConvolveCentered(KernelContext& context, size_t x, size_t x_zero, size_t w, size_t w_zero,
                        const uint32_t* bias, uint32_t* y) {
  const Dims& w_dims = context.input(w).dims();
  ASC_ASSIGN_OR_RETURN(const ConvGeometry geometry,
                       ReadConvGeometry(context, context.input(x).dims(), w_dims));
  Dims filters(w_dims.size(), 1);  // a value for each filter, seen under the weight's shape
  filters[0] = w_dims[0];
  ASC_ASSIGN_OR_RETURN(const auto data, Centered<uint32_t>(context, context.input(x),
                                                           Optional(context, x_zero), Dims()));
  ASC_ASSIGN_OR_RETURN(const auto weight, Centered<uint32_t>(context, context.input(w),
                                                             Optional(context, w_zero), filters));
  Convolve<uint32_t>(geometry, reinterpret_cast<const uint32_t*>(data->data()),
                     reinterpret_cast<const uint32_t*>(weight->data()), bias, y);
  return Ok();
}

Status InferConvInteger(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, 0, 1));
  ASC_RETURN_IF_ERROR(CheckScalar(context, 2));
  ASC_RETURN_IF_ERROR(CheckFilters(context, 3, context.shape(1)));
  context.SetOutput(0, DataType::kInt32, std::move(shape));
  return Ok();
}

Status ConvInteger(KernelContext& context) {
  return ConvolveCentered(context, 0, 2, 1, 3, nullptr,
                          static_cast<uint32_t*>(context.output(0).raw()));
}

Status InferQLinearConv(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(Shape shape, InferConvolution(context, 0, 3));
  for (const size_t i : {size_t{1}, size_t{2}, size_t{6}, size_t{7}})
    ASC_RETURN_IF_ERROR(CheckScalar(context, i));
  for (const size_t i : {size_t{4}, size_t{5}})
    ASC_RETURN_IF_ERROR(CheckFilters(context, i, context.shape(3)));
  ASC_RETURN_IF_ERROR(CheckConvBias(context, 8, 3));
  context.SetOutput(0, context.dtype(7), std::move(shape));
  return Ok();
}

Status QLinearConv(KernelContext& context) {
  Tensor& y = context.output(0);
  ASC_ASSIGN_OR_RETURN(const auto sums,
                       context.Scratch(static_cast<size_t>(y.size()) * sizeof(uint32_t)));
  const auto* bias =
      context.HasInput(8) ? static_cast<const uint32_t*>(context.input(8).raw()) : nullptr;
  ASC_RETURN_IF_ERROR(
      ConvolveCentered(context, 0, 2, 3, 5, bias, reinterpret_cast<uint32_t*>(sums->data())));
  ASC_ASSIGN_OR_RETURN(const auto buffer,
                       context.Scratch(static_cast<size_t>(y.size()) * sizeof(float)));
  float* values = reinterpret_cast<float*>(buffer->data());
  const float x_scale = context.input(1).data<float>()[0],
              y_scale = context.input(6).data<float>()[0];
  const Tensor& w_scale = context.input(4);
  const auto zero =
      static_cast<float>(ReadAsDouble(context.input(7).dtype(), context.input(7).raw(), 0));
  const int64_t filters = y.dim(1), plane = ElementCount(y.dims(), 2, y.rank());
  const auto* from = reinterpret_cast<const int32_t*>(sums->data());
  for (int64_t i = 0; i < y.dim(0) * filters; ++i) {
    const float scale =
        x_scale * w_scale.data<float>()[w_scale.size() == 1 ? 0 : i % filters] / y_scale;
    for (int64_t k = i * plane; k < (i + 1) * plane; ++k)
      values[k] = std::nearbyint(static_cast<float>(from[k]) * scale) + zero;
  }
  StoreQuantized(values, y);
  return Ok();
}

CostEstimate ConvIntegerCost(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs, const AttributeMap&) {
  return ConvolutionCost(inputs, outputs, 1);
}
CostEstimate QLinearConvCost(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs, const AttributeMap&) {
  return ConvolutionCost(inputs, outputs, 3);
}
CostEstimate IntegerMatMulCost(const std::vector<ValueType>& inputs,
                               const std::vector<ValueType>& outputs, const AttributeMap&) {
  return MatMulCost(inputs, outputs);
}
}  // namespace

void AddQuantizedLinearOps(OpTable& table) {
  OpBuilder conv_integer = table.Add("ConvInteger", 10);
  conv_integer.Doc("convolution of (x - x_zero_point) with (w - w_zero_point) in int32")
      .Input("x", "T1")
      .Input("w", "T2")
      .OptionalInput("x_zero_point", "T1")
      .OptionalInput("w_zero_point", "T2")
      .Output("y", "T3")
      .Types("T1", kInt8Types)
      .Types("T2", kInt8Types)
      .Types("T3", TypeSet{DataType::kInt32})
      .Infer(InferConvInteger)
      .Kernel(ConvInteger)
      .Cost(ConvIntegerCost);
  AddConvAttributes(conv_integer);

  table.Add("MatMulInteger", 10)
      .Doc("(a - a_zero_point) * (b - b_zero_point) in int32")
      .Method("matmul_integer")
      .Input("a", "T1")
      .Input("b", "T2")
      .OptionalInput("a_zero_point", "T1")
      .OptionalInput("b_zero_point", "T2")
      .Output("y", "T3")
      .Types("T1", kInt8Types)
      .Types("T2", kInt8Types)
      .Types("T3", TypeSet{DataType::kInt32})
      .Class(OpClass::kMatMul)
      .Infer(InferMatMulInteger)
      .Kernel(MatMulInteger)
      .Cost(IntegerMatMulCost);

  OpBuilder conv = table.Add("QLinearConv", 10);
  conv.Doc("convolution of quantised tensors, quantised")
      .Method("qlinear_conv")
      .Input("x", "T1")
      .Input("x_scale", "TS")
      .Input("x_zero_point", "T1")
      .Input("w", "T2")
      .Input("w_scale", "TS")
      .Input("w_zero_point", "T2")
      .Input("y_scale", "TS")
      .Input("y_zero_point", "T3")
      .OptionalInput("b", "T4")
      .Output("y", "T3")
      .Types("TS", TypeSet{DataType::kFloat32})
      .Types("T1", kInt8Types)
      .Types("T2", kInt8Types)
      .Types("T3", kInt8Types)
      .Types("T4", TypeSet{DataType::kInt32})
      .Infer(InferQLinearConv)
      .Kernel(QLinearConv)
      .Cost(QLinearConvCost);
  AddConvAttributes(conv);

  table.Add("QLinearMatMul", 21)
      .Doc("product of quantised matrices, quantised")
      .Method("qlinear_matmul")
      .Input("a", "T1")
      .Input("a_scale", "TS")
      .Input("a_zero_point", "T1")
      .Input("b", "T2")
      .Input("b_scale", "TS")
      .Input("b_zero_point", "T2")
      .Input("y_scale", "TS")
      .Input("y_zero_point", "T3")
      .Output("y", "T3")
      .Types("TS", TypeSet{DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16})
      .Types("T1", kInt8Types | kFloat8Types)
      .Types("T2", kInt8Types | kFloat8Types)
      .Types("T3", kInt8Types | kFloat8Types)
      .Class(OpClass::kMatMul)
      .Infer(InferQLinearMatMul)
      .Kernel(QLinearMatMul)
      .Cost(IntegerMatMulCost);
}

}  // namespace asc
