#include "core/onnx/flex_attention.h"

#include <cmath>

#include "core/onnx/functions.h"
#include "core/onnx/node_order.h"
#include "core/tensor/element.h"

namespace asc::onnx {
namespace {
constexpr size_t kHeads = 1, kSize = 3, kRank = 4;

AttributeMap Attributes(std::initializer_list<AttributeMap::Entry> entries) {
  AttributeMap out;
  for (const auto& [name, value] : entries) out.Set(name, value);
  return out;
}

class Expansion {
 public:
  Expansion(const ImportedNode& call, NameSupply& names) : call_(call), names_(names) {}

  Result<std::vector<ImportedNode>> Run(const ValueType& query, const ValueType& key);

 private:
  Status Check(const ValueType& query, const ValueType& key) const;
  // Appends a node of one output, and gives that one's name.
  std::string Add(std::string_view op, std::vector<std::string> inputs,
                  AttributeMap attributes = {}, std::string output = "");
  std::string Ints(const std::vector<int64_t>& values) {
    return Add("Constant", {}, Attributes({{"value", FromInt64Vector(values)}}));
  }
  std::string Extents(const std::string& of, int64_t begin, int64_t end) {
    return Add("Shape", {of}, Attributes({{"start", begin}, {"end", end}}));
  }
  std::string Cast(const std::string& value, DataType to) {
    return Add("Cast", {value}, Attributes({{"to", static_cast<int64_t>(to)}}));
  }
  // Each head of keys or values as often as there are queries for it.
  std::string RepeatHeads(const std::string& keys);
  // 1 / sqrt(head size) unless the call says otherwise.
  Result<std::string> Scale(const ValueType& query, DataType type);
  // The value as the graph attribute of that name changes it.
  Result<std::string> Modified(const std::string& value, std::string_view attribute);

  const ImportedNode& call_;
  NameSupply& names_;
  std::vector<ImportedNode> nodes_;
};

std::string Expansion::Add(std::string_view op, std::vector<std::string> inputs,
                           AttributeMap attributes, std::string output) {
  ImportedNode node;
  node.op_type = op;
  node.name = Cat(call_.Label(), "/", op);
  node.inputs = std::move(inputs);
  node.outputs = {output.empty() ? names_.Fresh(node.name) : std::move(output)};
  node.attributes = std::move(attributes);
  node.origins = call_.origins;
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs[0];
}

Status Expansion::Check(const ValueType& query, const ValueType& key) const {
  if (call_.inputs.size() != 3 || call_.outputs.size() != 1 || call_.outputs[0].empty()) {
    return InvalidArgument("FlexAttention takes 3 inputs and gives 1 output, given ",
                           call_.inputs.size(), " and ", call_.outputs.size());
  }
  for (const auto& [name, value] : call_.attributes) {
    const AttributeType expected = name == "scale" ? AttributeType::kFloat : AttributeType::kInt;
    if ((name != "scale" && name != "softmax_precision") || TypeOf(value) != expected)
      return InvalidArgument("FlexAttention has no attribute '", name, "' of type ",
                             AttributeTypeName(TypeOf(value)));
  }
  for (const auto& [name, region] : call_.regions) {
    if (name != "score_mod" && name != "prob_mod")
      return InvalidArgument("FlexAttention has no attribute '", name, "' of type graph");
    if (region->inputs.size() != 1 || region->outputs.size() != 1) {
      return InvalidArgument("FlexAttention attribute '", name,
                             "' must be a graph of one input and one output, given ",
                             region->inputs.size(), " and ", region->outputs.size());
    }
  }
  for (const ValueType* type : {&query, &key}) {
    if (type->is_tensor() && type->shape.has_rank() && type->shape.rank() != kRank)
      return ShapeError("FlexAttention takes tensors of rank 4, given ", type->shape);
  }
  return Ok();
}

std::string Expansion::RepeatHeads(const std::string& keys) {
  const std::string &query = call_.inputs[0], heads = Extents(query, 1, 2);
  const std::string times = Add("Div", {heads, Extents(keys, 1, 2)});
  const std::string ones = Ints({1, 1}), concat = "Concat";
  const AttributeMap first_axis = Attributes({{"axis", int64_t{0}}});
  const std::string spread = Add("Expand", {Add("Unsqueeze", {keys, Ints({2})}),
                                            Add(concat, {ones, times, ones}, first_axis)});
  return Add("Reshape",
             {spread, Add(concat, {Extents(keys, 0, 1), heads, Extents(keys, 2, 4)}, first_axis)});
}

Result<std::string> Expansion::Scale(const ValueType& query, DataType type) {
  if (const float* scale = call_.attributes.Get<float>("scale")) {
    return Cast(Add("Constant", {}, Attributes({{"value", Tensor::Scalar(*scale)}})), type);
  }
  if (query.shape.has_rank() && query.shape[kSize].is_constant()) {
    const auto scale = 1 / std::sqrt(static_cast<double>(query.shape[kSize].value()));
    return Cast(Add("Constant", {}, Attributes({{"value", Tensor::Scalar(scale)}})), type);
  }
  return Add("Reciprocal", {Add("Sqrt", {Cast(Extents(call_.inputs[0], 3, 4), type)})});
}

Result<std::string> Expansion::Modified(const std::string& value, std::string_view attribute) {
  for (const auto& [name, region] : call_.regions) {
    if (name != attribute) continue;
    // As a function of the value and of what the graph captures.
    ImportedFunction function;
    function.name = name;
    function.inputs = {region->inputs[0].name};
    function.outputs = {region->outputs[0].name};
    ImportedNode inner;
    inner.name = Cat(call_.Label(), "/", name);
    inner.origins = call_.origins;
    inner.inputs = {value};
    inner.outputs = {names_.Fresh(inner.name)};
    for (const std::string& captured : FreeNames(*region)) {
      function.inputs.push_back(captured);
      inner.inputs.push_back(captured);
    }
    for (const auto& [constant, tensor] : region->initializers) {
      ImportedNode node;
      node.op_type = "Constant";
      node.outputs = {constant};
      node.attributes.Set("value", tensor);
      function.nodes.push_back(std::move(node));
    }
    function.nodes.insert(function.nodes.end(), region->nodes.begin(), region->nodes.end());
    ASC_ASSIGN_OR_RETURN(std::vector<ImportedNode> body, ExpandCall(function, inner, names_));
    std::move(body.begin(), body.end(), std::back_inserter(nodes_));
    return inner.outputs[0];
  }
  return value;
}

Result<std::vector<ImportedNode>> Expansion::Run(const ValueType& query, const ValueType& key) {
  ASC_RETURN_IF_ERROR(Check(query, key));
  const std::string &q = call_.inputs[0], &k = call_.inputs[1], &v = call_.inputs[2];
  if (call_.regions.empty()) {  // then it is what Attention computes
    Add("Attention", {q, k, v}, call_.attributes, call_.outputs[0]);
    return std::move(nodes_);
  }
  const DataType narrow = query.dtype;
  const DataType usual = narrow == DataType::kFloat64 ? narrow : DataType::kFloat32;
  const DataType type = call_.attributes.Type("softmax_precision").value_or(usual);
  const auto heads = [](const ValueType& of) {
    return of.shape.has_rank() ? of.shape[kHeads] : Dim::Unknown();
  };
  const bool repeat = !heads(query).is_constant() || !heads(key).is_constant() ||
                      heads(query).value() != heads(key).value();
  const auto widened = [&](const std::string& value) {
    return type == narrow ? value : Cast(value, type);
  };
  const std::string keys = widened(repeat ? RepeatHeads(k) : k);
  const std::string turned =
      Add("Transpose", {keys}, Attributes({{"perm", std::vector<int64_t>{0, 1, 3, 2}}}));
  ASC_ASSIGN_OR_RETURN(const std::string scale, Scale(query, type));
  std::string scores = Add("Mul", {Add("MatMul", {widened(q), turned}), scale});
  ASC_ASSIGN_OR_RETURN(scores, Modified(scores, "score_mod"));
  std::string shares = Add("Softmax", {scores}, Attributes({{"axis", int64_t{-1}}}));
  ASC_ASSIGN_OR_RETURN(shares, Modified(shares, "prob_mod"));
  const std::string sums = Add("MatMul", {shares, widened(repeat ? RepeatHeads(v) : v)});
  Add("Cast", {sums}, Attributes({{"to", static_cast<int64_t>(narrow)}}), call_.outputs[0]);
  return std::move(nodes_);
}
}  // namespace

bool IsFlexAttention(const ImportedNode& node) {
  return node.domain == "ai.onnx.preview" && node.op_type == "FlexAttention";
}

Result<std::vector<ImportedNode>> ExpandFlexAttention(const ImportedNode& call,
                                                      const ValueType& query, const ValueType& key,
                                                      NameSupply& names) {
  return Expansion(call, names).Run(query, key);
}

}  // namespace asc::onnx
