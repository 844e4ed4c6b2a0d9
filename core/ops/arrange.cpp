// Operators that keep or blank elements by position: Trilu, ReverseSequence, OneHot.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/row_copy.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kMoved = types::kNumeric | types::kBool | types::kString | types::kComplex;

// ---- Trilu ----

Status InferTrilu(InferContext& context) {
  const Shape& in = context.shape(0);
  if (in.has_rank() && in.rank() < 2)
    return ShapeError("Trilu needs an input of rank 2 or more, given shape ", in);
  if (context.HasInput(1) && context.shape(1).is_static() &&
      !context.shape(1).ElementCount().IsConstant(1)) {
    return ShapeError("Trilu input 'k' must be a scalar, given shape ", context.shape(1));
  }
  return InferSameAsFirst(context);
}

// Zeros, or empty strings.
template <typename T>
void Blank(T* y, int64_t count) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::fill_n(y, count, std::string());
  } else {
    std::memset(y, 0, static_cast<size_t>(count) * sizeof(T));
  }
}

Status Trilu(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  const bool upper = context.attributes().Int("upper", 1) != 0;
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  const int64_t k = std::clamp<int64_t>(context.HasInput(1) ? *context.input(1).data<int64_t>() : 0,
                                        -rows - 1, columns + 1);
  if (out.size() == 0) return Ok();
  VisitBySize(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(in.raw());
    T* to = static_cast<T*>(out.raw());
    constexpr int64_t kGrain = (1 << 16) / sizeof(T);
    ParallelFor(out.size() / columns, std::max<int64_t>(1, kGrain / columns),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    // Column `edge` is the first on or above diagonal k.
                    const int64_t edge = row % rows + k;
                    const T* x = from + row * columns;
                    T* y = to + row * columns;
                    const int64_t first = upper ? std::clamp<int64_t>(edge, 0, columns) : 0,
                                  last =
                                      upper ? columns : std::clamp<int64_t>(edge + 1, 0, columns);
                    Blank(y, first);
                    std::copy(x + first, x + last, y + first);
                    Blank(y + last, columns - last);
                  }
                });
  });
  return Ok();
}

// ---- ReverseSequence ----

struct SequenceAxes {
  size_t time, batch;
};

template <typename Context>
Result<SequenceAxes> ReadAxes(const Context& context, size_t rank) {
  ASC_ASSIGN_OR_RETURN(const int64_t time,
                       AxisAttribute(context, "time_axis", static_cast<int64_t>(rank)));
  ASC_ASSIGN_OR_RETURN(const int64_t batch,
                       AxisAttribute(context, "batch_axis", static_cast<int64_t>(rank)));
  if (time == batch)
    return InvalidArgument("ReverseSequence time_axis and batch_axis must differ, given ", time,
                           " for both");
  return SequenceAxes{static_cast<size_t>(time), static_cast<size_t>(batch)};
}

Status InferReverseSequence(InferContext& context) {
  const Shape &in = context.shape(0), &lengths = context.shape(1);
  ASC_RETURN_IF_ERROR(CheckRank(context, 1, 1));
  if (in.has_rank()) {
    if (in.rank() < 2)
      return ShapeError("ReverseSequence needs an input of rank 2 or more, given shape ", in);
    ASC_ASSIGN_OR_RETURN(const SequenceAxes axes, ReadAxes(context, in.rank()));
    if (lengths.has_rank() && lengths[0].is_constant() && in[axes.batch].is_constant() &&
        !(lengths[0] == in[axes.batch])) {
      return ShapeError("ReverseSequence needs one length for each of ", in[axes.batch],
                        " batches, given ", lengths[0]);
    }
  }
  return InferSameAsFirst(context);
}

Status ReverseSequence(KernelContext& context) {
  const Tensor& in = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const SequenceAxes axes, ReadAxes(context, in.rank()));
  const int64_t* lengths = context.input(1).data<int64_t>();
  const int64_t batches = in.dim(axes.batch), times = in.dim(axes.time);
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (lengths[batch] < 0 || lengths[batch] > times) {
      return Error(Code::kOutOfRange, "ReverseSequence length ", lengths[batch], " of batch ",
                   batch, " is out of range: expected 0 to ", times);
    }
  }
  const Dims strides = ContiguousStrides(in.dims());
  // Both copies of a batch by one thread: small ones would cost more to share out than they take.
  const auto reverse = [&](int64_t batch) {
    const int64_t base = batch * strides[axes.batch], step = strides[axes.time],
                  length = lengths[batch];
    Dims dims = in.dims(), backwards = strides;
    dims[axes.batch] = 1;
    dims[axes.time] = length;
    backwards[axes.time] = -step;
    StridedCopy(in.dtype(), dims, {in.raw(), base + (length - 1) * step, backwards},
                {out.raw(), base, strides});
    dims[axes.time] = times - length;
    StridedCopy(in.dtype(), dims, {in.raw(), base + length * step, strides},
                {out.raw(), base + length * step, strides});
  };
  if (out.size() == 0) return Ok();
  const int64_t bytes = static_cast<int64_t>(out.bytes()) / batches;
  ParallelFor(batches, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, bytes)),
              [&](int64_t begin, int64_t end) {
                for (int64_t batch = begin; batch < end; ++batch) reverse(batch);
              });
  return Ok();
}

// ---- OneHot ----

// Integers exactly; others rounded to zero. nullopt where the value is no sensible index.
std::optional<int64_t> ReadIndex(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DataType::kUInt64) {
    const uint64_t value = tensor.data<uint64_t>()[i];
    return value > static_cast<uint64_t>(INT64_MAX) ? std::nullopt
                                                    : std::optional(static_cast<int64_t>(value));
  }
  if (IsInteger(tensor.dtype())) return ReadAsInt64(tensor.dtype(), tensor.raw(), i);
  const double value = ReadAsDouble(tensor.dtype(), tensor.raw(), i);
  return std::fabs(value) < 0x1p62 ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

Status InferOneHot(InferContext& context) {
  const Shape &indices = context.shape(0), &depth_shape = context.shape(1),
              &values = context.shape(2);
  ASC_RETURN_IF_ERROR(CheckRank(context, 2, 1));
  if (values.has_rank() && values[0].is_constant() && !values[0].IsConstant(2)) {
    return ShapeError("OneHot values must be [off, on], given ", values[0], " elements");
  }
  if (depth_shape.is_static() && !depth_shape.ElementCount().IsConstant(1)) {
    return ShapeError("OneHot depth must be a scalar, given shape ", depth_shape);
  }
  Dim depth = Dim::Unknown();
  if (const Tensor* constant = context.constant(1)) {
    const auto value = ReadIndex(*constant, 0);
    if (!value || *value < 0) return InvalidArgument("OneHot depth must not be negative");
    depth = Dim(*value);
  } else if (const auto dims = context.Dims(1); dims && dims->size() == 1) {
    depth = (*dims)[0];
  }
  context.SetOutput(0, context.dtype(2));
  if (!indices.has_rank()) return Ok();
  ASC_ASSIGN_OR_RETURN(const int64_t axis,
                       AxisAttribute(context, "axis", static_cast<int64_t>(indices.rank()) + 1));
  std::vector<Dim> dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  context.SetOutput(0, context.dtype(2), Shape(std::move(dims)));
  return CheckSize(context, 0);
}

Status OneHot(KernelContext& context) {
  const Tensor &indices = context.input(0), &values = context.input(2);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(out.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t depth = out.dim(axis), inner = ElementCount(out.dims(), axis + 1, out.rank());
  FillElements(values, out);
  const RowCopier cells(values.dtype(), 1);
  for (int64_t i = 0; i < indices.size(); ++i) {
    const auto index = ReadIndex(indices, i);
    if (!index || *index < -depth || *index >= depth) continue;
    const int64_t position = *index < 0 ? *index + depth : *index;
    cells.Copy(out.raw(), (i / inner * depth + position) * inner + i % inner, values.raw(), 1);
  }
  return Ok();
}
}  // namespace

void AddArrangeOps(OpTable& table) {
  table.Add("Trilu", 14)
      .Doc("the upper or lower triangle of matrices, from diagonal k on; zeros elsewhere")
      .Input("input", "T")
      .OptionalInput("k", "tensor(int64)")
      .Output("output", "T")
      .Types("T", kMoved)
      .Types("tensor(int64)", types::kInt64)
      .Attr("upper", int64_t{1})
      .Class(OpClass::kDataMovement)
      .Infer(InferTrilu)
      .Kernel(Trilu);
  table.Add("ReverseSequence", 28)
      .Doc("reverses the first sequence_lens[b] elements along the time axis of each batch b")
      .Input("input", "T")
      .Input("sequence_lens", "tensor(int64)")
      .Output("Y", "T")
      .Types("T", kMoved)
      .Types("tensor(int64)", types::kInt64)
      .Attr("batch_axis", int64_t{1})
      .Attr("time_axis", int64_t{0})
      .Class(OpClass::kDataMovement)
      .Infer(InferReverseSequence)
      .Kernel(ReverseSequence);
  table.Add("OneHot", 28)
      .Doc(
          "on at the index along a new axis of `depth`, off elsewhere; indices out of range give "
          "all off")
      .Input("indices", "T1")
      .Input("depth", "T2")
      .Input("values", "T3")
      .Output("output", "T3")
      .Types("T1", types::kNumeric - TypeSet{DataType::kBFloat16})
      .Types("T2", types::kNumeric - TypeSet{DataType::kBFloat16})
      .Types("T3", kMoved)
      .Attr("axis", int64_t{-1})
      .Infer(InferOneHot)
      .Kernel(OneHot);
}

}  // namespace asc
