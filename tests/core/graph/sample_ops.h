// A few operator rows for tests of the graph room, which knows no registry.
#ifndef ASC_TESTS_CORE_GRAPH_SAMPLE_OPS_H_
#define ASC_TESTS_CORE_GRAPH_SAMPLE_OPS_H_

#include "core/graph/graph.h"
#include "core/graph/infer.h"

namespace asc {

inline Status InferLikeFirst(InferContext& context) {
  for (size_t i = 0; i < context.output_count(); ++i) context.SetOutput(i, context.type(0));
  return Ok();
}

inline Status InferLikeRegion(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const auto types, context.InferRegion("then_branch", {}));
  ASC_RETURN_IF_ERROR(context.InferRegion("else_branch", {}).status());
  for (size_t i = 0; i < types.size(); ++i) context.SetOutput(i, types[i]);
  return Ok();
}

inline Parameter SampleParameter(std::string_view name, std::string_view type,
                                 ParameterKind kind = ParameterKind::kSingle,
                                 bool homogeneous = true) {
  Parameter parameter;
  parameter.name = name;
  parameter.type_variable = type;
  parameter.kind = kind;
  parameter.homogeneous = homogeneous;
  return parameter;
}

// "Relu", "Add", "Dropout" (optional inputs and outputs), "Attributes" (one of each type), "If",
// "asc.Assign".
inline const OpSchema* SampleOp(std::string_view domain, std::string_view name) {
  static const std::vector<OpSchema>* ops = [] {
    auto* rows = new std::vector<OpSchema>(6);
    const auto start = [&](size_t i, std::string_view row_name,
                           std::string_view method) -> OpSchema& {
      OpSchema& row = (*rows)[i];
      row.name = row_name;
      row.method = method;
      row.infer = InferLikeFirst;
      row.type_variables["T"] = types::kNumeric;
      return row;
    };
    OpSchema& relu = start(0, "Relu", "relu");
    relu.inputs = {SampleParameter("X", "T")};
    relu.outputs = {SampleParameter("Y", "T")};
    OpSchema& add = start(1, "Add", "add");
    add.inputs = {SampleParameter("A", "T"), SampleParameter("B", "T")};
    add.outputs = {SampleParameter("C", "T")};
    OpSchema& dropout = start(2, "Dropout", "dropout");
    dropout.inputs = {SampleParameter("data", "T"),
                      SampleParameter("ratio", "", ParameterKind::kOptional),
                      SampleParameter("mode", "", ParameterKind::kOptional)};
    dropout.outputs = {SampleParameter("output", "T", ParameterKind::kOptional),
                       SampleParameter("mask", "T", ParameterKind::kOptional)};
    OpSchema& attributes = start(3, "Attributes", "attributes");
    attributes.inputs = relu.inputs;
    attributes.outputs = relu.outputs;
    for (const auto& [attribute, type] : {std::pair{"i", AttributeType::kInt},
                                          {"f", AttributeType::kFloat},
                                          {"s", AttributeType::kString},
                                          {"is", AttributeType::kInts},
                                          {"fs", AttributeType::kFloats},
                                          {"ss", AttributeType::kStrings},
                                          {"t", AttributeType::kTensor},
                                          {"y", AttributeType::kType}}) {
      AttributeSpec& spec = attributes.attributes.emplace_back();
      spec.name = attribute;
      spec.type = type;
    }
    OpSchema& branch = start(4, "If", "if_");
    branch.inputs = {SampleParameter("cond", "")};
    branch.outputs = {SampleParameter("outputs", "", ParameterKind::kVariadic, false)};
    branch.regions = {"then_branch", "else_branch"};
    branch.infer = InferLikeRegion;
    OpSchema& assign = start(5, "Assign", "assign");
    assign.domain = "asc";
    assign.inputs = {SampleParameter("variable", "T"), SampleParameter("value", "T")};
    assign.outputs = {SampleParameter("next", "T")};
    assign.writes_variable = true;
    return rows;
  }();
  for (const OpSchema& row : *ops) {
    if (row.domain == domain && row.name == name) return &row;
  }
  return nullptr;
}
inline const OpSchema* SampleOp(std::string_view name) { return SampleOp("", name); }

inline ValueType Floats(std::vector<Dim> dims) {
  return ValueType::Tensor(DataType::kFloat32, Shape(std::move(dims)));
}

// Adds a node of one output and gives that.
inline ValueId Apply(Graph& graph, const OpSchema* op, std::vector<ValueId> inputs,
                     AttributeMap attributes = {}) {
  return graph.node(graph.AddNode(op, std::move(inputs), 1, std::move(attributes))).outputs[0];
}

}  // namespace asc

#endif  // ASC_TESTS_CORE_GRAPH_SAMPLE_OPS_H_
