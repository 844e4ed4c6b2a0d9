#include "core/tensor/shape.h"

#include <algorithm>

namespace asc {

std::optional<int64_t> CheckedElementCount(const Dims& dims) {
  int64_t count = 1;
  bool overflow = false;
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    zero |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (zero) return 0;
  if (overflow) return std::nullopt;
  return count;
}

int64_t ElementCount(const Dims& dims) { return ElementCount(dims, 0, dims.size()); }

int64_t ElementCount(const Dims& dims, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

Dims ContiguousStrides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

std::string ToString(const Dims& dims) { return Cat(dims); }

Result<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) {
      return ShapeError("shapes ", a, " and ", b, " do not broadcast: ", x, " against ", y, " on axis ", i)
          .WithHint("each pair of extents, aligned at the right, must be equal or one of them 1");
    }
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is out of range for rank ", rank, ": expected ", -rank, " to ", rank - 1);
  }
  return axis < 0 ? axis + rank : axis;
}

Shape Shape::UnknownDims(size_t rank) {
  std::vector<Dim> dims(rank);
  for (Dim& dim : dims) dim = Dim::Unknown();
  return Shape(std::move(dims));
}

bool Shape::is_static() const {
  return ranked_ && std::all_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.is_constant(); });
}

std::optional<Dims> Shape::ToDims() const { return Evaluate({}); }

std::optional<Dims> Shape::Evaluate(const DimBindings& bindings) const {
  if (!ranked_) return std::nullopt;
  Dims out;
  for (const Dim& dim : dims_) {
    const auto value = dim.Evaluate(bindings);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

Shape Shape::Substitute(const DimSubstitution& replacements) const {
  Shape out = *this;
  for (Dim& dim : out.dims_) dim = dim.Substitute(replacements);
  return out;
}

Dim Shape::ElementCount() const {
  Dim count(1);
  for (const Dim& dim : dims_) count = count * dim;
  return count;
}

std::string Shape::ToString() const { return ranked_ ? Cat("[", Join(dims_, ", "), "]") : "[*]"; }

Result<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  const size_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim x = i < rank - a.rank() ? Dim(1) : a[i - (rank - a.rank())];
    const Dim y = i < rank - b.rank() ? Dim(1) : b[i - (rank - b.rank())];
    if (x == y || y.IsConstant(1)) {
      out[i] = x;
    } else if (x.IsConstant(1)) {
      out[i] = y;
    } else if (x.is_constant() && y.is_constant()) {
      return ShapeError("shapes ", a, " and ", b, " do not broadcast: ", x, " against ", y, " on axis ", i)
          .WithHint("each pair of extents, aligned at the right, must be equal or one of them 1");
    } else if (x.is_constant()) {
      out[i] = x;  // the symbol must be 1 or equal to it
    } else if (y.is_constant()) {
      out[i] = y;
    } else {
      out[i] = Dim::Unknown();
    }
  }
  return Shape(std::move(out));
}

}  // namespace asc
