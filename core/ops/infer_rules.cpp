#include "core/ops/infer_rules.h"

namespace asc {
namespace {
Status InferBroadcastAs(InferContext& context, DataType dtype) {
  Shape shape = context.shape(0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) continue;
    ASC_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, context.shape(i)));
  }
  context.SetOutput(0, dtype, std::move(shape));
  return Ok();
}
}  // namespace

Status InferSameAsFirst(InferContext& context) {
  context.SetOutput(0, context.type(0));
  return Ok();
}

Status InferBroadcast(InferContext& context) { return InferBroadcastAs(context, context.dtype(0)); }

Status InferBroadcastBool(InferContext& context) { return InferBroadcastAs(context, DataType::kBool); }

}  // namespace asc
