#include "core/ops/operator_writer.h"

#include "core/ops/registry.h"
#include "core/ops/scalar.h"

namespace asc {

Result<size_t> OperatorWriter::Rank(ValueId value, std::string_view what) const {
  if (!value.valid()) return InvalidArgument("there is no ", what);
  if (!shape(value).has_rank()) return InvalidArgument("the rank of its ", what, " is not known");
  return shape(value).rank();
}

ValueId OperatorWriter::Add(std::string_view op, std::vector<ValueId> inputs,
                            AttributeMap attributes) {
  return AddMany(op, std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<ValueId> OperatorWriter::AddMany(std::string_view op, std::vector<ValueId> inputs,
                                             AttributeMap attributes, size_t output_count) {
  if (!ok()) return std::vector<ValueId>(output_count);
  const OpSchema* const schema = OpRegistry::Global().Find("", op);
  if (schema == nullptr) {
    Fail(InternalError("there is no operator ", op));
    return std::vector<ValueId>(output_count);
  }
  const NodeId made = graph_.AddNode(schema, std::move(inputs), output_count, std::move(attributes),
                                     graph_.UniqueNodeName(Cat(reason_.name, "/", op)));
  graph_.node(made).origins = reason_.origins;
  graph_.node(made).scope = reason_.scope;
  Fail(InferNode(graph_, made, reason_.reached));
  return graph_.node(made).outputs;
}

ValueId OperatorWriter::Constant(Tensor tensor) {
  if (!ok()) return ValueId();
  return graph_.AddConstant(graph_.UniqueValueName(Cat(reason_.name, "/constant")),
                            std::move(tensor));
}

ValueId OperatorWriter::Scalar(DataType type, double value) {
  Result<Tensor> scalar = ScalarOf(type, value);
  if (scalar.ok()) return Constant(std::move(scalar).value());
  Fail(std::move(scalar).status());
  return ValueId();
}

ValueId OperatorWriter::Ints(const std::vector<int64_t>& values) {
  return Constant(FromInt64Vector(values));
}

ValueId OperatorWriter::Cast(ValueId value, DataType type) {
  if (!ok() || dtype(value) == type) return value;
  return Add("Cast", {value}, "to", static_cast<int64_t>(type));
}

ValueId OperatorWriter::Settle(ValueId id) {
  if (!ok()) return id;
  const Value& value = graph_.value(id);
  const bool is_list = value.type.is_tensor() && value.type.dtype == DataType::kInt64 &&
                       value.type.shape.has_rank() && value.type.shape.rank() <= 1;
  if (!is_list || !value.dims || !Wrote(id) || !value.uses.empty()) return id;
  std::vector<int64_t> elements;
  for (const Dim& dim : *value.dims) {
    if (!dim.is_constant()) return id;
    elements.push_back(dim.value());
  }
  const NodeId producer = value.producer;
  if (graph_.node(producer).outputs.size() != 1) return id;
  const Tensor list =
      value.type.shape.rank() == 0 ? Tensor::Scalar(elements[0]) : FromInt64Vector(elements);
  graph_.RemoveNode(producer);
  return Constant(list);
}

bool OperatorWriter::Wrote(ValueId value) const {
  const NodeId producer = graph_.value(value).producer;
  return producer.valid() && static_cast<size_t>(producer.index) >= first_;
}

}  // namespace asc
