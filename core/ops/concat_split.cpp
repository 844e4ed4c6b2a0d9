// Concat and Split: joining along an axis and cutting along it.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

// ---- Concat ----

// Takes over what `shape` knows of the extents that must agree.
Status UnifyConcat(Shape& out, const Shape& shape, size_t axis, size_t input) {
  for (size_t i = 0; i < out.rank(); ++i) {
    if (i == axis) continue;
    if (out[i].is_constant() && shape[i].is_constant() && !(out[i] == shape[i])) {
      return ShapeError("Concat along axis ", axis, ": input ", input, " has shape ", shape,
                        ", which differs on axis ", i, " from ", out);
    }
    if (shape[i].is_constant() || (out[i].is_unknown() && !shape[i].is_unknown()))
      out[i] = shape[i];
  }
  return Ok();
}

Status InferConcat(InferContext& context) {
  std::optional<Shape> out;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Shape& shape = context.shape(i);
    if (!shape.has_rank()) continue;
    if (!out) out = shape;
    if (shape.rank() != out->rank()) {
      return ShapeError("Concat needs inputs of one rank: input ", i, " has shape ", shape,
                        ", others have rank ", out->rank());
    }
  }
  if (!out) {
    context.SetOutput(0, context.dtype(0));
    return Ok();
  }
  if (out->rank() == 0)
    return ShapeError("Concat cannot join scalars").WithHint("insert Unsqueeze");
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(out->rank())));
  const auto axis = static_cast<size_t>(attribute);
  Dim sum(0);
  std::optional<std::vector<Dim>> flow(std::in_place);
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Shape& shape = context.shape(i);
    if (shape.has_rank()) ASC_RETURN_IF_ERROR(UnifyConcat(*out, shape, axis, i));
    sum = sum + (shape.has_rank() ? shape[axis] : Dim::Unknown());
    const auto part = flow ? KnownElements(context, i) : std::nullopt;
    if (part) {
      flow->insert(flow->end(), part->begin(), part->end());
    } else {
      flow.reset();
    }
  }
  (*out)[axis] = sum;
  context.SetOutput(0, context.dtype(0), std::move(*out));
  if (flow) SetKnownElements(context, 0, std::move(*flow));
  return Ok();
}

Status Concat(KernelContext& context) {
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(out.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t rows = ElementCount(out.dims(), 0, axis),
                out_row = ElementCount(out.dims(), axis, out.rank());
  int64_t at = 0;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Tensor& in = context.input(i);
    const int64_t row = ElementCount(in.dims(), axis, in.rank());
    StridedCopy(out.dtype(), {rows, row}, {in.raw(), 0, {row, 1}}, {out.raw(), at, {out_row, 1}});
    at += row;
  }
  return Ok();
}

// ---- Split ----

Status InferSplit(InferContext& context) {
  const Shape& in = context.shape(0);
  const auto count = static_cast<int64_t>(context.output_count());
  const int64_t wanted = context.attributes().Int("num_outputs", count);
  if (wanted != count)
    return InvalidArgument("Split has num_outputs ", wanted, " but ", count, " outputs");
  if (context.HasInput(1) && context.attributes().Has("num_outputs")) {
    return InvalidArgument(
        "Split takes the input 'split' or the attribute 'num_outputs', not both");
  }
  const auto sizes = context.Dims(1);
  if (sizes && static_cast<int64_t>(sizes->size()) != count) {
    return ShapeError("Split into sizes ", *sizes, " has ", count, " outputs: expected ",
                      sizes->size());
  }
  if (!in.has_rank()) {
    for (size_t i = 0; i < context.output_count(); ++i) context.SetOutput(i, context.dtype(0));
    return Ok();
  }
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const Dim chunk = Dim::CeilDiv(in[axis], Dim(count));
  Dim sum(0);
  for (size_t i = 0; i < context.output_count(); ++i) {
    Shape shape = in;
    if (sizes) {
      const Dim& size = (*sizes)[i];
      if (size.is_constant() && size.value() < 0)
        return ShapeError("Split sizes must not be negative, given ", *sizes);
      sum = sum + size;
      shape[axis] = size;
    } else if (context.HasInput(1)) {
      shape[axis] = Dim::Unknown();
    } else if (const Dim even = Dim::FloorDiv(in[axis], Dim(count)); even == chunk) {
      shape[axis] = even;
    } else {
      // Full chunks first; the last ones get what is left, possibly nothing.
      const Dim left = in[axis] - Dim(static_cast<int64_t>(i)) * chunk;
      shape[axis] = Dim::Max(Dim(0), Dim::Min(chunk, left));
    }
    context.SetOutput(i, context.dtype(0), std::move(shape));
  }
  if (sizes && sum.is_constant() && in[axis].is_constant() && !(sum == in[axis])) {
    return ShapeError("Split sizes ", *sizes, " add up to ", sum, ", axis ", axis, " of shape ", in,
                      " has ", in[axis]);
  }
  if (const auto flow = KnownElements(context, 0); flow && sizes && context.Ints(1)) {
    size_t at = 0;
    for (size_t i = 0; i < context.output_count(); ++i) {
      const auto size = static_cast<size_t>((*sizes)[i].value());
      if (at + size > flow->size()) break;
      context.SetOutputDims(i, std::vector<Dim>(flow->begin() + static_cast<ptrdiff_t>(at),
                                                flow->begin() + static_cast<ptrdiff_t>(at + size)));
      at += size;
    }
  }
  return Ok();
}

Status Split(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t rows = ElementCount(in.dims(), 0, axis),
                in_row = ElementCount(in.dims(), axis, in.rank());
  const int64_t inner = ElementCount(in.dims(), axis + 1, in.rank()), extent = in.dim(axis);
  const auto count = static_cast<int64_t>(context.output_count());
  Dims sizes;
  if (context.HasInput(1)) {
    ASC_ASSIGN_OR_RETURN(sizes, ReadIntegers(context.input(1)));
  } else {
    const int64_t chunk = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * chunk, 0, chunk));
  }
  int64_t at = 0;
  for (size_t i = 0; i < context.output_count(); ++i) {
    const int64_t row = sizes[i] * inner;
    if (at + row > in_row)
      return ShapeError("Split sizes ", sizes, " exceed the extent ", extent, " of axis ", axis);
    if (context.HasOutput(i)) {
      StridedCopy(in.dtype(), {rows, row}, {in.raw(), at, {in_row, 1}},
                  {context.output(i).raw(), 0, {row, 1}});
    }
    at += row;
  }
  return Ok();
}
}  // namespace

void AddConcatSplitOps(OpTable& table) {
  table.Add("Concat", 13)
      .Doc("joins tensors along an axis")
      .Fusion("Concat")
      .Input("inputs", "T", ParameterKind::kVariadic)
      .Output("concat_result", "T")
      .Types("T", types::kAll)
      .RequiredAttr("axis", AttributeType::kInt, "dim", "the axis to join along")
      .Class(OpClass::kDataMovement)
      .Infer(InferConcat)
      .Kernel(Concat);
  table.Add("Split", 18)
      .Doc(
          "cuts a tensor along an axis into given sizes, or into num_outputs parts (the last may "
          "be smaller)")
      .Input("input", "T")
      .OptionalInput("split", "tensor(int64)")
      .Output("outputs", "T", ParameterKind::kVariadic)
      .Types("T", types::kAll)
      .Types("tensor(int64)", types::kInt64)
      .Attr("axis", int64_t{0}, "dim", "the axis to cut along")
      .OptionalAttr("num_outputs", AttributeType::kInt)
      .Class(OpClass::kDataMovement)
      .Infer(InferSplit)
      .Kernel(Split);
}

}  // namespace asc
