// The copy behind Pad and CenterCropPad: an array with borders added or cut off.
#ifndef ASC_CORE_OPS_BORDERED_COPY_H_
#define ASC_CORE_OPS_BORDERED_COPY_H_

#include "core/tensor/tensor.h"

namespace asc {

// Where the elements of a border come from: one value, the mirrored elements (the outermost one not
// repeated), the outermost element, or the elements at the other end.
enum class BorderMode { kConstant, kReflect, kEdge, kWrap };

struct AxisBorder {
  int64_t begin = 0, end = 0;  // elements that are added; negative: cut off
};
using AxisBorders = absl::InlinedVector<AxisBorder, 6>;

// out[i] = in[i - begin] where that is what is left of `in` after cutting, a border's element
// elsewhere. out.dim(k) is in.dim(k) + begin + end; where elements are added to an axis by other
// modes than kConstant, some are left, and more than are mirrored. `value` (a tensor of one element)
// fills constant borders; null: zero, or the empty string. All types; each element of `out` is
// written once, large copies on the caller's team.
void BorderedCopy(const Tensor& in, const AxisBorders& borders, BorderMode mode,
                  const Tensor* value, Tensor& out);

}  // namespace asc

#endif  // ASC_CORE_OPS_BORDERED_COPY_H_
