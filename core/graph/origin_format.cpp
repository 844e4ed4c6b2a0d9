#include "core/graph/origin_format.h"

#include <numeric>

namespace asc {
namespace {

bool IsRanked(const Value& value) { return value.type.is_tensor() && value.type.shape.has_rank(); }

bool LeavesAxesInPlace(const OpSchema& schema) {
  switch (schema.op_class) {
    case OpClass::kElementwise:
    case OpClass::kNormalization:
    case OpClass::kConvolution:
    case OpClass::kPooling: return true;
    default: return false;
  }
}

// ONNX's default is to reverse the axes.
std::vector<int64_t> PermutationOf(const Node& node, size_t rank) {
  std::vector<int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return node.attributes.Ints("perm", std::move(reversed));
}

}  // namespace

Format OriginFormatOf(const Value& value) {
  if (value.origin_format != Format::kND || !IsRanked(value)) return value.origin_format;
  switch (value.type.shape.rank()) {
    case 4: return Format::kNCHW;
    case 5: return Format::kNCDHW;
    default: return Format::kND;
  }
}

void InferOriginFormats(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.input(0).valid()) return;
  const Value& from = graph.value(node.inputs[0]);
  if (!IsRanked(from)) return;
  Format format = from.origin_format;
  if (node.Is("Transpose")) {
    format = PermuteFormat(OriginFormatOf(from), PermutationOf(node, from.type.shape.rank()));
  } else if (!LeavesAxesInPlace(*node.schema)) {
    return;
  }
  for (const ValueId output : node.outputs) {
    if (!output.valid()) continue;
    Value& to = graph.value(output);
    if (IsRanked(to) && to.type.shape.rank() == from.type.shape.rank()) to.origin_format = format;
  }
}

}  // namespace asc
