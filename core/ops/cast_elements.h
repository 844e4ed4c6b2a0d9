// Conversion of elements between any two types of numbers.
#ifndef ASC_CORE_OPS_CAST_ELEMENTS_H_
#define ASC_CORE_OPS_CAST_ELEMENTS_H_

#include "core/tensor/float_types.h"

namespace asc {

struct CastOptions {
  bool saturate = true;                               // into 8-bit floats: see FloatToNarrow
  PowerRounding power_rounding = PowerRounding::kUp;  // into kFloat8E8M0
};

// dst[i] = src[i] for `count` elements: bool, integers and real floats of all widths, packed ones
// too. Floats to integers truncate (TruncateTo), integers keep their low bits, anything but zero is
// true, floats are rounded once to nearest even. Buffers start at an element at a byte boundary and
// do not overlap.
void CastElements(DataType from, const void* src, DataType to, void* dst, int64_t count,
                  const CastOptions& options = {});

}  // namespace asc

#endif  // ASC_CORE_OPS_CAST_ELEMENTS_H_
