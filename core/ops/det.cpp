// Det: determinants of the square matrices in the last two axes, by elimination with partial
// pivoting in float64.
#include <cmath>
#include <vector>

#include "core/ops/elementwise_map.h"
#include "core/ops/families.h"

namespace asc {
namespace {
Status InferDet(InferContext& context) {
  const Shape& x = context.shape(0);
  context.SetOutput(0, context.dtype(0));
  if (!x.has_rank()) return Ok();
  const size_t rank = x.rank();
  if (rank < 2 ||
      (x[rank - 2].is_constant() && x[rank - 1].is_constant() && x[rank - 2] != x[rank - 1])) {
    return ShapeError("Det needs square matrices in the last two axes, given ", x);
  }
  context.SetOutput(0, context.dtype(0),
                    Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2)));
  return Ok();
}

double Determinant(double* a, int64_t n) {
  double determinant = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      std::swap_ranges(a + pivot * n, a + (pivot + 1) * n, a + column * n);
      determinant = -determinant;
    }
    const double head = a[column * n + column];
    determinant *= head;
    if (head == 0) return determinant;
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / head;
      for (int64_t k = column + 1; k < n; ++k) a[row * n + k] -= factor * a[column * n + k];
    }
  }
  return determinant;
}

Status Det(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const int64_t n = x.dim(x.rank() - 1);
  const auto size = static_cast<size_t>(n * n);
  ASC_ASSIGN_OR_RETURN(const auto scratch, context.Scratch(size * sizeof(double)));
  double* matrix = reinterpret_cast<double*>(scratch->data());
  const bool done = VisitFloats(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < y.size(); ++i) {
      const T* from = x.data<T>() + i * n * n;
      for (size_t k = 0; k < size; ++k) matrix[k] = static_cast<double>(Widen(from[k]));
      y.data<T>()[i] = static_cast<T>(static_cast<ComputeType<T>>(Determinant(matrix, n)));
    }
  });
  return done ? Ok() : NoKernel(context);
}
}  // namespace

void AddDetOps(OpTable& table) {
  table.Add("Det", 22)
      .Doc("determinants of the square matrices in the last two axes")
      .Input("x", "T")
      .Output("y", "T")
      .Types("T", types::kFloats)
      .Infer(InferDet)
      .Kernel(Det);
}

}  // namespace asc
