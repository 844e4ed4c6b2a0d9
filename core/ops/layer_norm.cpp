// LayerNormalization and RMSNormalization over the trailing axes. Statistics are taken in float64.
#include <cmath>

#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/normalize_rows.h"

namespace asc {
namespace {
Result<size_t> ReadAxis(const OpSchema& schema, const AttributeMap& attributes, size_t rank) {
  Result<int64_t> axis = NormalizeAxis(attributes.Int("axis", -1), static_cast<int64_t>(rank));
  if (!axis.ok()) return std::move(axis).status().WithContext(schema.FullName());
  return static_cast<size_t>(*axis);
}

// Scale and bias broadcast to x, never the other way round.
Status CheckParameters(const InferContext& context, size_t first, size_t last) {
  const Shape& x = context.shape(0);
  for (size_t i = first; i <= last; ++i) {
    if (!context.HasInput(i) || !context.shape(i).has_rank()) continue;
    const Shape& parameter = context.shape(i);
    bool fits = parameter.rank() <= x.rank();
    for (size_t k = 0; fits && k < parameter.rank(); ++k) {
      const Dim& have = parameter[k];
      const Dim& want = x[x.rank() - parameter.rank() + k];
      fits = !have.is_constant() || !want.is_constant() || have == want || have == Dim(1);
    }
    if (fits) continue;
    return ShapeError(context.schema().FullName(), " needs '", context.schema().inputs[i].name,
                      "' to broadcast to x of shape ", x, ", given ", parameter);
  }
  return Ok();
}

Status InferLayerNorm(InferContext& context) {
  const int64_t stash = context.attributes().Int("stash_type", 1);
  const auto stash_type = DataTypeFromOnnx(stash);
  if (stash_type != DataType::kFloat32 && stash_type != DataType::kBFloat16) {
    return InvalidArgument("LayerNormalization has stash_type 1 (float32) or 16 (bfloat16), given ",
                           stash);
  }
  const Shape& x = context.shape(0);
  context.SetOutput(0, context.type(0));
  Shape statistics;
  if (x.has_rank()) {
    ASC_ASSIGN_OR_RETURN(const size_t axis,
                         ReadAxis(context.schema(), context.attributes(), x.rank()));
    ASC_RETURN_IF_ERROR(CheckParameters(context, 1, 2));
    statistics = x;
    for (size_t i = axis; i < x.rank(); ++i) statistics[i] = Dim(1);
  }
  for (size_t i = 1; i < context.output_count(); ++i) context.SetOutput(i, *stash_type, statistics);
  return Ok();
}

Status InferRmsNorm(InferContext& context) {
  const Shape& x = context.shape(0);
  context.SetOutput(0, context.dtype(1), x);
  if (!x.has_rank()) return Ok();
  ASC_RETURN_IF_ERROR(ReadAxis(context.schema(), context.attributes(), x.rank()).status());
  return CheckParameters(context, 1, 1);
}

template <typename A>
Status LayerNormAs(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  ASC_ASSIGN_OR_RETURN(const size_t axis,
                       ReadAxis(context.schema(), context.attributes(), dims.size()));
  const int64_t rows = ElementCount(dims, 0, axis), length = ElementCount(dims, axis, dims.size());
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const double epsilon = context.attributes().Float("epsilon", 1e-5f);
  const auto store = [&](size_t output, int64_t row, double value) {
    if (!context.HasOutput(output)) return;
    Tensor& tensor = context.output(output);
    if (tensor.dtype() == DataType::kFloat32) {
      tensor.data<float>()[row] = static_cast<float>(value);
    } else {
      tensor.data<BFloat16>()[row] = BFloat16(static_cast<float>(value));
    }
  };
  NormalizeRows(x.data(), y.data(), rows, length, epsilon, RowCenter::kMean,
                [&](int64_t row, double mean, double inverse) {
                  store(1, row, mean);
                  store(2, row, inverse);
                });
  CombineBroadcast(context.input(1), dims, y.data(), [](A a, A scale) { return a * scale; });
  if (context.HasInput(2))
    CombineBroadcast(context.input(2), dims, y.data(), [](A a, A bias) { return a + bias; });
  y.Finish();
  return Ok();
}

Status LayerNorm(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? LayerNormAs<double>(context)
                                                        : LayerNormAs<float>(context);
}

template <typename A>
Status RmsNormAs(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  ASC_ASSIGN_OR_RETURN(const size_t axis,
                       ReadAxis(context.schema(), context.attributes(), dims.size()));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  NormalizeRows(x.data(), y.data(), ElementCount(dims, 0, axis),
                ElementCount(dims, axis, dims.size()), context.attributes().Float("epsilon", 1e-5f),
                RowCenter::kZero, [](int64_t, double, double) {});
  CombineBroadcast(context.input(1), dims, y.data(), [](A a, A scale) { return a * scale; });
  y.Finish();
  return Ok();
}

Status RmsNorm(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? RmsNormAs<double>(context)
                                                        : RmsNormAs<float>(context);
}
}  // namespace

void AddLayerNormOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view method, int since,
                       std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Attr("axis", int64_t{-1}, "", "the first of the axes that are normalised together")
        .Attr("epsilon", 1e-5f, "eps")
        .Attr("stash_type", int64_t{1}, "",
              "element type of the statistics: 1 float32, 16 bfloat16")
        .Class(OpClass::kNormalization);
  };
  add("LayerNormalization", "layer_norm", 17,
      "(x - mean) / sqrt(var + epsilon) * scale + bias over the axes from `axis` on")
      .Fusion("LayerNorm")
      .Input("x", "T")
      .Input("scale", "T")
      .OptionalInput("bias", "T")
      .Output("y", "T")
      .OptionalOutput("mean", "U")
      .OptionalOutput("inv_std_dev", "U")
      .Types("T", types::kFloats)
      .Types("U", TypeSet{DataType::kFloat32, DataType::kBFloat16})
      .Infer(InferLayerNorm)
      .Kernel(LayerNorm);
  add("RMSNormalization", "rms_norm", 23,
      "x / sqrt(mean(x^2) + epsilon) * scale over the axes from `axis` on")
      .Fusion("RMSNorm")
      .Input("x", "T")
      .Input("scale", "V")
      .Output("y", "V")
      .Types("T", types::kFloats)
      .Types("V", types::kFloats)
      .Infer(InferRmsNorm)
      .Kernel(RmsNorm);
}

}  // namespace asc
