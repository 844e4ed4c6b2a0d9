// Operators whose result's extent only the data knows: NonZero, Compress, Unique.
#include <algorithm>
#include <complex>
#include <numeric>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/row_copy.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kSelected = types::kNumeric | types::kBool | types::kString | types::kComplex;

template <typename F>
void VisitSelected(DataType type, F f) {
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>(type,
                                                                                              f);
}

// ---- NonZero ----

// The number of rows is the rank: none for a scalar (as ONNX has it; NumPy says one).
Status InferNonZero(InferContext& context) {
  const Shape& in = context.shape(0);
  context.SetOutput(0, DataType::kInt64,
                    Shape({in.has_rank() ? Dim(static_cast<int64_t>(in.rank())) : Dim::Unknown(),
                           Dim::Unknown()}));
  return Ok();
}

template <typename T>
bool IsNonZero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return !value.empty();
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value) != 0.0f;
  } else {
    return value != T(0);
  }
}

Status NonZero(KernelContext& context) {
  const Tensor& in = context.input(0);
  std::vector<int64_t> found;
  VisitSelected(in.dtype(), [&](auto zero) {
    const auto* x = in.data<decltype(zero)>();
    for (int64_t i = 0; i < in.size(); ++i) {
      if (IsNonZero(x[i])) found.push_back(i);
    }
  });
  const auto count = static_cast<int64_t>(found.size());
  ASC_ASSIGN_OR_RETURN(
      Tensor * out,
      context.AllocateOutput(0, DataType::kInt64, {static_cast<int64_t>(in.rank()), count}));
  int64_t* y = out->data<int64_t>();
  const Dims strides = ContiguousStrides(in.dims());
  for (size_t axis = 0; axis < in.rank(); ++axis) {
    for (int64_t i = 0; i < count; ++i)
      *y++ = found[static_cast<size_t>(i)] / strides[axis] % in.dim(axis);
  }
  return Ok();
}

// ---- Compress ----

Status InferCompress(InferContext& context) {
  const Shape& in = context.shape(0);
  ASC_RETURN_IF_ERROR(CheckRank(context, 1, 1));
  if (!context.attributes().Has("axis")) {
    context.SetOutput(0, context.dtype(0), Shape::UnknownDims(1));
    return Ok();
  }
  Shape out = in;
  if (in.has_rank()) {
    ASC_ASSIGN_OR_RETURN(const int64_t axis,
                         AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
    out[static_cast<size_t>(axis)] = Dim::Unknown();
  }
  context.SetOutput(0, context.dtype(0), std::move(out));
  return Ok();
}

Status Compress(KernelContext& context) {
  const Tensor &in = context.input(0), &condition = context.input(1);
  Dims dims = {in.size()};
  size_t axis = 0;
  if (context.attributes().Has("axis")) {
    ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                         AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
    axis = static_cast<size_t>(attribute);
    dims = in.dims();
  }
  const int64_t extent = dims[axis];
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (!condition.data<bool>()[i]) continue;
    if (i >= extent) {
      return Error(Code::kOutOfRange, "Compress condition is true at ", i, ", the axis has ",
                   extent, " elements");
    }
    kept.push_back(i);
  }
  const auto count = static_cast<int64_t>(kept.size());
  const int64_t outer = ElementCount(dims, 0, axis);
  const RowCopier rows(in.dtype(), ElementCount(dims, axis + 1, dims.size()));
  dims[axis] = count;
  ASC_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, in.dtype(), dims));
  const void* const from = in.raw();
  void* const to = out->raw();
  ParallelFor(outer * count, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin, o = begin / count, i = begin % count; row < end; ++row) {
      rows.Copy(to, row, from, o * extent + kept[static_cast<size_t>(i)]);
      if (++i == count) i = 0, ++o;
    }
  });
  return Ok();
}

// ---- Unique ----

Status InferUnique(InferContext& context) {
  const Shape& in = context.shape(0);
  const Dim count = Dim::Unknown();
  Shape values({count});
  Dim inverse = in.has_rank() ? in.ElementCount() : Dim::Unknown();
  if (context.attributes().Has("axis")) {
    values = in;
    if (in.has_rank()) {
      ASC_ASSIGN_OR_RETURN(const int64_t axis,
                           AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
      inverse = in[static_cast<size_t>(axis)];
      values[static_cast<size_t>(axis)] = count;
    }
  }
  context.SetOutput(0, context.dtype(0), std::move(values));
  context.SetOutput(1, DataType::kInt64, Shape({count}));
  context.SetOutput(2, DataType::kInt64, Shape({inverse}));
  context.SetOutput(3, DataType::kInt64, Shape({count}));
  return Ok();
}

// -1, 0 or 1. NaN comes last and equals itself, as in NumPy; complex numbers go by real, then by
// imaginary part.
template <typename T>
int Compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const int real = Compare(a.real(), b.real());
    return real != 0 ? real : Compare(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return Compare(static_cast<float>(a), static_cast<float>(b));
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b) return static_cast<int>(a != a) - static_cast<int>(b != b);
    }
    return a < b ? -1 : static_cast<int>(b < a);
  }
}

struct Groups {
  std::vector<int64_t> first, counts;  // of each group, in output order
  std::vector<int64_t> inverse;        // the group of each row
};

// Groups `count` rows of `width` elements by content.
template <typename T>
Groups GroupRows(const T* rows, int64_t count, int64_t width, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < width; ++i) {
      if (const int result = Compare(rows[a * width + i], rows[b * width + i]); result != 0)
        return result;
    }
    return 0;
  };
  // Equal rows stay in order, so each group begins with its first occurrence.
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  Groups groups;
  groups.inverse.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<size_t> by_first(groups.first.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::sort(by_first.begin(), by_first.end(),
            [&](size_t a, size_t b) { return groups.first[a] < groups.first[b]; });
  Groups out;
  std::vector<int64_t> position(by_first.size());
  for (const size_t group : by_first) {
    position[group] = static_cast<int64_t>(out.first.size());
    out.first.push_back(groups.first[group]);
    out.counts.push_back(groups.counts[group]);
  }
  for (const int64_t group : groups.inverse)
    out.inverse.push_back(position[static_cast<size_t>(group)]);
  return out;
}

Status Unique(KernelContext& context) {
  const Tensor& in = context.input(0);
  Dims dims = {in.size()};
  size_t axis = 0;
  if (context.attributes().Has("axis")) {
    ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                         AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
    axis = static_cast<size_t>(attribute);
    dims = in.dims();
  }
  const int64_t outer = ElementCount(dims, 0, axis), count = dims[axis],
                inner = ElementCount(dims, axis + 1, dims.size());
  // The axis comes first, so that the subtensors are rows.
  Tensor rows = in;
  if (outer != 1) {
    ASC_ASSIGN_OR_RETURN(rows, Tensor::Allocate(in.dtype(), {count, outer, inner},
                                                context.run().allocator, MemoryUse::kScratch));
    StridedCopy(in.dtype(), rows.dims(), {in.raw(), 0, {inner, count * inner, 1}},
                {rows.raw(), 0, {outer * inner, inner, 1}});
  }
  Groups groups;
  const bool sorted = context.attributes().Int("sorted", 1) != 0;
  VisitSelected(in.dtype(), [&](auto zero) {
    groups = GroupRows(rows.data<decltype(zero)>(), count, outer * inner, sorted);
  });
  const auto kept = static_cast<int64_t>(groups.first.size());
  dims[axis] = kept;
  ASC_ASSIGN_OR_RETURN(Tensor * values, context.AllocateOutput(0, in.dtype(), dims));
  const RowCopier copier(in.dtype(), inner);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < kept; ++i) {
      copier.Copy(values->raw(), o * kept + i, in.raw(),
                  o * count + groups.first[static_cast<size_t>(i)]);
    }
  }
  const std::vector<int64_t>* extras[] = {&groups.first, &groups.inverse, &groups.counts};
  for (size_t i = 0; i < 3; ++i) {
    if (!context.HasOutput(i + 1)) continue;
    ASC_ASSIGN_OR_RETURN(
        Tensor * extra,
        context.AllocateOutput(i + 1, DataType::kInt64, {static_cast<int64_t>(extras[i]->size())}));
    std::copy(extras[i]->begin(), extras[i]->end(), extra->data<int64_t>());
  }
  return Ok();
}
}  // namespace

void AddSelectOps(OpTable& table) {
  table.Add("NonZero", 13)
      .Doc("the indices of all elements that are not zero, one row an axis")
      .Input("X", "T")
      .Output("Y", "tensor(int64)")
      .Types("T", kSelected)
      .Types("tensor(int64)", types::kInt64)
      .Method("nonzero")
      .ShapeFromKernel()
      .Infer(InferNonZero)
      .Kernel(NonZero);
  table.Add("Compress", 28)
      .Doc(
          "the slices along an axis (default: elements of the flattened input) where a condition "
          "holds")
      .Input("input", "T")
      .Input("condition", "T1")
      .Output("output", "T")
      .Types("T", kSelected)
      .Types("T1", types::kBool)
      .OptionalAttr("axis", AttributeType::kInt)
      .ShapeFromKernel()
      .Infer(InferCompress)
      .Kernel(Compress);
  table.Add("Unique", 28)
      .Doc(
          "the different elements, or slices along an axis, with first positions, inverse and "
          "counts")
      .Input("X", "T")
      .Output("Y", "T")
      .OptionalOutput("indices", "tensor(int64)")
      .OptionalOutput("inverse_indices", "tensor(int64)")
      .OptionalOutput("counts", "tensor(int64)")
      .Types("T", kSelected)
      .Types("tensor(int64)", types::kInt64)
      .OptionalAttr("axis", AttributeType::kInt, "dim")
      .Attr("sorted", int64_t{1}, "sorted", "0: in order of first occurrence")
      .ShapeFromKernel()
      .Infer(InferUnique)
      .Kernel(Unique);
}

}  // namespace asc
