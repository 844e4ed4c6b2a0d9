#include "core/ops/shape_facts.h"

#include <algorithm>

#include "core/ops/infer_rules.h"

namespace asc {
namespace {
Result<int64_t> NamedAxis(const OpSchema& schema, const AttributeMap& attributes,
                          std::string_view name, int64_t rank) {
  Result<int64_t> axis = NormalizeAxis(attributes.Int(name, 0), rank);
  if (!axis.ok())
    return std::move(axis).status().WithContext(Cat(schema.FullName(), " attribute '", name, "'"));
  return axis;
}
}  // namespace

void PassKnownElements(InferContext& context, size_t i) {
  if (auto elements = KnownElements(context, i)) SetKnownElements(context, 0, std::move(*elements));
}

Result<int64_t> AxisAttribute(const InferContext& context, std::string_view name, int64_t rank) {
  return NamedAxis(context.schema(), context.attributes(), name, rank);
}

Result<int64_t> AxisAttribute(const KernelContext& context, std::string_view name, int64_t rank) {
  return NamedAxis(context.schema(), context.attributes(), name, rank);
}

Result<Dims> ReadIntegers(const Tensor& tensor) {
  if (tensor.dtype() == DataType::kInt64) {
    const auto values = tensor.values<int64_t>();
    return Dims(values.begin(), values.end());
  }
  if (tensor.dtype() == DataType::kInt32) {
    const auto values = tensor.values<int32_t>();
    return Dims(values.begin(), values.end());
  }
  return TypeError("expected a tensor of int32 or int64, got ", tensor.TypeString());
}

Result<Dims> NormalizeAxes(std::span<const int64_t> axes, int64_t rank, std::string_view op) {
  Dims out;
  for (const int64_t axis : axes) {
    Result<int64_t> normal = NormalizeAxis(axis, rank);
    if (!normal.ok()) return std::move(normal).status().WithContext(Cat(op, " axes ", axes));
    if (std::find(out.begin(), out.end(), *normal) != out.end()) {
      return InvalidArgument(op, " axes ", axes, " name axis ", *normal, " twice");
    }
    out.push_back(*normal);
  }
  return out;
}

Result<std::optional<int64_t>> VectorLength(const InferContext& context, size_t i) {
  const Shape& shape = context.shape(i);
  if (!shape.has_rank()) return std::optional<int64_t>();
  const std::string& name = context.schema().InputParameter(i)->name;
  if (shape.rank() != 1) {
    return ShapeError(context.schema().FullName(), " input '", name,
                      "' must be of rank 1, given shape ", shape);
  }
  if (!shape[0].is_constant()) return std::optional<int64_t>();
  if (shape[0].value() > kMaxRank) {
    return ShapeError(context.schema().FullName(), " input '", name, "' has ", shape[0],
                      " elements: expected at most ", kMaxRank);
  }
  return std::optional<int64_t>(shape[0].value());
}

Status CheckRank(const InferContext& context, size_t i, size_t rank) {
  if (!context.HasInput(i) || !context.shape(i).has_rank() || context.shape(i).rank() == rank)
    return Ok();
  return ShapeError(context.schema().FullName(), " input '",
                    context.schema().InputParameter(i)->name, "' must be of rank ", rank,
                    ", given shape ", context.shape(i));
}

Status CheckSize(InferContext& context, size_t i) {
  const ValueType& type = context.outputs()[i].type;
  const auto dims = type.shape.ToDims();
  if (!dims) return Ok();
  const auto count = CheckedElementCount(*dims);
  if (count && ByteSize(type.dtype, *count)) return Ok();
  return InvalidArgument(context.schema().FullName(), " would give ", type,
                         ", which is larger than a tensor can be");
}

Result<DataType> OutputTypeAttribute(const InferContext& context, std::string_view name,
                                     DataType otherwise, size_t i) {
  const OpSchema& schema = context.schema();
  DataType type = otherwise;
  if (const auto* number = context.attributes().Get<int64_t>(name)) {
    const auto named = DataTypeFromOnnx(*number);
    if (!named)
      return InvalidArgument(schema.FullName(), " attribute '", name, "' ", *number,
                             " is no element type");
    type = *named;
  }
  const auto allowed = schema.type_variables.find(schema.OutputParameter(i)->type_variable);
  if (allowed != schema.type_variables.end() && !allowed->second.Contains(type)) {
    return TypeError(schema.FullName(), " cannot give ", DataTypeName(type), ": expected one of ",
                     allowed->second);
  }
  return type;
}

bool SurelyNonNegative(const Dim& dim) {
  if (dim.is_constant()) return dim.value() >= 0;
  return !dim.is_unknown() && dim.ToString().find('-') == std::string::npos;
}

}  // namespace asc
