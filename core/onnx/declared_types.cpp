#include "core/onnx/declared_types.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/graph/infer.h"

namespace asc::onnx {
namespace {
bool SaysNothing(const ValueType& type) {
  return type.is_tensor() && type.dtype == DataType::kUndefined && !type.shape.has_rank();
}

// What is left of a declared shape when nothing is believed that a run may contradict: its rank,
// and names for extents that only the data decides.
Shape Weakened(const Shape& declared, const std::set<std::string>& input_symbols) {
  if (!declared.has_rank()) return declared;
  std::vector<Dim> dims;
  for (const Dim& dim : declared.dims()) {
    const bool is_name = dim.is_symbol() && !input_symbols.contains(dim.ToString());
    dims.push_back(is_name ? dim : Dim::Unknown());
  }
  return Shape(std::move(dims));
}
}  // namespace

Status FillFromDeclared(const ValueType& declared, const std::set<std::string>& input_symbols,
                        Value& value) {
  ValueType& type = value.type;
  ValueType weak = declared;
  weak.shape = Weakened(declared.shape, input_symbols);
  if (SaysNothing(type)) {
    type = std::move(weak);
    return Ok();
  }
  if (SaysNothing(declared)) return Ok();
  const Result<ValueType> merged = MergeTypes(type, declared);
  if (!merged.ok() && merged.status().code() == Code::kTypeMismatch) return merged.status();
  if (!merged.ok()) {
    Log(LogLevel::kWarning, "value '", value.name, "' is declared as ", declared,
        " but found to be ", type, ": the declaration is ignored");
    return Ok();
  }
  if (!type.is_tensor()) return Ok();
  if (type.dtype == DataType::kUndefined) type.dtype = declared.dtype;
  if (!type.shape.has_rank()) type.shape = weak.shape;
  for (size_t i = 0; i < weak.shape.rank() && weak.shape.has_rank(); ++i) {
    Dim& dim = type.shape[i];
    const bool free =
        dim.is_symbol() && dim.is_unknown() && !input_symbols.contains(dim.ToString());
    if (free && !weak.shape[i].is_unknown()) dim = weak.shape[i];
  }
  return Ok();
}

std::vector<ValueType> BodyInputTypes(const ImportedNode& node,
                                      const std::vector<const ValueType*>& inputs) {
  const auto of_rank = [](const ValueType* type, size_t dropped) {
    ValueType out = type == nullptr ? ValueType() : *type;
    const bool ranked = out.shape.has_rank() && out.shape.rank() >= dropped;
    out.shape = ranked ? Shape::UnknownDims(out.shape.rank() - dropped) : Shape();
    return out;
  };
  std::vector<ValueType> types;
  if (!node.domain.empty()) return types;
  if (node.op_type == "Loop") {
    types = {ValueType::Tensor(DataType::kInt64, Shape(Dims{})),
             ValueType::Tensor(DataType::kBool, Shape(Dims{}))};
    for (size_t i = 2; i < inputs.size(); ++i) {
      types.push_back(inputs[i] == nullptr ? ValueType() : *inputs[i]);
      types.back().shape = Shape();  // carried values may change their rank too
    }
  } else if (node.op_type == "Scan") {
    const auto scanned = node.attributes.Int("num_scan_inputs", 0);
    const size_t count = inputs.size();
    const size_t states =
        count - std::min(count, static_cast<size_t>(std::max<int64_t>(scanned, 0)));
    for (size_t i = 0; i < count; ++i) types.push_back(of_rank(inputs[i], i < states ? 0 : 1));
  } else if (node.op_type == "SequenceMap") {
    for (const ValueType* input : inputs) {
      const bool sequence =
          input != nullptr && input->kind == ValueKind::kSequence && input->element != nullptr;
      types.push_back(of_rank(sequence ? input->element.get() : input, 0));
    }
  }
  return types;
}

}  // namespace asc::onnx
