// Expand and Tile: repeating without arithmetic. Both read through zero strides.
#include <algorithm>

#include "core/ops/broadcast_iterator.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

// ---- Expand ----

Status InferExpand(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, 1));
  const auto target = context.Dims(1);
  Shape wanted = target   ? Shape(*target)
                 : length ? Shape::UnknownDims(static_cast<size_t>(*length))
                          : Shape();
  for (size_t i = 0; target && i < target->size(); ++i) {
    if ((*target)[i].is_constant() && (*target)[i].value() < 0) {
      return InvalidArgument("Expand to ", *target, ": extents must not be negative");
    }
  }
  if (!target) {
    // Nothing but the rank, even where the input's extents leave no choice: a rule that knows more
    // than the target says would let the node go unchecked.
    const bool known = length && context.shape(0).has_rank();
    context.SetOutput(
        0, context.dtype(0),
        known ? Shape::UnknownDims(std::max(wanted.rank(), context.shape(0).rank())) : Shape());
    return Ok();
  }
  Result<Shape> shape = BroadcastShapes(context.shape(0), wanted);
  if (!shape.ok()) return std::move(shape).status().WithContext("Expand");
  context.SetOutput(0, context.dtype(0), std::move(shape).value());
  return CheckSize(context, 0);
}

Status Expand(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const Dims target, ReadIntegers(context.input(1)));
  Result<Dims> wanted = BroadcastDims(in.dims(), target);
  if (!wanted.ok()) return std::move(wanted).status().WithContext("Expand");
  if (*wanted != out.dims()) {
    return ShapeError("Expand of shape ", in.dims(), " to ", target, " gives ", *wanted,
                      ", planned for ", out.dims());
  }
  StridedCopy(in.dtype(), out.dims(), {in.raw(), 0, BroadcastStrides(in.dims(), out.dims())},
              {out.raw(), 0, ContiguousStrides(out.dims())});
  return Ok();
}

// ---- Tile ----

Status InferTile(InferContext& context) {
  const Shape& in = context.shape(0);
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, 1));
  if (length && in.has_rank() && static_cast<size_t>(*length) != in.rank()) {
    return ShapeError("Tile needs one repeat for each axis: given ", *length, " for shape ", in);
  }
  const auto repeats = context.Dims(1);
  if (!repeats || !in.has_rank()) {
    const auto rank = in.has_rank() ? std::optional(in.rank())
                      : length      ? std::optional(static_cast<size_t>(*length))
                                    : std::nullopt;
    context.SetOutput(0, context.dtype(0), rank ? Shape::UnknownDims(*rank) : Shape());
    return Ok();
  }
  Shape out = in;
  for (size_t i = 0; i < in.rank(); ++i) {
    const Dim& repeat = (*repeats)[i];
    if (repeat.is_constant() && repeat.value() < 0) {
      return InvalidArgument("Tile repeats must not be negative, given ", *repeats);
    }
    out[i] = in[i] * repeat;
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return CheckSize(context, 0);
}

Status Tile(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const Dims repeats, ReadIntegers(context.input(1)));
  // Each axis becomes two: (repeat, extent), the first with stride zero.
  const Dims strides = ContiguousStrides(in.dims());
  Dims dims, in_strides;
  for (size_t i = 0; i < in.rank(); ++i) {
    dims.push_back(repeats[i]);
    in_strides.push_back(0);
    dims.push_back(in.dim(i));
    in_strides.push_back(strides[i]);
  }
  StridedCopy(in.dtype(), dims, {in.raw(), 0, in_strides}, {out.raw(), 0, ContiguousStrides(dims)});
  return Ok();
}
}  // namespace

void AddExpandTileOps(OpTable& table) {
  table.Add("Expand", 13)
      .Doc("broadcasts to the given shape (both ways, as element-wise operators do)")
      .Input("input", "T")
      .Input("shape", "tensor(int64)")
      .Output("output", "T")
      .Types("T", types::kAll)
      .Types("tensor(int64)", types::kInt64)
      .Class(OpClass::kDataMovement)
      .Infer(InferExpand)
      .Kernel(Expand);
  table.Add("Tile", 13)
      .Doc("repeats the whole tensor `repeats[i]` times along axis i")
      .Input("input", "T")
      .Input("repeats", "T1")
      .Output("output", "T")
      .Types("T", types::kAll)
      .Types("T1", types::kInt64)
      .Class(OpClass::kDataMovement)
      .Infer(InferTile)
      .Kernel(Tile);
}

}  // namespace asc
