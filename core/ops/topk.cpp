// TopK: the k largest or smallest elements along an axis, with their indices. NaN counts as larger
// than every number; equal elements come in order of their indices.
#include <algorithm>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {

Status InferTopK(InferContext& context) {
  const Shape& in = context.shape(0);
  Shape out = in;
  const auto k = context.Dims(1);
  if (k && k->size() != 1) return ShapeError("TopK needs one number k, given ", *k);
  if (in.has_rank()) {
    if (in.rank() == 0) return ShapeError("TopK needs an input of rank 1 or more, given a scalar");
    ASC_ASSIGN_OR_RETURN(const int64_t axis,
                         AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
    Dim& extent = out[static_cast<size_t>(axis)];
    if (k && (*k)[0].is_constant()) {
      const int64_t wanted = (*k)[0].value();
      if (wanted < 0 || (extent.is_constant() && wanted > extent.value())) {
        return ShapeError("TopK of ", wanted, " elements along axis ", axis, " of shape ", in,
                          ": expected 0 to ", extent);
      }
    }
    extent = k ? (*k)[0] : Dim::Unknown();
  }
  context.SetOutput(1, DataType::kInt64, out);
  context.SetOutput(0, context.dtype(0), std::move(out));
  return Ok();
}

template <typename T>
bool IsNaN(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return value != value;
  }
}

// Whether a comes before b; for narrow floats T is float.
template <typename T>
bool Before(T a, T b, bool largest) {
  if (IsNaN(a) || IsNaN(b)) return largest ? IsNaN(a) && !IsNaN(b) : !IsNaN(a) && IsNaN(b);
  return largest ? a > b : a < b;
}

template <typename T>
void SelectRows(const Tensor& in, Tensor* values, Tensor* indices, size_t axis, int64_t k,
                bool largest) {
  using Wide = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;
  const int64_t extent = in.dim(axis), inner = ElementCount(in.dims(), axis + 1, in.rank());
  const int64_t rows = ElementCount(in.dims(), 0, axis) * inner;
  const T* x = in.data<T>();
  ParallelFor(rows, std::max<int64_t>(1, (1 << 12) / std::max<int64_t>(1, extent)),
              [&](int64_t begin, int64_t end) {
                std::vector<std::pair<Wide, int64_t>> items(static_cast<size_t>(extent));
                const auto before = [&](const auto& a, const auto& b) {
                  if (Before(a.first, b.first, largest)) return true;
                  return !Before(b.first, a.first, largest) && a.second < b.second;
                };
                for (int64_t row = begin; row < end; ++row) {
                  const T* from = x + row / inner * extent * inner + row % inner;
                  for (int64_t i = 0; i < extent; ++i)
                    items[static_cast<size_t>(i)] = {static_cast<Wide>(from[i * inner]), i};
                  std::partial_sort(items.begin(), items.begin() + k, items.end(), before);
                  const int64_t out = row / inner * k * inner + row % inner;
                  for (int64_t i = 0; i < k; ++i) {
                    const int64_t index = items[static_cast<size_t>(i)].second;
                    if (values != nullptr) values->data<T>()[out + i * inner] = from[index * inner];
                    if (indices != nullptr) indices->data<int64_t>()[out + i * inner] = index;
                  }
                }
              });
}

Status TopK(KernelContext& context) {
  const Tensor& in = context.input(0);
  ASC_ASSIGN_OR_RETURN(const Dims wanted, ReadIntegers(context.input(1)));
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(in.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t k = wanted.size() == 1 ? wanted[0] : -1;
  if (k < 0 || k > in.dim(axis)) {
    return ShapeError("TopK of ", wanted, " elements along axis ", axis, " of shape ", in.dims());
  }
  Tensor* values = context.HasOutput(0) ? &context.output(0) : nullptr;
  Tensor* indices = context.HasOutput(1) ? &context.output(1) : nullptr;
  VisitNumeric(in.dtype(), [&](auto zero) {
    SelectRows<decltype(zero)>(in, values, indices, axis, k,
                               context.attributes().Int("largest", 1) != 0);
  });
  return Ok();
}
}  // namespace

void AddTopKOps(OpTable& table) {
  table.Add("TopK", 24)
      .Doc("the k largest (or smallest) elements along an axis, in order, and their indices")
      .Method("topk")
      .Input("X", "T")
      .Input("K", "tensor(int64)")
      .Output("Values", "T")
      .Output("Indices", "I")
      .Types("T", types::kNumeric)
      .Types("tensor(int64)", types::kInt64)
      .Types("I", types::kInt64)
      .Attr("axis", int64_t{-1}, "dim")
      .Attr("largest", int64_t{1})
      .Attr("sorted", int64_t{1})
      .Infer(InferTopK)
      .Kernel(TopK);
}

}  // namespace asc
