// Operators that look at shapes rather than elements: Shape, Size.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

// [start, end) of the axes that Shape lists; both ends are clamped, negative ones count from the
// rank.
std::pair<size_t, size_t> AxisRange(const AttributeMap& attributes, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  const auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + r : axis, 0, r);
  };
  const int64_t begin = clamp(attributes.Int("start", 0));
  const int64_t end = clamp(attributes.Int("end", r));
  return {static_cast<size_t>(begin), static_cast<size_t>(std::max(begin, end))};
}

Status InferShape(InferContext& context) {
  const Shape& in = context.shape(0);
  if (!in.has_rank()) {
    context.SetOutput(0, DataType::kInt64, Shape::UnknownDims(1));
    return Ok();
  }
  const auto [begin, end] = AxisRange(context.attributes(), in.rank());
  context.SetOutput(0, DataType::kInt64, Shape({Dim(static_cast<int64_t>(end - begin))}));
  SetKnownElements(context, 0,
                   std::vector<Dim>(in.dims().begin() + static_cast<ptrdiff_t>(begin),
                                    in.dims().begin() + static_cast<ptrdiff_t>(end)));
  return Ok();
}

Status ShapeKernel(KernelContext& context) {
  const Tensor& in = context.input(0);
  const auto [begin, end] = AxisRange(context.attributes(), in.rank());
  std::copy(in.dims().begin() + static_cast<ptrdiff_t>(begin),
            in.dims().begin() + static_cast<ptrdiff_t>(end), context.output(0).data<int64_t>());
  return Ok();
}

Status InferSize(InferContext& context) {
  context.SetOutput(0, DataType::kInt64, Shape(std::vector<Dim>{}));
  if (context.shape(0).has_rank()) SetKnownElements(context, 0, {context.shape(0).ElementCount()});
  return Ok();
}

Status SizeKernel(KernelContext& context) {
  *context.output(0).data<int64_t>() = context.input(0).size();
  return Ok();
}
}  // namespace

void AddShapeQueryOps(OpTable& table) {
  table.Add("Shape", 25)
      .Doc("the extents of axes start to end (clamped to the rank)")
      .Input("data", "T")
      .Output("shape", "T1")
      .Types("T", types::kAll)
      .Types("T1", types::kInt64)
      .Attr("start", int64_t{0})
      .OptionalAttr("end", AttributeType::kInt)
      .Class(OpClass::kOther)
      .Infer(InferShape)
      .Kernel(ShapeKernel);
  table.Add("Size", 25)
      .Doc("the number of elements")
      .Input("data", "T")
      .Output("size", "T1")
      .Types("T", types::kAll)
      .Types("T1", types::kInt64)
      .Class(OpClass::kOther)
      .Infer(InferSize)
      .Kernel(SizeKernel);
}

}  // namespace asc
