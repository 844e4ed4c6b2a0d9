// MaxUnpool: puts pooled elements back to where they came from, with zeros elsewhere.
#include <algorithm>
#include <cstring>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"
#include "core/ops/window.h"

namespace asc {
namespace {
// The extents that a pool of these attributes came from: what indices count in.
Result<Shape> SourceShape(const AttributeMap& attributes, const Shape& x) {
  ASC_ASSIGN_OR_RETURN(const WindowSpec spec,
                       ReadWindow("MaxUnpool", attributes, std::nullopt, x.rank() - 2));
  Shape out = x;
  for (size_t i = 0; i < spec.rank(); ++i) {
    out[i + 2] = (x[i + 2] - Dim(1)) * Dim(spec.strides[i]) +
                 Dim(spec.kernel[i] - spec.pads_begin[i] - spec.pads_end[i]);
  }
  return out;
}

Status InferMaxUnpool(InferContext& context) {
  const Shape& x = context.shape(0);
  const Shape& indices = context.shape(1);
  context.SetOutput(0, context.dtype(0));
  if (!x.has_rank()) return Ok();
  if (x.rank() < 3)
    return ShapeError("MaxUnpool needs data [N, C, extents...] of rank 3 or more, given ", x);
  if (indices.is_static() && x.is_static() && *indices.ToDims() != *x.ToDims()) {
    return ShapeError("MaxUnpool needs an index for each element of x ", x, ", given ", indices);
  }
  ASC_ASSIGN_OR_RETURN(Shape source, SourceShape(context.attributes(), x));
  if (!context.HasInput(2)) {
    for (const Dim& extent : source.dims()) {
      if (extent.is_constant() && extent.value() < 0)
        return ShapeError("MaxUnpool of ", x, " would give shape ", source);
    }
    context.SetOutput(0, context.dtype(0), std::move(source));
    return Ok();
  }
  const auto wanted = context.Dims(2);
  if (!wanted) {
    context.SetOutput(0, context.dtype(0), Shape::UnknownDims(x.rank()));
    return Ok();
  }
  bool fits = wanted->size() == x.rank();
  for (size_t i = 0; fits && i < x.rank(); ++i) {
    const Dim& have = (*wanted)[i];
    fits = !have.is_constant() || !source[i].is_constant() || have.value() >= source[i].value();
  }
  if (!fits)
    return ShapeError("MaxUnpool needs an output_shape of at least ", source, ", given ", *wanted);
  context.SetOutput(0, context.dtype(0), Shape(*wanted));
  return Ok();
}

// Indices count in the source's shape, which lies in the first corner of a larger output.
Status MaxUnpool(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  ASC_ASSIGN_OR_RETURN(const Shape shape, SourceShape(context.attributes(), Shape(x.dims())));
  const Dims source = *shape.ToDims();
  const Dims strides = ContiguousStrides(y.dims());
  const int64_t elements = ElementCount(source);
  const int64_t* indices = context.input(1).data<int64_t>();
  if (y.bytes() > 0) std::memset(y.raw(), 0, y.bytes());
  const auto bad = std::find_if(indices, indices + x.size(), [&](int64_t index) {
    return static_cast<uint64_t>(index) >= static_cast<uint64_t>(elements);
  });
  if (bad != indices + x.size()) {
    return Error(Code::kOutOfRange, "MaxUnpool has index ", *bad, " for a source of shape ",
                 source);
  }
  const bool same = source == y.dims();  // the usual case: an index is the place itself
  const bool done = VisitFloats(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    if (same) {
      for (int64_t i = 0; i < x.size(); ++i) to[indices[i]] = from[i];
      return;
    }
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t rest = indices[i], at = 0;
      for (size_t axis = source.size(); axis-- > 0;) {
        at += rest % source[axis] * strides[axis];
        rest /= source[axis];
      }
      to[at] = from[i];
    }
  });
  return done ? Ok() : NoKernel(context);
}
}  // namespace

void AddMaxUnpoolOps(OpTable& table) {
  table.Add("MaxUnpool", 22)
      .Doc("puts the results of a MaxPool back to where they came from, zeros elsewhere")
      .Method("max_unpool2d")
      .Input("x", "T1")
      .Input("indices", "T2")
      .OptionalInput("output_shape", "T2")
      .Output("output", "T1")
      .Types("T1", types::kFloats)
      .Types("T2", types::kInt64)
      .RequiredAttr("kernel_shape", AttributeType::kInts, "kernel_size", "window extents")
      .OptionalAttr("strides", AttributeType::kInts, "stride", "step between windows; default 1")
      .OptionalAttr("pads", AttributeType::kInts, "padding",
                    "begins of all axes, then ends; default 0")
      .Infer(InferMaxUnpool)
      .Kernel(MaxUnpool);
}

}  // namespace asc
