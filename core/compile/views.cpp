#include "core/compile/views.h"

#include <algorithm>
#include <array>

#include "core/tensor/format.h"

namespace asc {
namespace {
// Between plain and NC1HWC0 images of one pixel, whose channels lie in order in both.
bool RelabelsPixel(const Node& node, const Dims& input_dims, const Dims& output_dims) {
  if (!node.Is("TransData", "asc")) return false;
  const auto src = Layout::Parse(node.attributes.String("src", ""));
  const auto dst = Layout::Parse(node.attributes.String("dst", ""));
  if (!src || !dst || src->is_blocked() == dst->is_blocked()) return false;
  const Dims& blocked = src->is_blocked() ? input_dims : output_dims;
  return (src->is_blocked() ? *src : *dst).format == Format::kNC1HWC0 && blocked.size() == 5 && blocked[2] == 1 &&
         blocked[3] == 1 && ElementCount(input_dims) == ElementCount(output_dims);
}
}  // namespace

std::optional<size_t> ViewOffset(const Node& node, const Dims& input_dims, const Dims& output_dims, DataType dtype) {
  static constexpr std::array<std::string_view, 5> kSameBytes = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"};
  if (RelabelsPixel(node, input_dims, output_dims)) return 0;
  if (!node.schema->domain.empty() || node.outputs.size() != 1) return std::nullopt;
  if (dtype == DataType::kString || ElementCount(input_dims) != ElementCount(output_dims)) return std::nullopt;
  if (std::find(kSameBytes.begin(), kSameBytes.end(), node.schema->name) == kSameBytes.end()) return std::nullopt;
  return 0;
}

bool CanWriteInPlace(const Node& node, const Dims& input_dims, DataType input_type, const Dims& output_dims,
                     DataType output_type) {
  return node.schema->op_class == OpClass::kElementwise && node.outputs.size() == 1 && input_dims == output_dims &&
         input_type != DataType::kString && output_type != DataType::kString &&
         BitWidth(input_type) == BitWidth(output_type) && !IsSubByte(input_type);
}

}  // namespace asc
