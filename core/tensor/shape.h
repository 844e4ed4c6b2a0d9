// Shapes: symbolic ones in graphs (Shape), concrete ones at run time (Dims).
#ifndef ASC_CORE_TENSOR_SHAPE_H_
#define ASC_CORE_TENSOR_SHAPE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/base/status.h"
#include "core/tensor/dim.h"

namespace asc {

using Dims = absl::InlinedVector<int64_t, 6>;

// Product of the extents; nullopt when one is negative or the product does not fit (hostile sizes). Rank 0 has 1 element.
std::optional<int64_t> CheckedElementCount(const Dims& dims);
// The same for dims that are known to be good (already checked when the tensor was made).
int64_t ElementCount(const Dims& dims);
int64_t ElementCount(const Dims& dims, size_t begin, size_t end);
// Row-major strides in elements.
Dims ContiguousStrides(const Dims& dims);
// "[1, 3, 224, 224]"
std::string ToString(const Dims& dims);

// NumPy's broadcasting of two concrete shapes (a zero extent broadcasts with one); E5001 when they do not fit.
Result<Dims> BroadcastDims(const Dims& a, const Dims& b);

// Turns a possibly negative axis into [0, rank); E5003 when it is out of range. `rank` counts allowed positions.
Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank);

// A symbolic shape, possibly of unknown rank.
class Shape {
 public:
  Shape() = default;  // unknown rank
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)), ranked_(true) {}
  explicit Shape(const Dims& dims) : dims_(dims.begin(), dims.end()), ranked_(true) {}
  // A ranked shape of fresh unknowns.
  static Shape UnknownDims(size_t rank);

  bool has_rank() const { return ranked_; }
  size_t rank() const { return dims_.size(); }  // only when has_rank()
  const Dim& operator[](size_t i) const { return dims_[i]; }
  Dim& operator[](size_t i) { return dims_[i]; }
  const std::vector<Dim>& dims() const { return dims_; }
  // True when ranked and all extents are constants.
  bool is_static() const;
  // nullopt unless is_static().
  std::optional<Dims> ToDims() const;
  // nullopt when the rank is unknown or a symbol is not bound.
  std::optional<Dims> Evaluate(const DimBindings& bindings) const;
  Shape Substitute(const DimSubstitution& replacements) const;
  // Product of all extents (1 for rank 0). Only when has_rank().
  Dim ElementCount() const;
  bool operator==(const Shape& other) const { return ranked_ == other.ranked_ && dims_ == other.dims_; }
  // "[N, 3, 2*H]"; "[*]" for unknown rank.
  std::string ToString() const;

 private:
  std::vector<Dim> dims_;
  bool ranked_ = false;
};

// Symbolic broadcasting: where both extents are symbols that differ, the result is unknown; E5001 on a sure mismatch. Unknown
// rank in gives unknown rank out.
Result<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace asc

#endif  // ASC_CORE_TENSOR_SHAPE_H_
