// The fluent way to write a registry row:
//
//   table.Add("Softmax", 13)
//       .Doc("exp(x) / sum(exp(x)) along an axis")
//       .Input("input", "T").Output("output", "T").Types("T", types::kFloats)
//       .Attr("axis", int64_t{-1}, "dim", "the axis that sums to one")
//       .Class(OpClass::kNormalization).Infer(InferSameAsFirst).Kernel(Softmax);
#ifndef ASC_CORE_OPS_OP_BUILDER_H_
#define ASC_CORE_OPS_OP_BUILDER_H_

#include <deque>

#include "core/graph/op_schema.h"

namespace asc {

class OpBuilder {
 public:
  explicit OpBuilder(OpSchema& schema) : schema_(schema) {}

  OpBuilder& Doc(std::string_view text) { return schema_.doc = text, *this; }
  // Default: snake_case of the ONNX name.
  OpBuilder& Method(std::string_view name) { return schema_.method = name, *this; }
  // Name in fusion patterns; default: the ONNX name.
  OpBuilder& Fusion(std::string_view name) { return schema_.fusion = name, *this; }
  OpBuilder& Input(std::string_view name, std::string_view type, ParameterKind kind = ParameterKind::kSingle,
                   bool homogeneous = true) {
    schema_.inputs.push_back({std::string(name), std::string(type), kind, homogeneous, "", ""});
    return *this;
  }
  // The name in methods of the input that was added last, where PyTorch has another than ONNX: .Input("W", "T").As("weight").
  OpBuilder& As(std::string_view python) { return schema_.inputs.back().python_name = python, *this; }
  OpBuilder& OptionalInput(std::string_view name, std::string_view type) {
    return Input(name, type, ParameterKind::kOptional);
  }
  OpBuilder& Output(std::string_view name, std::string_view type, ParameterKind kind = ParameterKind::kSingle,
                    bool homogeneous = true) {
    schema_.outputs.push_back({std::string(name), std::string(type), kind, homogeneous, "", ""});
    return *this;
  }
  OpBuilder& OptionalOutput(std::string_view name, std::string_view type) {
    return Output(name, type, ParameterKind::kOptional);
  }
  OpBuilder& Types(std::string_view variable, TypeSet types) {
    schema_.type_variables[std::string(variable)] = types;
    return *this;
  }
  // An attribute with a default. `python` is the parameter's name in methods ("" for the same name).
  OpBuilder& Attr(std::string_view name, AttributeValue value, std::string_view python = "", std::string_view doc = "") {
    const AttributeType type = TypeOf(value);
    schema_.attributes.push_back({std::string(name), type, std::move(value), false,
                                  std::string(python.empty() ? name : python), std::string(doc)});
    return *this;
  }
  OpBuilder& OptionalAttr(std::string_view name, AttributeType type, std::string_view python = "", std::string_view doc = "") {
    schema_.attributes.push_back(
        {std::string(name), type, std::nullopt, false, std::string(python.empty() ? name : python), std::string(doc)});
    return *this;
  }
  OpBuilder& RequiredAttr(std::string_view name, AttributeType type, std::string_view python = "", std::string_view doc = "") {
    OptionalAttr(name, type, python, doc);
    schema_.attributes.back().required = true;
    return *this;
  }
  OpBuilder& HasRegion(std::string_view name) { return schema_.regions.emplace_back(name), *this; }
  OpBuilder& Class(OpClass op_class) { return schema_.op_class = op_class, *this; }
  OpBuilder& Random() { return schema_.deterministic = false, *this; }
  OpBuilder& ShapeFromKernel() { return schema_.output_shape_from_kernel = true, *this; }
  OpBuilder& WritesVariable() { return schema_.writes_variable = true, *this; }
  OpBuilder& Infer(InferFn infer) { return schema_.infer = infer, *this; }
  OpBuilder& Kernel(ReferenceKernel kernel) { return schema_.reference = kernel, *this; }
  OpBuilder& Cost(decltype(OpSchema::cost) cost) { return schema_.cost = cost, *this; }

 private:
  OpSchema& schema_;
};

// The rows in the making; addresses stay.
class OpTable {
 public:
  // `since_version`: the opset that gave the operator the form written here.
  OpBuilder Add(std::string_view name, int since_version, std::string_view domain = "");
  std::deque<OpSchema>& rows() { return rows_; }

 private:
  std::deque<OpSchema> rows_;
};

}  // namespace asc

#endif  // ASC_CORE_OPS_OP_BUILDER_H_
