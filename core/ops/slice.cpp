// Slice: NumPy's basic slicing along any axes, with steps of either sign.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"

namespace asc {
namespace {

// One axis of a slice with everything known: `count` elements from `first` on, `step` apart.
struct AxisSlice {
  int64_t first, step, count;
};

// Ends may be as far out as INT64_MIN and INT64_MAX.
AxisSlice ClampSlice(int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    return {start, step, end <= start ? 0 : (end - start - 1) / step + 1};
  }
  start =
      std::min(std::max<int64_t>(start, 0), extent - 1);  // unlike NumPy's: never before the first
  end = std::clamp<int64_t>(end, -1, extent - 1);
  // |step| is computed unsigned: -INT64_MIN does not exist.
  const auto length = static_cast<uint64_t>(start - end),
             stride = uint64_t{0} - static_cast<uint64_t>(step);
  return {start, step, start <= end ? 0 : static_cast<int64_t>((length - 1) / stride + 1)};
}

constexpr int64_t kFar = INT32_MAX;  // exporters write "to the end" as INT32_MAX or INT64_MAX

bool IsEnd(const Dim& end, const Dim& extent) {
  return end == extent || (end.is_constant() && end.value() >= kFar);
}

// How many elements [start, end) has along an axis of `extent`, step 1, as an expression; unknown
// where a sign is not known.
Dim UnitStepCount(const Dim& start, const Dim& end, const Dim& extent) {
  const Dim zero(0);
  const bool from_front = SurelyNonNegative(start);
  const bool from_back = start.is_constant() && start.value() < 0;
  if (!from_front && !from_back) return Dim::Unknown();
  if (IsEnd(end, extent)) {
    if (from_back) return Dim::Min(Dim(0) - start, extent);
    return start.IsConstant(0) ? extent : Dim::Max(extent - start, zero);
  }
  // One less than the extent is -1 when the extent is 0: either way nothing is left.
  const bool end_from_back = (end.is_constant() && end.value() < 0) || end == extent - Dim(1);
  if (!SurelyNonNegative(end) && !end_from_back) return Dim::Unknown();
  const Dim stop = end.is_constant() && end.value() < 0 ? Dim::Max(extent + end, zero)
                   : end_from_back                      ? Dim::Max(end, zero)
                                                        : Dim::Min(end, extent);
  if (start.IsConstant(0)) return stop;
  if (from_front)
    return Dim::Max(stop - start, zero);  // a start past the end gives no elements either way
  return Dim::Max(stop - Dim::Max(extent + start, zero), zero);
}

Dim SliceCount(const Dim& start, const Dim& end, const Dim& step, const Dim& extent) {
  if (!step.is_constant()) return Dim::Unknown();
  if (extent.is_constant() && start.is_constant() && end.is_constant()) {
    return Dim(ClampSlice(start.value(), end.value(), step.value(), extent.value()).count);
  }
  if (step.value() > 0) {
    const Dim count = UnitStepCount(start, end, extent);
    return step.IsConstant(1) || count.is_unknown() ? count : Dim::CeilDiv(count, step);
  }
  // Backwards over everything is the one case that models use.
  const bool whole = start.IsConstant(-1) && end.is_constant() && end.value() < -kFar / 2;
  return whole ? Dim::CeilDiv(extent, Dim(0) - step) : Dim::Unknown();
}

struct SliceArguments {
  std::vector<Dim> starts, ends, steps;
  asc::Dims axes;
};

// nullopt when the axes are not known.
Result<std::optional<SliceArguments>> ReadArguments(const InferContext& context, int64_t rank) {
  std::optional<int64_t> count;
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (!context.HasInput(i)) continue;
    ASC_ASSIGN_OR_RETURN(const std::optional<int64_t> length, VectorLength(context, i));
    if (!length) continue;
    if (count && *count != *length) {
      return ShapeError("Slice starts, ends, axes and steps must be of one length, given ", *count,
                        " and ", *length);
    }
    count = length;
  }
  SliceArguments out;
  if (context.HasInput(3)) {
    const auto axes = context.Ints(3);
    if (!axes) return std::optional<SliceArguments>();
    ASC_ASSIGN_OR_RETURN(out.axes, NormalizeAxes(*axes, rank, "Slice"));
    count = static_cast<int64_t>(axes->size());
  } else if (count && *count > rank) {
    return ShapeError("Slice of ", *count, " axes, the input has ", rank);
  } else if (count) {
    for (int64_t i = 0; i < *count; ++i) out.axes.push_back(i);
  }
  if (!count) return std::optional<SliceArguments>();
  const auto read = [&](size_t i, const Dim& otherwise) {
    const std::vector<Dim> absent(static_cast<size_t>(*count), otherwise);
    return context.HasInput(i) ? context.Dims(i).value_or(absent) : absent;
  };
  out.starts = read(1, Dim::Unknown());
  out.ends = read(2, Dim::Unknown());
  out.steps = read(4, context.HasInput(4) ? Dim::Unknown() : Dim(1));
  for (const Dim& step : out.steps) {
    if (step.IsConstant(0)) return InvalidArgument("Slice steps must not be 0, given ", out.steps);
  }
  return std::optional<SliceArguments>(std::move(out));
}

Status InferSlice(InferContext& context) {
  const Shape& in = context.shape(0);
  context.SetOutput(0, context.dtype(0));
  if (!in.has_rank()) return Ok();
  ASC_ASSIGN_OR_RETURN(const auto arguments,
                       ReadArguments(context, static_cast<int64_t>(in.rank())));
  if (!arguments) {
    context.SetOutput(0, context.dtype(0), Shape::UnknownDims(in.rank()));
    return Ok();
  }
  Shape out = in;
  for (size_t i = 0; i < arguments->axes.size(); ++i) {
    const auto axis = static_cast<size_t>(arguments->axes[i]);
    out[axis] = SliceCount(arguments->starts[i], arguments->ends[i], arguments->steps[i], in[axis]);
  }
  const bool one_known = arguments->axes.size() == 1 && in.rank() == 1 &&
                         arguments->starts[0].is_constant() && arguments->ends[0].is_constant() &&
                         arguments->steps[0].is_constant();
  context.SetOutput(0, context.dtype(0), std::move(out));
  if (const auto flow = KnownElements(context, 0); flow && one_known) {
    const AxisSlice slice =
        ClampSlice(arguments->starts[0].value(), arguments->ends[0].value(),
                   arguments->steps[0].value(), static_cast<int64_t>(flow->size()));
    std::vector<Dim> dims;
    for (int64_t i = 0; i < slice.count; ++i)
      dims.push_back((*flow)[static_cast<size_t>(slice.first + i * slice.step)]);
    SetKnownElements(context, 0, std::move(dims));
  }
  return Ok();
}

Status Slice(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const Dims starts, ReadIntegers(context.input(1)));
  ASC_ASSIGN_OR_RETURN(const Dims ends, ReadIntegers(context.input(2)));
  Dims axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (context.HasInput(3)) {
    ASC_ASSIGN_OR_RETURN(axes, ReadIntegers(context.input(3)));
  }
  if (context.HasInput(4)) {
    ASC_ASSIGN_OR_RETURN(steps, ReadIntegers(context.input(4)));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return ShapeError("Slice starts, ends, axes and steps must be of one length, given ", starts,
                      ", ", ends, ", ", axes, ", ", steps);
  }
  Dims strides = ContiguousStrides(in.dims()), dims = in.dims();
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ASC_ASSIGN_OR_RETURN(const int64_t normal,
                         NormalizeAxis(axes[i], static_cast<int64_t>(in.rank())));
    const auto axis = static_cast<size_t>(normal);
    const AxisSlice slice = ClampSlice(starts[i], ends[i], steps[i], in.dim(axis));
    dims[axis] = slice.count;
    if (slice.count > 0) offset += slice.first * strides[axis];
    strides[axis] = slice.count > 1 ? strides[axis] * slice.step
                                    : 0;  // a huge step of a single element is never taken
  }
  if (dims != out.dims()) return ShapeError("Slice gives ", dims, ", planned for ", out.dims());
  StridedCopy(in.dtype(), dims, {in.raw(), offset, strides},
              {out.raw(), 0, ContiguousStrides(dims)});
  return Ok();
}
}  // namespace

void AddSliceOps(OpTable& table) {
  table.Add("Slice", 13)
      .Doc("x[start:end:step] along the given axes, by NumPy's rules; steps may be negative")
      .Input("data", "T")
      .Input("starts", "Tind")
      .Input("ends", "Tind")
      .OptionalInput("axes", "Tind")
      .OptionalInput("steps", "Tind")
      .Output("output", "T")
      .Types("T", types::kAll)
      .Types("Tind", types::kIndex)
      .Class(OpClass::kDataMovement)
      .Infer(InferSlice)
      .Kernel(Slice);
}

}  // namespace asc
