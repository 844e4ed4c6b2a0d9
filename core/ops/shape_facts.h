// What shape rules of many operators ask for: axes, and integer values that are known as
// expressions.
#ifndef ASC_CORE_OPS_SHAPE_FACTS_H_
#define ASC_CORE_OPS_SHAPE_FACTS_H_

#include <span>

#include "core/graph/op_schema.h"

namespace asc {

// Hands the known elements (infer_rules.h) of input `i` on to output 0, whose type must be set: for
// operators that keep the elements and their order.
void PassKnownElements(InferContext& context, size_t i);

// The int attribute `name` as an axis in [0, rank). E5003 with the operator's name when out of
// range.
Result<int64_t> AxisAttribute(const InferContext& context, std::string_view name, int64_t rank);
Result<int64_t> AxisAttribute(const KernelContext& context, std::string_view name, int64_t rank);

// The elements of an int32 or int64 tensor that is short (axes, pads...): unlike ToInt64Vector
// without heap memory for up to six. E5002 for other types.
Result<Dims> ReadIntegers(const Tensor& tensor);

// `axes` in [0, rank), in the order given. E5003 when one is out of range or comes twice.
Result<Dims> NormalizeAxes(std::span<const int64_t> axes, int64_t rank, std::string_view op);

// How many elements the rank-1 input `i` has, where that is known; E5001 when its rank is not 1 or
// it is longer than any shape may be (hostile models).
Result<std::optional<int64_t>> VectorLength(const InferContext& context, size_t i);

// E5001 unless the input's rank is unknown or `rank`.
Status CheckRank(const InferContext& context, size_t i, size_t rank);

// E5003 when output `i` is static and larger than a tensor can be.
Status CheckSize(InferContext& context, size_t i);

// The element type that the int attribute `name` asks for, or `otherwise` without it. E5003 when it
// names no type, E5002 when the type variable of output `i` does not allow it.
Result<DataType> OutputTypeAttribute(const InferContext& context, std::string_view name,
                                     DataType otherwise, size_t i);

// True where the extent or value is surely not negative: made of named symbols (extents) and
// positive numbers alone.
bool SurelyNonNegative(const Dim& dim);

// The longest shape that a model may have.
inline constexpr int64_t kMaxRank = 64;

}  // namespace asc

#endif  // ASC_CORE_OPS_SHAPE_FACTS_H_
