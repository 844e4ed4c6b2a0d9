#include "core/onnx/operator_forms.h"

#include <algorithm>
#include <climits>
#include <map>
#include <string_view>

namespace asc::onnx {
namespace {
// What a parameter takes: bits by DataType for tensors; 32 higher for sequences of such; and
// whether optionals of those and maps are taken.
using TypeMask = uint64_t;
constexpr int kSequenceShift = 32;
constexpr TypeMask kOptionalBit = TypeMask{1} << 31, kMapBit = TypeMask{1} << 30;
// Of element types that are not known.
constexpr TypeMask kUnknownBits = TypeMask{1} | TypeMask{1} << kSequenceShift;

constexpr int kAny = INT_MAX;

// An older form of an operator that means the same as the newest wherever it can be written.
struct OperatorForm {
  std::string_view op;
  int64_t opset;  // that began with it
  int least_inputs, most_inputs, most_outputs;
  std::string_view missing;  // attributes that it has not
  std::vector<TypeMask> inputs, outputs;
};

// By operator, newest first.
using Forms = std::map<std::string_view, std::vector<OperatorForm>>;

const Forms& AllForms() {
  static const Forms* const forms = [] {
    auto* made = new Forms;
    for (OperatorForm& form : std::vector<OperatorForm>{
#include "core/onnx/operator_forms.inc"
         }) {
      (*made)[form.op].push_back(std::move(form));
    }
    return made;
  }();
  return *forms;
}

// Texts of attributes that came later than the attribute.
struct LaterValue {
  std::string_view op, attribute, value;
  int64_t since;
};
constexpr LaterValue kLaterValues[] = {
    {"Pad", "mode", "wrap", 19},
    {"Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19},
    {"ScatterElements", "reduction", "max", 18},
    {"ScatterElements", "reduction", "min", 18},
    {"ScatterND", "reduction", "max", 18},
    {"ScatterND", "reduction", "min", 18},
};

// Windows that would start in the padding at the end were first spoken of here.
constexpr int64_t kCeilModeMended = 22;
// Mod of floating-point numbers that rounds to minus infinity came here.
constexpr int64_t kFloatingModByFloor = 28;

TypeMask MaskOf(const ValueType& type) {
  const auto bit = [](DataType dtype) { return TypeMask{1} << static_cast<int>(dtype); };
  switch (type.kind) {
    case ValueKind::kTensor:
      return bit(type.dtype);
    case ValueKind::kSequence:
      return type.element && type.element->is_tensor() ? bit(type.element->dtype) << kSequenceShift
                                                       : 0;
    case ValueKind::kOptional:
      return kOptionalBit;
    case ValueKind::kMap:
      return kMapBit;
  }
  return 0;
}

bool Take(const std::vector<TypeMask>& parameters, const Graph& graph,
          const std::vector<ValueId>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].valid() || parameters.empty()) continue;
    const TypeMask given = MaskOf(graph.value(values[i]).type) & ~kUnknownBits;
    if ((given & ~parameters[std::min(i, parameters.size() - 1)]) != 0) return false;
  }
  return true;
}

bool IsDefault(const Node& node, const std::string& name) {
  const AttributeValue* value = node.attributes.Find(name);
  if (value == nullptr) return true;
  const AttributeSpec* spec = node.schema->FindAttribute(name);
  return spec != nullptr && spec->default_value && AttributeEquals(*value, *spec->default_value);
}

bool Fits(const OperatorForm& form, const Graph& graph, const Node& node) {
  if (node.inputs.size() > static_cast<size_t>(form.most_inputs)) return false;
  for (size_t i = 0; i < static_cast<size_t>(form.least_inputs); ++i) {
    if (!node.input(i).valid()) return false;
  }
  if (static_cast<size_t>(form.most_outputs) < node.outputs.size() &&
      node.schema->MaxOutputs() != SIZE_MAX) {
    return false;
  }
  for (size_t begin = 0; begin < form.missing.size();) {
    const size_t end = std::min(form.missing.find(' ', begin), form.missing.size());
    if (!IsDefault(node, std::string(form.missing.substr(begin, end - begin)))) return false;
    begin = end + 1;
  }
  return Take(form.inputs, graph, node.inputs) && Take(form.outputs, graph, node.outputs);
}

int64_t OldestByValues(const Graph& graph, const Node& node) {
  int64_t oldest = kOldestExportOpset;
  for (const LaterValue& later : kLaterValues) {
    if (node.Is(later.op) && node.attributes.String(later.attribute, "") == later.value)
      oldest = std::max(oldest, later.since);
  }
  if ((node.Is("AveragePool") || node.Is("MaxPool") || node.Is("LpPool")) &&
      node.attributes.Int("ceil_mode", 0) != 0) {
    oldest = std::max(oldest, kCeilModeMended);
  }
  if (node.Is("Mod") && node.attributes.Int("fmod", 0) == 0 && node.input(0).valid() &&
      IsFloat(graph.value(node.inputs[0]).type.dtype)) {
    oldest = std::max(oldest, kFloatingModByFloor);
  }
  return oldest;
}
}  // namespace

int64_t OldestOpset(const Graph& graph, const Node& node) {
  if (!node.schema->domain.empty()) return node.schema->since_version;
  int64_t oldest = node.schema->since_version;
  if (const auto found = AllForms().find(node.schema->name); found != AllForms().end()) {
    for (const OperatorForm& form : found->second) {
      if (!Fits(form, graph, node)) break;
      oldest = form.opset;
    }
  }
  return std::max(oldest, OldestByValues(graph, node));
}

int64_t IrVersionOf(int64_t opset) {
  struct Row {
    int64_t opset, ir;
  };
  // From the opset on; by the releases of ONNX.
  constexpr Row kRows[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}};
  for (const Row& row : kRows) {
    if (opset >= row.opset) return row.ir;
  }
  return 7;
}

int64_t IrVersionOf(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FNUZ:
      return 9;
    case DataType::kUInt4:
    case DataType::kInt4:
      return 10;
    case DataType::kFloat4E2M1:
      return 11;
    case DataType::kFloat8E8M0:
      return 12;
    case DataType::kUInt2:
    case DataType::kInt2:
      return 13;
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2:
      return 14;
    default:
      return 0;
  }
}

}  // namespace asc::onnx
