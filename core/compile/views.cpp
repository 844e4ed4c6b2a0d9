#include "core/compile/views.h"

#include <algorithm>
#include <array>

namespace asc {

std::optional<size_t> ViewOffset(const Node& node, const Dims& input_dims, const Dims& output_dims, DataType dtype) {
  static constexpr std::array<std::string_view, 5> kSameBytes = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"};
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
