// Operators that keep the elements and their order: Identity, Reshape, Flatten, Squeeze, Unsqueeze.
// Where the plan lets the output share the input's memory, their kernels have nothing to do.
#include "core/ops/view.h"

#include <algorithm>
#include <array>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

Status CopyKernel(KernelContext& context) {
  if (context.input(0).size() != context.output(0).size()) {
    return ShapeError(context.schema().FullName(), " of shape ", context.input(0).dims(),
                      " cannot give shape ", context.output(0).dims());
  }
  CopyElements(context.input(0), context.output(0));
  return Ok();
}

Status InferIdentity(InferContext& context) {
  ASC_RETURN_IF_ERROR(InferSameAsFirst(context));
  if (context.type(0).is_tensor()) PassKnownElements(context, 0);
  return Ok();
}

Status Identity(KernelContext& context) {
  if (context.input_value(0).is_tensor()) return CopyKernel(context);
  context.SetOutput(0, context.input_value(0));
  return Ok();
}

// ---- Reshape ----

Status ReshapeMismatch(const InferContext& context, const std::vector<Dim>& target) {
  return ShapeError("Reshape cannot make ", target, " of ", context.shape(0),
                    ": the numbers of elements differ")
      .WithHint("one extent of the new shape may be -1: it is computed from the others");
}

// The shape that `target` asks for. -1 takes what is left; 0 copies the input's extent unless
// allowzero.
Status InferReshapeTo(InferContext& context, const std::vector<Dim>& target) {
  const bool allow_zero = context.attributes().Int("allowzero", 0) != 0;
  const Shape& in = context.shape(0);
  std::vector<Dim> dims(target.size());
  std::optional<size_t> open;
  bool has_zero = false;
  Dim made(1), copied(1);  // the product of the extents that are given, and of those copied by a 0
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].IsConstant(-1)) {
      if (open) return InvalidArgument("Reshape to ", target, ": only one extent may be -1");
      open = i;
    } else if (target[i].is_constant() && target[i].value() < 0) {
      return InvalidArgument("Reshape to ", target, ": extents must be -1 or more");
    } else if (target[i].IsConstant(0) && !allow_zero) {
      if (!in.has_rank()) {
        dims[i] = Dim::Unknown();
      } else if (i >= in.rank()) {
        return ShapeError("Reshape to ", target, ": 0 at position ", i,
                          " copies an extent that the input of shape ", in, " does not have");
      } else {
        dims[i] = in[i];
      }
      copied = copied * dims[i];
    } else {
      has_zero |= target[i].IsConstant(0);
      dims[i] = target[i];
      made = made * dims[i];
    }
  }
  if (open && has_zero)
    return InvalidArgument("Reshape to ", target, ": -1 and 0 together leave an extent open");
  if (!in.has_rank()) {
    if (open) dims[*open] = Dim::Unknown();
  } else if (open) {
    // What a 0 copied is on both sides; leaving it out keeps the rest defined when it is zero.
    Dim left(1);
    for (size_t i = 0; i < in.rank(); ++i) {
      const bool is_copied = i < target.size() && target[i].IsConstant(0) && !allow_zero;
      if (!is_copied) left = left * in[i];
    }
    if (left.is_constant() && made.is_constant()) {
      if (made.value() == 0) {
        return ShapeError("Reshape of ", in, " to ", target,
                          ": -1 stays open, the other extents give no elements");
      }
      if (left.value() % made.value() != 0) return ReshapeMismatch(context, target);
    }
    dims[*open] = Dim::FloorDiv(left, made);
  } else {
    const Dim count = in.ElementCount(), wanted = made * copied;
    if (count.is_constant() && wanted.is_constant() && !(count == wanted))
      return ReshapeMismatch(context, target);
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  PassKnownElements(context, 0);
  return Ok();
}

Status InferReshape(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, 1));
  if (const auto target = context.Dims(1)) return InferReshapeTo(context, *target);
  context.SetOutput(0, context.dtype(0),
                    length ? Shape::UnknownDims(static_cast<size_t>(*length)) : Shape());
  return Ok();
}

// ---- Flatten, Squeeze, Unsqueeze ----

// How many axes input 1 names; a scalar names one.
Result<std::optional<int64_t>> AxisCount(const InferContext& context) {
  if (context.shape(1).has_rank() && context.shape(1).rank() == 0) return std::optional<int64_t>(1);
  return VectorLength(context, 1);
}

Status InferFlatten(InferContext& context) {
  const Shape& in = context.shape(0);
  if (!in.has_rank()) {
    context.SetOutput(0, context.dtype(0), Shape::UnknownDims(2));
    return Ok();
  }
  const auto rank = static_cast<int64_t>(in.rank());
  int64_t axis = context.attributes().Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return InvalidArgument("Flatten axis ", axis, " is out of range for shape ", in, ": expected ",
                           -rank, " to ", rank);
  }
  if (axis < 0) axis += rank;
  Dim before(1), after(1);
  for (int64_t i = 0; i < rank; ++i) {
    Dim& side = i < axis ? before : after;
    side = side * in[static_cast<size_t>(i)];
  }
  context.SetOutput(0, context.dtype(0), Shape({before, after}));
  return Ok();
}

Status InferSqueeze(InferContext& context) {
  const Shape& in = context.shape(0);
  std::optional<Dims> axes;
  if (context.HasInput(1)) {
    ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, AxisCount(context));
    const auto given = context.Ints(1);
    if (!given || !in.has_rank()) {
      const bool known = length && in.has_rank() && static_cast<int64_t>(in.rank()) >= *length;
      context.SetOutput(
          0, context.dtype(0),
          known ? Shape::UnknownDims(in.rank() - static_cast<size_t>(*length)) : Shape());
      return Ok();
    }
    ASC_ASSIGN_OR_RETURN(axes, NormalizeAxes(*given, static_cast<int64_t>(in.rank()), "Squeeze"));
  } else if (!in.is_static()) {
    context.SetOutput(0, context.dtype(0));  // any open extent may turn out to be 1
    return Ok();
  }
  std::vector<Dim> dims;
  for (size_t i = 0; i < in.rank(); ++i) {
    const bool drop =
        axes ? std::find(axes->begin(), axes->end(), static_cast<int64_t>(i)) != axes->end()
             : in[i].IsConstant(1);
    if (!drop) {
      dims.push_back(in[i]);
    } else if (in[i].is_constant() && !in[i].IsConstant(1)) {
      return ShapeError("Squeeze of axis ", i, " of shape ", in, ": its extent must be 1");
    }
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  PassKnownElements(context, 0);
  return Ok();
}

Status InferUnsqueeze(InferContext& context) {
  const Shape& in = context.shape(0);
  ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, AxisCount(context));
  const auto given = context.Ints(1);
  if (!given || !in.has_rank()) {
    const bool known = length && in.has_rank();
    context.SetOutput(
        0, context.dtype(0),
        known ? Shape::UnknownDims(in.rank() + static_cast<size_t>(*length)) : Shape());
    return Ok();
  }
  const size_t rank = in.rank() + given->size();
  ASC_ASSIGN_OR_RETURN(const Dims axes,
                       NormalizeAxes(*given, static_cast<int64_t>(rank), "Unsqueeze"));
  std::vector<Dim> dims(rank);
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = Dim(1);
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      dims[i] = in[next++];
  }
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  PassKnownElements(context, 0);
  return Ok();
}
}  // namespace

bool KeepsElements(const OpSchema& schema) {
  static constexpr std::array<std::string_view, 5> kNames = {"Reshape", "Squeeze", "Unsqueeze",
                                                             "Flatten", "Identity"};
  return schema.domain.empty() &&
         std::find(kNames.begin(), kNames.end(), schema.name) != kNames.end();
}

void AddViewOps(OpTable& table) {
  table.Add("Identity", 25)
      .Doc("the input itself")
      .Input("input", "")
      .Output("output", "")
      .Class(OpClass::kView)
      .Infer(InferIdentity)
      .Kernel(Identity);
  const auto view = [&](std::string_view name, std::string_view doc, InferFn infer) {
    return table.Add(name, 25)
        .Doc(doc)
        .Input("data", "T")
        .Output("output", "T")
        .Types("T", types::kAll)
        .Class(OpClass::kView)
        .Infer(infer)
        .Kernel(CopyKernel);
  };
  view("Reshape",
       "the same elements under another shape; -1 takes what is left, 0 copies the input's extent",
       InferReshape)
      .Input("shape", "tensor(int64)")
      .Types("tensor(int64)", types::kInt64)
      .Attr("allowzero", int64_t{0}, "", "1: a 0 in `shape` means an extent of zero");
  view("Flatten", "a matrix: extents before `axis` times extents from it on", InferFlatten)
      .Attr("axis", int64_t{1}, "axis", "where the columns begin; the input's rank is allowed");
  view("Squeeze", "drops axes of extent 1: those named, or all", InferSqueeze)
      .OptionalInput("axes", "tensor(int64)")
      .Types("tensor(int64)", types::kInt64);
  view("Unsqueeze", "inserts axes of extent 1", InferUnsqueeze)
      .Input("axes", "tensor(int64)")
      .Types("tensor(int64)", types::kInt64);
}

}  // namespace asc
