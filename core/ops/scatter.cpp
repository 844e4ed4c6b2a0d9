// ScatterElements, ScatterND, TensorScatter: copies of data with elements or slices written over,
// or reduced into. Indices out of range are refused at run (E5007). Updates are applied in order:
// the last one of a position wins.
#include <complex>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/row_copy.h"
#include "core/ops/shape_facts.h"
#include "core/ops/strided_copy.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kScattered = types::kNumeric | types::kBool | types::kString | types::kComplex;

enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

Result<Reduction> ReadReduction(const OpSchema& schema, const AttributeMap& attributes,
                                DataType type) {
  const std::string name = attributes.String("reduction", "none");
  Reduction reduction = Reduction::kNone;
  if (name == "add") {
    reduction = Reduction::kAdd;
  } else if (name == "mul") {
    reduction = Reduction::kMul;
  } else if (name == "min") {
    reduction = Reduction::kMin;
  } else if (name == "max") {
    reduction = Reduction::kMax;
  } else if (name != "none") {
    return InvalidArgument(schema.FullName(), " reduction '", name,
                           "' is not known: expected none, add, mul, min or max");
  }
  const bool ordered = reduction == Reduction::kMin || reduction == Reduction::kMax;
  if ((type == DataType::kString && reduction != Reduction::kNone) ||
      (IsComplex(type) && ordered)) {
    return TypeError(schema.FullName(), " cannot reduce ", DataTypeName(type), " by '", name, "'");
  }
  return reduction;
}

// Integers wrap around; NaN wins over numbers in min and max.
template <typename T>
T Combine(Reduction reduction, T old, T update) {
  if constexpr (std::is_same_v<T, std::string>) {
    return update;
  } else if constexpr (std::is_same_v<T, bool>) {
    const bool both = reduction == Reduction::kMul || reduction == Reduction::kMin;
    return both ? old && update : old || update;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return reduction == Reduction::kAdd ? old + update : old * update;
  } else if constexpr (std::is_integral_v<T>) {
    switch (reduction) {
      case Reduction::kAdd:
        return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(update));
      case Reduction::kMul:
        return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(update));
      case Reduction::kMin:
        return std::min(old, update);
      default:
        return std::max(old, update);
    }
  } else {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto a = static_cast<Wide>(old), b = static_cast<Wide>(update);
    switch (reduction) {
      case Reduction::kAdd:
        return T(a + b);
      case Reduction::kMul:
        return T(a * b);
      case Reduction::kMin:
        return a < b || a != a ? old : update;
      default:
        return a > b || a != a ? old : update;
    }
  }
}

// Reduces `count` updates into the elements from `at` on.
template <typename T>
void ReduceRun(Reduction reduction, T* out, const T* updates, int64_t count) {
  if (reduction == Reduction::kNone) {
    std::copy_n(updates, count, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i) out[i] = Combine<T>(reduction, out[i], updates[i]);
}

template <typename F>
void VisitScattered(DataType type, F f) {
  VisitType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
            uint32_t, uint64_t, bool, std::string, std::complex<float>, std::complex<double>>(type,
                                                                                              f);
}

// ---- ScatterElements ----

Status InferScatterElements(InferContext& context) {
  const Shape &data = context.shape(0), &indices = context.shape(1), &updates = context.shape(2);
  ASC_RETURN_IF_ERROR(
      ReadReduction(context.schema(), context.attributes(), context.dtype(0)).status());
  context.SetOutput(0, context.dtype(0), data);
  if (data.has_rank()) {
    if (data.rank() == 0)
      return ShapeError("ScatterElements needs data of rank 1 or more, given a scalar");
    ASC_RETURN_IF_ERROR(AxisAttribute(context, "axis", static_cast<int64_t>(data.rank())).status());
    if (indices.has_rank() && indices.rank() != data.rank()) {
      return ShapeError("ScatterElements needs data and indices of one rank, given shapes ", data,
                        " and ", indices);
    }
  }
  if (!indices.has_rank() || !updates.has_rank()) return Ok();
  bool same = indices.rank() == updates.rank();
  for (size_t i = 0; same && i < indices.rank(); ++i) {
    same = !indices[i].is_constant() || !updates[i].is_constant() || indices[i] == updates[i];
  }
  if (!same) {
    return ShapeError("ScatterElements needs indices and updates of one shape, given ", indices,
                      " and ", updates);
  }
  return Ok();
}

Status ScatterElements(KernelContext& context) {
  const Tensor &data = context.input(0), &index_tensor = context.input(1),
               &updates = context.input(2);
  Tensor& out = context.output(0);
  const size_t rank = data.rank();
  ASC_ASSIGN_OR_RETURN(const Reduction reduction,
                       ReadReduction(context.schema(), context.attributes(), data.dtype()));
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(rank)));
  const auto axis = static_cast<size_t>(attribute);
  for (size_t i = 0; i < rank; ++i) {
    if (i != axis && index_tensor.size() > 0 && index_tensor.dim(i) > data.dim(i)) {
      return ShapeError("ScatterElements indices of shape ", index_tensor.dims(),
                        " exceed data of shape ", data.dims(), " on axis ", i);
    }
  }
  ASC_ASSIGN_OR_RETURN(const IndexView indices,
                       IndexView::Make(index_tensor, data.dim(axis), "ScatterElements"));
  CopyElements(data, out);
  if (indices.size() == 0) return Ok();
  const Dims strides = ContiguousStrides(data.dims());
  const int64_t inner = index_tensor.dim(rank - 1), step = axis == rank - 1 ? 0 : 1;
  VisitScattered(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = updates.data<T>();
    T* to = out.data<T>();
    for (int64_t row = 0; row < updates.size() / inner; ++row) {
      int64_t base = 0, rest = row;
      for (size_t i = rank - 1; i-- > 0;) {
        if (i != axis) base += rest % index_tensor.dim(i) * strides[i];
        rest /= index_tensor.dim(i);
      }
      for (int64_t i = row * inner, j = 0; j < inner; ++i, ++j) {
        T& element = to[base + j * step + indices[i] * strides[axis]];
        element = reduction == Reduction::kNone ? from[i] : Combine<T>(reduction, element, from[i]);
      }
    }
  });
  return Ok();
}

// ---- ScatterND ----

Status InferScatterNd(InferContext& context) {
  const Shape &data = context.shape(0), &indices = context.shape(1), &updates = context.shape(2);
  ASC_RETURN_IF_ERROR(
      ReadReduction(context.schema(), context.attributes(), context.dtype(0)).status());
  context.SetOutput(0, context.dtype(0), data);
  if (!data.has_rank() || !indices.has_rank()) return Ok();
  if (data.rank() == 0 || indices.rank() == 0) {
    return ShapeError("ScatterND needs data and indices of rank 1 or more, given shapes ", data,
                      " and ", indices);
  }
  const Dim& width = indices[indices.rank() - 1];
  if (!width.is_constant()) return Ok();
  if (width.value() < 0 || width.value() > static_cast<int64_t>(data.rank())) {
    return ShapeError("ScatterND indices of shape ", indices, " name ", width,
                      " axes, data has shape ", data);
  }
  if (!updates.has_rank()) return Ok();
  std::vector<Dim> wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), data.dims().begin() + width.value(), data.dims().end());
  bool fits = wanted.size() == updates.rank();
  for (size_t i = 0; fits && i < wanted.size(); ++i) {
    fits = !wanted[i].is_constant() || !updates[i].is_constant() || wanted[i] == updates[i];
  }
  if (!fits)
    return ShapeError("ScatterND needs updates of shape ", Shape(wanted), ", given ", updates);
  return Ok();
}

Status ScatterNd(KernelContext& context) {
  const Tensor &data = context.input(0), &index_tensor = context.input(1),
               &updates = context.input(2);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const Reduction reduction,
                       ReadReduction(context.schema(), context.attributes(), data.dtype()));
  const auto width = static_cast<size_t>(index_tensor.dim(index_tensor.rank() - 1));
  const int64_t count = ElementCount(index_tensor.dims(), 0, index_tensor.rank() - 1);
  const int64_t row = ElementCount(data.dims(), width, data.rank());
  if (updates.size() != count * row) {
    return ShapeError("ScatterND has ", count, " index vectors of slices of ", row,
                      " elements, given updates of shape ", updates.dims());
  }
  const int64_t* indices = index_tensor.data<int64_t>();
  std::vector<int64_t> targets(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t& at = targets[static_cast<size_t>(i)];
    for (size_t k = 0; k < width; ++k) {
      ASC_ASSIGN_OR_RETURN(
          const int64_t index,
          CheckIndex(indices[i * static_cast<int64_t>(width) + static_cast<int64_t>(k)],
                     data.dim(k), "ScatterND"));
      at = at * data.dim(k) + index;
    }
  }
  if (out.size() == 0) return Ok();
  VisitScattered(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = data.data<T>();
    T* to = out.data<T>();
    // Each thread makes a part of the result: its copy, and what belongs there of all updates, in
    // their order.
    ParallelFor(out.size() / row, std::max<int64_t>(1, (1 << 15) / row),
                [&](int64_t begin, int64_t end) {
                  if (from != to) std::copy(from + begin * row, from + end * row, to + begin * row);
                  for (int64_t i = 0; i < count; ++i) {
                    const int64_t target = targets[static_cast<size_t>(i)];
                    if (target < begin || target >= end) continue;
                    ReduceRun<T>(reduction, to + target * row, updates.data<T>() + i * row, row);
                  }
                });
  });
  return Ok();
}

// ---- TensorScatter ----

Status InferTensorScatter(InferContext& context) {
  const Shape &cache = context.shape(0), &update = context.shape(1);
  const std::string mode = context.attributes().String("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return InvalidArgument("TensorScatter mode must be 'linear' or 'circular', given '", mode, "'");
  }
  context.SetOutput(0, context.dtype(0), cache);
  ASC_RETURN_IF_ERROR(CheckRank(context, 2, 1));
  if (!cache.has_rank()) return Ok();
  if (cache.rank() < 2)
    return ShapeError("TensorScatter needs a cache of rank 2 or more, given shape ", cache);
  ASC_ASSIGN_OR_RETURN(const int64_t axis,
                       AxisAttribute(context, "axis", static_cast<int64_t>(cache.rank())));
  if (axis == 0) return InvalidArgument("TensorScatter axis must not be the batch axis, 0");
  if (!update.has_rank()) return Ok();
  bool fits = update.rank() == cache.rank();
  for (size_t i = 0; fits && i < cache.rank(); ++i) {
    if (!cache[i].is_constant() || !update[i].is_constant()) continue;
    fits = static_cast<int64_t>(i) == axis ? update[i].value() <= cache[i].value()
                                           : update[i] == cache[i];
  }
  if (!fits) {
    return ShapeError("TensorScatter needs an update like the cache of shape ", cache,
                      " and not longer on axis ", axis, ", given ", update);
  }
  return Ok();
}

Status TensorScatter(KernelContext& context) {
  const Tensor &cache = context.input(0), &update = context.input(1);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(cache.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const bool circular = context.attributes().String("mode", "linear") == "circular";
  const int64_t batches = cache.dim(0), extent = cache.dim(axis), length = update.dim(axis);
  std::vector<int64_t> starts(static_cast<size_t>(batches), 0);
  if (context.HasInput(2)) {
    ASC_ASSIGN_OR_RETURN(starts, ToInt64Vector(context.input(2)));
    if (static_cast<int64_t>(starts.size()) != batches) {
      return ShapeError("TensorScatter needs one write index for each of ", batches,
                        " batches, given ", starts.size());
    }
  }
  const int64_t outer = ElementCount(cache.dims(), 1, axis),
                inner = ElementCount(cache.dims(), axis + 1, cache.rank());
  for (const int64_t start : starts) {
    if (start < 0 || start > extent || (!circular && start > extent - length)) {
      return Error(Code::kOutOfRange, "TensorScatter write index ", start, " with ", length,
                   " new elements is out of range for an axis of ", extent);
    }
  }
  CopyElements(cache, out);
  for (int64_t batch = 0; batch < batches; ++batch) {
    // One run up to the end of the axis and, when circular, one from its beginning.
    int64_t to = starts[static_cast<size_t>(batch)], from = 0;
    while (from < length) {
      if (to == extent) to = 0;
      const int64_t count = std::min(length - from, extent - to);
      StridedCopy(cache.dtype(), {outer, count * inner},
                  {update.raw(), (batch * outer * length + from) * inner, {length * inner, 1}},
                  {out.raw(), (batch * outer * extent + to) * inner, {extent * inner, 1}});
      from += count;
      to += count;
    }
  }
  return Ok();
}
}  // namespace

void AddScatterOps(OpTable& table) {
  table.Add("ScatterElements", 18)
      .Doc("data with single elements replaced, or reduced into: the inverse of GatherElements")
      .Input("data", "T")
      .Input("indices", "Tind")
      .Input("updates", "T")
      .Output("output", "T")
      .Types("T", kScattered)
      .Types("Tind", types::kIndex)
      .Attr("axis", int64_t{0})
      .Attr("reduction", std::string("none"), "", "none, add, mul, min or max")
      .Class(OpClass::kDataMovement)
      .Infer(InferScatterElements)
      .Kernel(ScatterElements);
  table.Add("ScatterND", 18)
      .Doc("data with slices replaced, or reduced into: the inverse of GatherND")
      .Input("data", "T")
      .Input("indices", "tensor(int64)")
      .Input("updates", "T")
      .Output("output", "T")
      .Types("T", kScattered)
      .Types("tensor(int64)", types::kInt64)
      .Attr("reduction", std::string("none"), "", "none, add, mul, min or max")
      .Class(OpClass::kDataMovement)
      .Infer(InferScatterNd)
      .Kernel(ScatterNd);
  table.Add("TensorScatter", 24)
      .Doc("a key/value cache with new elements written at each batch's index along an axis")
      .Input("past_cache", "T")
      .Input("update", "T")
      .OptionalInput("write_indices", "tensor(int64)")
      .Output("present_cache", "T")
      .Types("T", types::kAll)
      .Types("tensor(int64)", types::kInt64)
      .Attr("axis", int64_t{-2})
      .Attr("mode", std::string("linear"), "",
            "linear, or circular: past the end comes the beginning")
      .Class(OpClass::kDataMovement)
      .Infer(InferTensorScatter)
      .Kernel(TensorScatter);
}

}  // namespace asc
