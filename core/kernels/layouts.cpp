#include "core/kernels/layouts.h"

#include <algorithm>

namespace asc {
namespace {
// Channels that fill whole blocks: padding lanes would otherwise need care in every kernel.
bool WholeBlocks(const Graph& graph, ValueId id, const Layout& layout) {
  if (!id.valid()) return true;
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.dtype == DataType::kFloat32 && type.shape.has_rank() && type.shape.rank() == 4 &&
         type.shape[1].is_constant() && type.shape[1].value() % layout.c0 == 0;
}

bool SameShapes(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id.valid() && graph.value(id).type.shape == shape; });
}
}  // namespace

bool AcceptsLayoutOnHost(const Graph& graph, const Node& node, const Layout& layout) {
  if (layout.format != Format::kNC1HWC0 || (layout.c0 != 8 && layout.c0 != 16)) return false;
  if (node.outputs.size() != 1 || !WholeBlocks(graph, node.outputs[0], layout)) return false;
#ifdef ASC_WITH_ONEDNN
  if (node.Is("Conv") || node.Is("FusedConv", "asc")) {
    return WholeBlocks(graph, node.input(0), layout) && WholeBlocks(graph, node.input(3), layout) &&
           graph.value(node.inputs[1]).is_constant();
  }
#endif
  const bool inputs_whole =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return id.valid() && WholeBlocks(graph, id, layout); });
  if (!inputs_whole) return false;
  // The axis of channels is the axis of blocks: whole blocks are joined.
  if (node.Is("Concat")) return node.attributes.Int("axis", 0) == 1 || node.attributes.Int("axis", 0) == -3;
  return node.schema->op_class == OpClass::kElementwise && SameShapes(graph, node);
}

}  // namespace asc
