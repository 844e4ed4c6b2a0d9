// InstanceNormalization, GroupNormalization and MeanVarianceNormalization.
#include "core/ops/compute_buffer.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/normalize_rows.h"
#include "core/ops/reduce_iterator.h"

namespace asc {
namespace {
// Data [N, C, extents...] and one scale and one bias a channel.
Status CheckChannels(const InferContext& context) {
  const std::string op = context.schema().FullName();
  const Shape& x = context.shape(0);
  if (x.has_rank() && x.rank() < 2)
    return ShapeError(op, " needs data [N, C, extents...], given ", x);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Shape& parameter = context.shape(i);
    if (!parameter.has_rank()) continue;
    const bool fits =
        parameter.rank() == 1 &&
        !(x.has_rank() && x[1].is_constant() && parameter[0].is_constant() && x[1] != parameter[0]);
    if (fits) continue;
    return ShapeError(op, " needs '", context.schema().inputs[i].name,
                      "' of one value a channel, shape [", x.has_rank() ? x[1].ToString() : "C",
                      "], given ", parameter);
  }
  return Ok();
}

Status InferInstanceNorm(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckChannels(context));
  return InferSameAsFirst(context);
}

Status InferGroupNorm(InferContext& context) {
  const int64_t groups = context.attributes().Int("num_groups", 0);
  if (groups < 1)
    return InvalidArgument("GroupNormalization needs num_groups >= 1, given ", groups);
  ASC_RETURN_IF_ERROR(CheckChannels(context));
  const Shape& x = context.shape(0);
  if (x.has_rank() && x[1].is_constant() && x[1].value() % groups != 0) {
    return ShapeError("GroupNormalization cannot divide the ", x[1], " channels of ", x, " into ",
                      groups, " groups");
  }
  return InferSameAsFirst(context);
}

// Each row is 1 / groups of an image.
template <typename A>
Status NormalizeGroups(KernelContext& context, int64_t groups) {
  const Dims& dims = context.input(0).dims();
  const int64_t rows = dims[0] * groups, size = ElementCount(dims, 2, dims.size());
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  const int64_t length = rows == 0 ? 0 : context.input(0).size() / rows;
  NormalizeRows(x.data(), y.data(), rows, length, context.attributes().Float("epsilon", 1e-5f),
                RowCenter::kMean, [](int64_t, double, double) {});
  // As if the channels' parameters had shape [C, 1].
  const Dims planes = {dims[0], dims[1], size}, column = {dims[1], 1};
  ASC_ASSIGN_OR_RETURN(const Tensor scale, context.input(1).Reshaped(column));
  ASC_ASSIGN_OR_RETURN(const Tensor bias, context.input(2).Reshaped(column));
  CombineBroadcast(scale, planes, y.data(), [](A a, A s) { return a * s; });
  CombineBroadcast(bias, planes, y.data(), [](A a, A b) { return a + b; });
  y.Finish();
  return Ok();
}

Status InstanceNorm(KernelContext& context) {
  const int64_t channels = context.input(0).dim(1);
  return context.input(0).dtype() == DataType::kFloat64 ? NormalizeGroups<double>(context, channels)
                                                        : NormalizeGroups<float>(context, channels);
}

Status GroupNorm(KernelContext& context) {
  const int64_t groups = context.attributes().Int("num_groups", 1);
  return context.input(0).dtype() == DataType::kFloat64 ? NormalizeGroups<double>(context, groups)
                                                        : NormalizeGroups<float>(context, groups);
}

Result<std::vector<bool>> MarkAxes(const AttributeMap& attributes, size_t rank) {
  std::vector<bool> reduced(rank, false);
  for (const int64_t axis : attributes.Ints("axes", {0, 2, 3})) {
    Result<int64_t> normal = NormalizeAxis(axis, static_cast<int64_t>(rank));
    if (!normal.ok()) return std::move(normal).status().WithContext("MeanVarianceNormalization");
    reduced[static_cast<size_t>(*normal)] = true;
  }
  return reduced;
}

Status InferMeanVariance(InferContext& context) {
  if (context.shape(0).has_rank())
    ASC_RETURN_IF_ERROR(MarkAxes(context.attributes(), context.shape(0).rank()).status());
  return InferSameAsFirst(context);
}

// Welford's running mean and sum of squared deviations.
template <typename A>
struct MomentsOp {
  struct State {
    double count, mean, squares;
  };
  State Start() const { return {0, 0, 0}; }
  void Step(State& state, A element) const {
    const auto x = static_cast<double>(element);
    state.count += 1;
    const double before = x - state.mean;
    state.mean += before / state.count;
    state.squares += before * (x - state.mean);
  }
};

template <typename A>
Status MeanVarianceAs(KernelContext& context) {
  constexpr double kEpsilon = 1e-9;  // of the operator's definition; added to the deviation
  const Dims& dims = context.input(0).dims();
  ASC_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       MarkAxes(context.attributes(), dims.size()));
  ASC_ASSIGN_OR_RETURN(const auto x, ComputeInput<A>::Make(context, context.input(0)));
  ASC_ASSIGN_OR_RETURN(auto y, ComputeOutput<A>::Make(context, context.output(0)));
  Dims kept = dims;
  for (size_t i = 0; i < dims.size(); ++i) kept[i] = reduced[i] ? 1 : dims[i];
  const auto& allocator = context.run().allocator;
  ASC_ASSIGN_OR_RETURN(Tensor mean,
                       Tensor::Allocate(DataType::kFloat64, kept, allocator, MemoryUse::kScratch));
  ASC_ASSIGN_OR_RETURN(Tensor scale,
                       Tensor::Allocate(DataType::kFloat64, kept, allocator, MemoryUse::kScratch));
  const ReduceWalk walk(dims, reduced);
  walk.Run(x.data(), MomentsOp<A>{}, [&](int64_t i, const auto& state) {
    mean.data<double>()[i] = state.mean;
    scale.data<double>()[i] = 1 / (std::sqrt(state.squares / state.count) + kEpsilon);
  });
  std::copy_n(x.data(), context.input(0).size(), y.data());
  CombineBroadcast(mean, dims, y.data(), [](A a, A m) { return a - m; });
  CombineBroadcast(scale, dims, y.data(), [](A a, A s) { return a * s; });
  y.Finish();
  return Ok();
}

Status MeanVariance(KernelContext& context) {
  return context.input(0).dtype() == DataType::kFloat64 ? MeanVarianceAs<double>(context)
                                                        : MeanVarianceAs<float>(context);
}
}  // namespace

void AddGroupNormOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view method, int since, InferFn infer,
                       ReferenceKernel kernel, std::string_view doc) {
    return table.Add(name, since)
        .Doc(doc)
        .Method(method)
        .Input("x", "T")
        .Input("scale", "T")
        .Input("bias", "T")
        .Output("y", "T")
        .Types("T", types::kFloats)
        .Attr("epsilon", 1e-5f, "eps")
        .Class(OpClass::kNormalization)
        .Infer(infer)
        .Kernel(kernel);
  };
  add("GroupNormalization", "group_norm", 21, InferGroupNorm, GroupNorm,
      "groups of channels of each image to mean 0 and variance 1, then scale and bias for each "
      "channel")
      .Fusion("GroupNorm")
      .RequiredAttr("num_groups", AttributeType::kInt)
      .Attr("stash_type", int64_t{1}, "", "element type of the first stage, as ONNX numbers it");
  add("InstanceNormalization", "instance_norm", 22, InferInstanceNorm, InstanceNorm,
      "each channel of each image to mean 0 and variance 1, then scale and bias")
      .Fusion("InstanceNorm");
  table.Add("MeanVarianceNormalization", 13)
      .Doc("(x - mean) / standard deviation over axes")
      .Input("x", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Attr("axes", std::vector<int64_t>{0, 2, 3}, "dim")
      .Class(OpClass::kNormalization)
      .Infer(InferMeanVariance)
      .Kernel(MeanVariance);
}

}  // namespace asc
