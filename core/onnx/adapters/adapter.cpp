#include "core/onnx/adapters/adapter.h"

#include <algorithm>
#include <map>

#include "core/onnx/adapters/contrib.h"

namespace asc::onnx {
namespace {
// By domain and operator, ordered by version.
using Table = std::map<std::pair<std::string_view, std::string_view>, std::vector<AdapterRow>>;

Table MakeTable() {
  Table table;
  for (const auto rows :
       {ContribAttentionAdapters(), ContribFusionAdapters(), ContribQuantizedAdapters(),
        ElementwiseAdapters(), MlAdapters(), NormalizationAdapters(), RecurrentAdapters(),
        ReductionAdapters(), ResizeAdapters(), ShapeAdapters()}) {
    for (const AdapterRow& row : rows) table[{row.domain, row.op}].push_back(row);
  }
  for (auto& [name, rows] : table) {
    std::sort(rows.begin(), rows.end(),
              [](const AdapterRow& a, const AdapterRow& b) { return a.up_to < b.up_to; });
  }
  return table;
}

// The first step that the node needs; null when it has the canonical form.
const AdapterRow* NextStep(const ImportedNode& node) {
  static const Table* table = new Table(MakeTable());
  const auto rows = table->find({node.domain, node.op_type});
  if (rows == table->end()) return nullptr;
  for (const AdapterRow& row : rows->second) {
    if (node.opset <= row.up_to) return &row;
  }
  return nullptr;
}
}  // namespace

void Adaptation::SetInput(size_t i, std::string name) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1);
  node.inputs[i] = std::move(name);
}

std::optional<size_t> Adaptation::Rank(size_t i) {
  const ValueType* type = scope.TypeOf(input(i));
  if (type == nullptr || !type->is_tensor() || !type->shape.has_rank()) return std::nullopt;
  return type->shape.rank();
}

Status Adaptation::Refuse(std::string_view what) const {
  return Error(Code::kInvalidModel, node.op_type, " of opset ", node.opset, " ", what);
}

std::string Adaptation::Ints(std::string_view base, const std::vector<int64_t>& values) {
  return scope.AddConstant(Cat(node.Label(), "_", base), FromInt64Vector(values));
}

void Adaptation::IntsToInput(std::string_view attribute, size_t i) {
  const auto* values = attributes().Get<std::vector<int64_t>>(attribute);
  if (values == nullptr) return;
  SetInput(i, Ints(attribute, *values));
  attributes().Erase(attribute);
}

Result<std::string> Adaptation::Compute(std::string_view op, std::vector<std::string> inputs,
                                        AttributeMap attributes) {
  ImportedNode helper;
  helper.op_type = op;
  helper.inputs = std::move(inputs);
  helper.outputs = {scope.FreshName(Cat(node.Label(), "_", op))};
  helper.attributes = std::move(attributes);
  std::string output = helper.outputs[0];
  ASC_RETURN_IF_ERROR(scope.Emit(std::move(helper)));
  return output;
}

std::string Adaptation::DivertOutput(size_t i) {
  std::string wanted = node.outputs[i];
  node.outputs[i] = scope.FreshName(wanted + "_inner");
  return wanted;
}

void Adaptation::Then(std::string_view op, std::vector<std::string> inputs, std::string output,
                      AttributeMap attributes) {
  ImportedNode& next = after.emplace_back();
  next.op_type = op;
  next.inputs = std::move(inputs);
  next.outputs = {std::move(output)};
  next.attributes = std::move(attributes);
}

Status UpgradeNode(Adaptation& adaptation) {
  ImportedNode& node = adaptation.node;
  if (node.opset == ImportedNode::kCanonical) return Ok();
  // A hint for in-place execution that half of the first operators had.
  if (node.domain.empty() && node.opset < 6) node.attributes.Erase("consumed_inputs");
  while (const AdapterRow* step = NextStep(node)) {
    ASC_RETURN_IF_ERROR(step->adapter(adaptation));
    node.opset = step->up_to + 1;
    if (adaptation.replaced) break;
  }
  return Ok();
}

}  // namespace asc::onnx
