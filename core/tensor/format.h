// Formats (layouts): how the extents that the user speaks of (the origin) are laid out in memory (the storage).
//
// Blocked formats split the channel axis into blocks of C0; the published layout formulae of Ascend's formats are in one table,
// format.cpp. C0 is part of the format and is printed with it: "NC1HWC0(16)".
#ifndef ASC_CORE_TENSOR_FORMAT_H_
#define ASC_CORE_TENSOR_FORMAT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/data_type.h"
#include "core/tensor/shape.h"

namespace asc {

enum class Format : uint8_t { kND, kNCHW, kNHWC, kNCDHW, kNDHWC, kNC1HWC0, kNDC1HWC0, kFractalZ, kFractalNz };

std::string_view FormatName(Format format);  // "NC1HWC0", "FRACTAL_Z"
std::optional<Format> ParseFormat(std::string_view name);
std::vector<std::string> FormatNames();
// The plain format that a blocked one is a form of; itself for the others, and where it is a form of several (FRACTAL_NZ).
Format PlainFormat(Format format);

struct Layout {
  Format format = Format::kND;
  int c0 = 0;  // block size; 0 for formats that are not blocked

  bool is_blocked() const { return c0 != 0; }
  bool operator==(const Layout&) const = default;
  std::string ToString() const;  // "NCHW", "NC1HWC0(16)"
  static std::optional<Layout> Parse(std::string_view text);
};

// The block size of a type where the device's kernels do not ask for another: 32 bytes / element size.
int DefaultC0(DataType type);

// The physical extents in which a value of origin shape `origin` is stored:
//   NC1HWC0   (N, ceil(C/C0), H, W, C0)              of NCHW
//   NDC1HWC0  (N, D, ceil(C/C0), H, W, C0)           of NCDHW
//   FRACTAL_Z (ceil(C/C0)*H*W, ceil(N/16), 16, C0)   of NCHW (weights: N output channels)
//   FRACTAL_NZ (..., ceil(N/C0), ceil(M/16), 16, C0) of (..., M, N)
// E5008 when the rank does not fit the format.
Result<Shape> StorageShape(const Layout& storage, const Layout& origin, const Shape& origin_shape);
Result<Dims> StorageDims(const Layout& storage, const Layout& origin, const Dims& origin_dims);

// The format of Transpose(value of `origin`, perm): perm {0,2,3,1} of NCHW is NHWC; ND where the result has no name.
Format PermuteFormat(Format origin, const std::vector<int64_t>& perm);

}  // namespace asc

#endif  // ASC_CORE_TENSOR_FORMAT_H_
