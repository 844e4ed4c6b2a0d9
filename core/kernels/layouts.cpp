#include "core/kernels/layouts.h"

#include <algorithm>

#include "core/ops/resize_axis.h"

namespace asc {
namespace {
// Channels that fill whole blocks: padding lanes would otherwise need care in every kernel.
bool WholeBlocks(const Graph& graph, ValueId id, const Layout& layout) {
  if (!id.valid()) return true;
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.dtype == DataType::kFloat32 && type.shape.has_rank() && type.shape.rank() == 4 &&
         type.shape[1].is_constant() && type.shape[1].value() % layout.c0 == 0;
}

bool IsFloat32(const Graph& graph, ValueId id) { return graph.value(id).type.dtype == DataType::kFloat32; }

// A plain operand of one element that stands with blocked ones.
bool IsScalar(const Graph& graph, ValueId id) {
  const Shape& shape = graph.value(id).type.shape;
  return IsFloat32(graph, id) && shape.has_rank() && shape.rank() <= 1 && shape.ElementCount().IsConstant(1);
}

bool SameShapes(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id.valid() && graph.value(id).type.shape == shape; });
}

// Operands with the result's channels, which broadcast over the other axes as the storage does, and scalars.
bool BroadcastsInBlocks(const Graph& graph, const Node& node, const Layout& layout) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    if (!id.valid()) return false;
    return IsScalar(graph, id) || (WholeBlocks(graph, id, layout) && graph.value(id).type.shape[1] == shape[1]);
  });
}

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return node.Is(name); });
}

// Over rows and columns, which stay as axes of extent 1.
bool ReducesPlanes(const Graph& graph, const Node& node) {
  if (node.attributes.Int("keepdims", 1) == 0 || !node.input(1).valid()) return false;
  const Value& axes = graph.value(node.input(1));
  if (!axes.is_constant()) return false;
  const auto values = ToInt64Vector(axes.constant);
  if (!values.ok() || values->size() != 2) return false;
  const auto has = [&](int64_t axis) {
    return (*values)[0] == axis || (*values)[1] == axis || (*values)[0] == axis - 4 || (*values)[1] == axis - 4;
  };
  return has(2) && has(3);
}

// Of rows and columns alone, by factors or extents that the vector kernels read.
bool ResizesPlanes(const Graph& graph, const Node& node) {
  const Result<ResizeSpec> spec = ReadResizeSpec(node.attributes);
  if (!spec.ok() || spec->mode == ResizeMode::kCubic || spec->antialias ||
      spec->coordinates == ResizeCoordinates::kTfCropAndResize) {
    return false;
  }
  const Shape &in = graph.value(node.inputs[0]).type.shape, &out = graph.value(node.outputs[0]).type.shape;
  if (in[0] != out[0] || in[1] != out[1]) return false;
  const ValueId scales = node.input(2);
  const bool by_scales = scales.valid() && !graph.value(scales).type.shape.ElementCount().IsConstant(0);
  if (!by_scales) return spec->aspect == ResizeAspect::kStretch;
  if (!graph.value(scales).is_constant()) return false;
  const Tensor& values = graph.value(scales).constant;
  const std::vector<int64_t> axes = node.attributes.Ints("axes", {0, 1, 2, 3});
  if (values.dtype() != DataType::kFloat32 || values.size() != static_cast<int64_t>(axes.size())) return false;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t axis = axes[k] < 0 ? axes[k] + 4 : axes[k];
    if (axis < 2 && values.data<float>()[k] != 1.0f) return false;
  }
  return true;
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
  if (!node.inputs.empty() && node.inputs[0].valid() && WholeBlocks(graph, node.inputs[0], layout)) {
    if (IsOneOf(node, {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Clip"})) return true;
    if (IsOneOf(node, {"ReduceMean", "ReduceMax"})) return ReducesPlanes(graph, node);
    if (node.Is("Resize")) return ResizesPlanes(graph, node);
    if (node.Is("BatchNormalization")) {
      return node.attributes.Int("training_mode", 0) == 0 &&
             std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsFloat32(graph, id); });
    }
  }
  if (IsOneOf(node, {"Add", "Div", "Max", "Min", "Mul", "PRelu", "Sub"}) && node.inputs.size() == 2) {
    return BroadcastsInBlocks(graph, node, layout);
  }
  const bool inputs_whole =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return id.valid() && WholeBlocks(graph, id, layout); });
  if (!inputs_whole) return false;
  // The axis of channels is the axis of blocks: whole blocks are joined.
  if (node.Is("Concat")) return true;
  return node.schema->op_class == OpClass::kElementwise && SameShapes(graph, node);
}

}  // namespace asc
