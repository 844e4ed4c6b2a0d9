#include "core/kernels/onednn/small_weights.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/ops/strided_copy.h"

namespace asc::onednn {
namespace {
using dnnl::memory;

bool IsFloatBlocked(const memory::desc& desc) {
  return desc.get_format_kind() == memory::format_kind::blocked &&
         desc.get_data_type() == memory::data_type::f32;
}

// One loop of a copy; strides count elements.
struct Loop {
  int64_t extent = 1, from = 0, to = 0;
};

// Part of an axis: nested loops over it, and where they begin.
struct Part {
  std::vector<Loop> loops;
  int64_t from = 0, to = 0;
};

// The elements [0, extent) of an axis whose index is written in mixed radix, the digits from the outermost block to the innermost:
// where the extent does not fill the blocks, what is left of each digit is a part of its own.
std::vector<Part> PartsOf(const std::vector<Loop>& digits, int64_t extent) {
  std::vector<Part> parts;
  Part rest;
  int64_t left = extent;
  for (size_t i = 0; i < digits.size() && left > 0; ++i) {
    int64_t unit = 1;
    for (size_t k = i + 1; k < digits.size(); ++k) unit *= digits[k].extent;
    const int64_t whole = left / unit;
    if (whole > 0) {
      Part part = rest;
      part.loops.push_back({whole, digits[i].from, digits[i].to});
      part.loops.insert(part.loops.end(), digits.begin() + static_cast<ptrdiff_t>(i) + 1,
                        digits.end());
      parts.push_back(std::move(part));
      rest.from += whole * digits[i].from;
      rest.to += whole * digits[i].to;
    }
    left -= whole * unit;
  }
  return parts;
}
}  // namespace

bool ReorderSmall(const memory::desc& from_desc, const float* from, const memory::desc& to_desc,
                  float* to) {
  if (!IsFloatBlocked(from_desc) || !IsFloatBlocked(to_desc)) return false;
  if (from_desc.get_inner_nblks() != 0 || from_desc.get_submemory_offset() != 0 ||
      to_desc.get_submemory_offset() != 0)
    return false;
  const memory::dims dims = to_desc.get_dims(), padded = to_desc.get_padded_dims(),
                     outer_strides = to_desc.get_strides(), strides = from_desc.get_strides();
  const memory::dims blocks = to_desc.get_inner_blks(), axes = to_desc.get_inner_idxs();
  if (from_desc.get_dims() != dims) return false;
  int64_t total = 1;
  for (const int64_t extent : padded) total *= extent;
  // Some layouts carry more than the elements.
  if (to_desc.get_size() != static_cast<size_t>(total) * sizeof(float)) return false;

  // Digits of each axis, the innermost first; the last block is the innermost, and an axis may be blocked twice.
  std::vector<std::vector<Loop>> digits(dims.size());
  memory::dims scale(dims.size(), 1);
  int64_t inner = 1;
  for (size_t b = blocks.size(); b-- > 0;) {
    const auto axis = static_cast<size_t>(axes[b]);
    digits[axis].push_back({blocks[b], scale[axis] * strides[axis], inner});
    scale[axis] *= blocks[b];
    inner *= blocks[b];
  }
  std::vector<std::vector<Part>> parts;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    digits[axis].push_back(
        {padded[axis] / scale[axis], scale[axis] * strides[axis], outer_strides[axis]});
    std::reverse(digits[axis].begin(), digits[axis].end());
    parts.push_back(PartsOf(digits[axis], dims[axis]));
  }
  if (padded != dims) std::fill_n(to, total, 0.0f);

  // Every combination of a part of each axis.
  std::vector<Loop> loops;
  const std::function<void(size_t, int64_t, int64_t)> copy = [&](size_t axis, int64_t first_from,
                                                                 int64_t first_to) {
    if (axis == dims.size()) {
      std::vector<Loop> sorted = loops;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const Loop& a, const Loop& b) { return a.to > b.to; });
      Dims extents, from_strides, to_strides;
      for (const Loop& loop : sorted) {
        if (loop.extent == 1) continue;
        extents.push_back(loop.extent);
        from_strides.push_back(loop.from);
        to_strides.push_back(loop.to);
      }
      StridedCopy(DataType::kFloat32, extents, {from, first_from, from_strides},
                  {to, first_to, to_strides});
      return;
    }
    for (const Part& part : parts[axis]) {
      const size_t depth = loops.size();
      loops.insert(loops.end(), part.loops.begin(), part.loops.end());
      copy(axis + 1, first_from + part.from, first_to + part.to);
      loops.resize(depth);
    }
  };
  copy(0, 0, 0);
  return true;
}

}  // namespace asc::onednn
