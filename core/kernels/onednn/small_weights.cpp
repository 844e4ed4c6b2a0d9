#include "core/kernels/onednn/small_weights.h"

#include <algorithm>
#include <vector>

namespace asc::onednn {
namespace {
using dnnl::memory;

bool IsFloatBlocked(const memory::desc& desc) {
  return desc.get_format_kind() == memory::format_kind::blocked &&
         desc.get_data_type() == memory::data_type::f32;
}

// One element of a block: where it stands in the plain tensor, relative to the block's first one.
struct Element {
  int64_t from = 0;
  memory::dims at;  // by axis
};

// The elements of a block, in the order in which they stand there.
std::vector<Element> ElementsOf(const memory::dims& strides, const memory::dims& blocks,
                                const memory::dims& axes) {
  int64_t count = 1;
  for (const int64_t block : blocks) count *= block;
  std::vector<Element> elements(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    Element& element = elements[static_cast<size_t>(i)];
    element.at.assign(strides.size(), 0);
    memory::dims scale(strides.size(), 1);
    int64_t rest = i;
    // The last block is the innermost; an axis may be blocked twice.
    for (size_t b = blocks.size(); b-- > 0;) {
      const auto axis = static_cast<size_t>(axes[b]);
      element.at[axis] += rest % blocks[b] * scale[axis];
      scale[axis] *= blocks[b];
      rest /= blocks[b];
    }
    for (size_t axis = 0; axis < strides.size(); ++axis)
      element.from += element.at[axis] * strides[axis];
  }
  return elements;
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

  const std::vector<Element> elements = ElementsOf(strides, blocks, axes);
  memory::dims block(dims.size(), 1);
  for (size_t b = 0; b < blocks.size(); ++b) block[static_cast<size_t>(axes[b])] *= blocks[b];
  memory::dims at(dims.size(), 0);  // of blocks
  for (bool more = total > 0; more;) {
    const float* source = from;
    float* target = to;
    bool whole = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      source += at[axis] * block[axis] * strides[axis];
      target += at[axis] * outer_strides[axis];
      whole = whole && (at[axis] + 1) * block[axis] <= dims[axis];
    }
    for (const Element& element : elements) {
      bool inside = true;
      for (size_t axis = 0; !whole && axis < dims.size(); ++axis) {
        inside = inside && at[axis] * block[axis] + element.at[axis] < dims[axis];
      }
      *target++ = inside ? source[element.from] : 0.0f;
    }
    more = false;
    for (size_t axis = dims.size(); axis-- > 0 && !more;) {
      more = ++at[axis] * block[axis] < padded[axis];
      if (!more) at[axis] = 0;
    }
  }
  return true;
}

}  // namespace asc::onednn
