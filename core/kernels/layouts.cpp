#include "core/kernels/layouts.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/vector/unary.h"
#include "core/ops/resize_axis.h"
#include "core/ops/vector_program.h"

namespace asc {
namespace {
bool IsImage(const Graph& graph, ValueId id) {
  if (!id.valid()) return false;
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.dtype == DataType::kFloat32 && type.shape.has_rank() && type.shape.rank() == 4 &&
         type.shape[1].is_constant();
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
bool BroadcastsInBlocks(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    if (!id.valid()) return false;
    return IsScalar(graph, id) || (IsImage(graph, id) && graph.value(id).type.shape[1] == shape[1]);
  });
}

// Zeros in the padding of the operands of such an operator give zeros. Scalars may add anything.
bool BroadcastKeepsZero(const Graph& graph, const Node& node) {
  return !node.Is("Div") && std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsScalar(graph, id); });
}

std::optional<float> ConstantOr(const Graph& graph, ValueId id, float absent) {
  if (!id.valid()) return absent;
  if (!graph.value(id).is_constant()) return std::nullopt;
  return graph.value(id).constant.data<float>()[0];
}

// Clip whose bounds are known to hold 0 between them.
bool ClipKeepsZero(const Graph& graph, const Node& node) {
  const auto low = ConstantOr(graph, node.input(1), -INFINITY), high = ConstantOr(graph, node.input(2), INFINITY);
  return low && high && simd::KeepsZero({simd::UnaryOp::kClip, *low, *high});
}

// Pools whose every window has an element in it: one without would put -infinity or NaN into the padding of blocks.
bool EveryWindowReads(const Node& node) {
  const std::vector<int64_t> dilations = node.attributes.Ints("dilations");
  return node.attributes.Int("ceil_mode", 0) == 0 &&
         std::all_of(dilations.begin(), dilations.end(), [](int64_t d) { return d == 1; });
}

// Whether the groups of a convolution are made of whole blocks, or of one channel each.
bool GroupsFit(const Graph& graph, const Node& node, const Layout& layout) {
  const int64_t groups = node.attributes.Int("group", 1);
  if (groups == 1) return true;
  const int64_t in = graph.value(node.inputs[0]).type.shape[1].value() / groups,
                out = graph.value(node.outputs[0]).type.shape[1].value() / groups;
  return (in == 1 && out == 1) || (in % layout.c0 == 0 && out % layout.c0 == 0);
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
// A program over images: operands have the result's channels, are scalars, or constants along the channels.
bool ProgramFitsBlocks(const Graph& graph, const Node& node) {
  const auto program = VectorProgram::Parse(node.attributes.String("program", ""));
  if (!program.ok() || !program->Verify(node.inputs.size(), 1).ok() || program->HasReductions()) return false;
  const std::vector<bool> channels = program->ChannelInputs(node.inputs.size());
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  bool image = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id.valid()) return false;
    if (channels[i]) {
      if (!graph.value(id).is_constant()) return false;
    } else if (IsImage(graph, id) && graph.value(id).type.shape[1] == shape[1]) {
      image = true;
    } else if (!IsScalar(graph, id)) {
      return false;
    }
  }
  return image;
}

}  // namespace

bool AcceptsLayoutOnHost(const Graph& graph, const Node& node, const Layout& layout) {
  if (layout.format != Format::kNC1HWC0 || (layout.c0 != 8 && layout.c0 != 16)) return false;
  if (node.outputs.size() != 1 || !IsImage(graph, node.outputs[0])) return false;
  if (node.Is("VectorProgram", "asc")) return ProgramFitsBlocks(graph, node);
  // Channels that leave no lane of the last block as padding. Padding is zero in every value, and a kernel that would make something
  // else of it does not take such blocks.
  const bool full = graph.value(node.outputs[0]).type.shape[1].value() % layout.c0 == 0;
#ifdef ASC_WITH_ONEDNN
  if (node.Is("Conv") || node.Is("FusedConv", "asc")) {
    return IsImage(graph, node.input(0)) && (!node.input(3).valid() || IsImage(graph, node.input(3))) &&
           graph.value(node.inputs[1]).is_constant() && GroupsFit(graph, node, layout);
  }
#endif
  if (IsImage(graph, node.input(0))) {
    if (IsOneOf(node, {"GlobalAveragePool", "GlobalMaxPool"})) return true;
    if (IsOneOf(node, {"MaxPool", "AveragePool"})) return full || EveryWindowReads(node);
    if (node.Is("Clip")) return full || ClipKeepsZero(graph, node);
    if (IsOneOf(node, {"ReduceMean", "ReduceMax"})) return ReducesPlanes(graph, node);
    if (node.Is("Resize")) return ResizesPlanes(graph, node);
    if (node.Is("BatchNormalization")) {
      return node.attributes.Int("training_mode", 0) == 0 &&
             std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsFloat32(graph, id); });
    }
  }
  if (IsOneOf(node, {"Add", "Div", "Max", "Min", "Mul", "PRelu", "Sub"}) && node.inputs.size() == 2) {
    return BroadcastsInBlocks(graph, node) && (full || BroadcastKeepsZero(graph, node));
  }
  if (!full && simd::KeepsZero(node)) return IsImage(graph, node.inputs[0]);
  const bool images = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsImage(graph, id); });
  if (images && node.Is("Concat")) return true;
  return images && full && node.schema->op_class == OpClass::kElementwise && SameShapes(graph, node);
}

}  // namespace asc
