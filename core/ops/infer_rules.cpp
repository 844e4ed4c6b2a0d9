#include "core/ops/infer_rules.h"

#include <algorithm>

namespace asc {
namespace {
// Longer integer tensors are data, not shapes.
constexpr size_t kMostKnownElements = 128;

Status InferBroadcastAs(InferContext& context, std::optional<DataType> dtype) {
  ASC_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(context));
  context.SetOutput(0, dtype ? *dtype : context.dtype(0), std::move(shape));
  return Ok();
}
}  // namespace

Result<Shape> BroadcastInputs(const InferContext& context) {
  if (context.input_count() == 0)
    return InvalidArgument(context.schema().FullName(), " needs at least one input");
  Shape shape{Dims()};
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.HasInput(i))
      return InvalidArgument(context.schema().FullName(), " needs its input number ", i);
    ASC_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, context.shape(i)));
  }
  return shape;
}

Status InferSameAsFirst(InferContext& context) {
  context.SetOutput(0, context.type(0));
  return Ok();
}

Status InferBroadcast(InferContext& context) { return InferBroadcastAs(context, std::nullopt); }

Status InferBroadcastBool(InferContext& context) {
  return InferBroadcastAs(context, DataType::kBool);
}

std::optional<std::vector<Dim>> KnownElements(const InferContext& context, size_t i) {
  if (!context.HasInput(i) || !types::kIndex.Contains(context.dtype(i))) return std::nullopt;
  const Shape& shape = context.shape(i);
  if (!shape.has_rank() || shape.rank() > 1) return std::nullopt;
  if (shape.rank() == 1 && shape[0].is_constant() &&
      shape[0].value() > static_cast<int64_t>(kMostKnownElements)) {
    return std::nullopt;
  }
  return context.Dims(i);
}

std::optional<std::vector<std::vector<Dim>>> KnownElementsBroadcast(const InferContext& context) {
  std::vector<std::vector<Dim>> out;
  size_t length = 1;
  for (size_t i = 0; i < context.input_count(); ++i) {
    auto elements = KnownElements(context, i);
    if (!elements) return std::nullopt;
    if (elements->size() != 1) length = elements->size();
    out.push_back(std::move(*elements));
  }
  for (std::vector<Dim>& elements : out) {
    if (elements.size() == 1) elements.resize(length, elements[0]);
    if (elements.size() != length) return std::nullopt;
  }
  return out;
}

void SetKnownElements(InferContext& context, size_t i, std::vector<Dim> elements) {
  if (i >= context.output_count()) return;
  const ValueType& type = context.outputs()[i].type;
  if (!types::kIndex.Contains(type.dtype) || !type.shape.has_rank() || type.shape.rank() > 1)
    return;
  const bool fits = std::all_of(elements.begin(), elements.end(), [&](const Dim& element) {
    if (!element.is_constant()) return true;
    const int64_t value = element.value();
    // Dim arithmetic saturates: its ends stand for anything beyond.
    if (type.dtype == DataType::kInt64) return value != INT64_MAX && value != INT64_MIN;
    return value >= INT32_MIN && value <= INT32_MAX;
  });
  if (fits && elements.size() <= kMostKnownElements) context.SetOutputDims(i, std::move(elements));
}

}  // namespace asc
