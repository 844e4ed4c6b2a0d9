#include "core/passes/match.h"

#include "core/tensor/element.h"

namespace asc {

const Node* ProducerOf(const Graph& graph, ValueId value, std::string_view op,
                       std::string_view domain) {
  const Node* node = graph.Producer(value);
  return node != nullptr && node->Is(op, domain) ? node : nullptr;
}

const Node* SoleUser(const Graph& graph, ValueId value) {
  if (!value.valid() || !graph.HasSingleUse(value)) return nullptr;
  const Use& use = graph.value(value).uses[0];
  const Node& node = graph.node(use.node);
  return use.slot < node.inputs.size() ? &node : nullptr;
}

std::optional<double> ScalarConstant(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  if (!types::kNumeric.Contains(tensor->dtype())) return std::nullopt;
  return ReadAsDouble(tensor->dtype(), tensor->raw(), 0);
}

std::optional<std::vector<int64_t>> IntsConstant(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr) return std::nullopt;
  auto ints = ToInt64Vector(*tensor);
  return ints.ok() ? std::optional(std::move(ints).value()) : std::nullopt;
}

bool SameType(const Value& a, const Value& b) {
  return a.type.is_tensor() && b.type.is_tensor() && a.type.dtype == b.type.dtype &&
         a.type.dtype != DataType::kUndefined && a.type.shape.has_rank() &&
         a.type.shape == b.type.shape && a.storage == b.storage;
}

}  // namespace asc
