#include "capi/src/pinned.h"

#include "core/graph/origin_format.h"
#include "core/ops/registry.h"

namespace asc::capi {
namespace {

std::vector<int64_t> PermutationBetween(Format from, Format to, size_t rank) {
  std::vector<int64_t> perm(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    perm[axis] = static_cast<int64_t>(FormatName(from).find(FormatName(to)[axis]));
  }
  return perm;
}

// The layout of the axes' names in the order that ONNX's convolutions want.
Format ChannelsFirst(Format format) {
  if (format == Format::kNHWC) return Format::kNCHW;
  if (format == Format::kNDHWC) return Format::kNCDHW;
  return format;
}

Status CheckLayout(const Value& operand, Format expected, const NodeSpec& spec) {
  const Format given = OriginFormatOf(operand);
  if (expected == Format::kND || PlainFormat(expected) == given) return Ok();
  Status status = Error(Code::kLayout, spec.schema->method, " expects layout ",
                        FormatName(expected), ", but '", operand.name, "' is ", FormatName(given));
  const Format target = PlainFormat(expected);
  const bool permutable = FormatName(given).size() == FormatName(target).size() &&
                          FormatName(target).find('N') == 0 && FormatName(given).find('N') == 0;
  if (permutable) {
    const size_t rank = FormatName(given).size();
    const auto perm = PermutationBetween(given, target, rank);
    status = std::move(status).WithHint(Cat("ctx.transpose(", operand.name, ", perm=", perm,
                                            ") gives a value in ", FormatName(target)));
  } else {
    status = std::move(status).WithHint(Cat("give an operand in ", FormatName(target)));
  }
  return std::move(status).WithNode(spec.name.empty() ? spec.schema->method : spec.name);
}

Result<ValueId> AddTranspose(Graph& graph, ValueId from, std::vector<int64_t> perm,
                             const std::string& source, int scope) {
  NodeSpec spec;
  spec.schema = OpRegistry::Global().Find("", "Transpose");
  if (spec.schema == nullptr)
    return Error(Code::kUnsupportedOperator, "there is no operator 'Transpose'");
  spec.inputs = {from};
  spec.attributes.Set("perm", std::move(perm));
  spec.source = source;
  spec.scope = scope;
  ASC_ASSIGN_OR_RETURN(const NodeId node, BuildNode(graph, std::move(spec)));
  return graph.node(node).outputs[0];
}

}  // namespace

Result<std::vector<ValueId>> BuildPinned(Graph& graph, NodeSpec spec,
                                         std::string_view expected_format) {
  const auto expected = ParseFormat(expected_format);
  if (!expected) {
    const std::vector<std::string> names = FormatNames();
    const std::string nearest = NearestMatch(expected_format, names);
    Status status =
        InvalidArgument("there is no format '", expected_format, "'; expected one of ", names);
    return nearest.empty() ? status
                           : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
  }
  if (spec.inputs.empty() || !spec.inputs[0].valid()) {
    return InvalidArgument(spec.schema->method,
                           " has no first operand that expected_format could speak of");
  }
  ASC_RETURN_IF_ERROR(CheckLayout(graph.value(spec.inputs[0]), *expected, spec));
  const Format given = OriginFormatOf(graph.value(spec.inputs[0]));
  const Format first = ChannelsFirst(given);
  const bool spatial =
      spec.schema->op_class == OpClass::kConvolution || spec.schema->op_class == OpClass::kPooling;
  if (!spatial || first == given) {
    ASC_ASSIGN_OR_RETURN(const NodeId node, BuildNode(graph, std::move(spec)));
    return graph.node(node).outputs;
  }
  const size_t rank = FormatName(given).size();
  const std::string name = spec.name.empty() ? spec.schema->method + "_out" : spec.name;
  const std::string source = spec.source;
  const int scope = spec.scope;
  ASC_ASSIGN_OR_RETURN(
      spec.inputs[0],
      AddTranspose(graph, spec.inputs[0], PermutationBetween(given, first, rank), source, scope));
  ASC_ASSIGN_OR_RETURN(const NodeId node, BuildNode(graph, std::move(spec)));
  std::vector<ValueId> results;
  for (const ValueId output : std::vector<ValueId>(graph.node(node).outputs)) {
    graph.RenameValue(output, Cat(name, "_channels_first"));
    ASC_ASSIGN_OR_RETURN(
        results.emplace_back(),
        AddTranspose(graph, output, PermutationBetween(first, given, rank), source, scope));
    graph.RenameValue(results.back(), name);
  }
  return results;
}

}  // namespace asc::capi
