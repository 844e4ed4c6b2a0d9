#include "core/passes/product.h"

#include <algorithm>
#include <cmath>

#include "core/passes/match.h"

namespace asc {
namespace {
constexpr size_t kMostFactors = 8;

void Collect(const Graph& graph, ValueId value, bool root, FlatProduct& out) {
  const Node* node = graph.Producer(value);
  const bool inner = root || SoleUser(graph, value) != nullptr;
  if (node == nullptr || !inner || node->inputs.size() != 2 || out.factors.size() > kMostFactors) {
    out.factors.push_back(value);
    return;
  }
  const auto left = ScalarConstant(graph, node->inputs[0]),
             right = ScalarConstant(graph, node->inputs[1]);
  if (node->Is("Mul")) {
    out.nodes.push_back(node->id);
    for (const auto& [scalar, operand] :
         {std::pair{left, node->inputs[0]}, {right, node->inputs[1]}}) {
      if (scalar) {
        out.coefficient *= *scalar;
      } else {
        Collect(graph, operand, false, out);
      }
    }
  } else if (node->Is("Div") && right && !left) {
    out.nodes.push_back(node->id);
    out.coefficient /= *right;
    Collect(graph, node->inputs[0], false, out);
  } else if (node->Is("Pow") && right && (*right == 2 || *right == 3)) {
    out.nodes.push_back(node->id);
    out.factors.insert(out.factors.end(), static_cast<size_t>(*right), node->inputs[0]);
  } else {
    out.factors.push_back(value);
  }
}
}  // namespace

FlatProduct Flatten(const Graph& graph, ValueId value) {
  FlatProduct out;
  Collect(graph, value, true, out);
  std::sort(out.factors.begin(), out.factors.end());
  return out;
}

bool NearlyEqual(double value, double wanted, DataType dtype) {
  double tolerance = 3e-6;  // float32: 1.41421 is the square root of 2
  if (dtype == DataType::kBFloat16) tolerance = 0x1p-8;
  if (dtype == DataType::kFloat16) tolerance = 0x1p-10;
  if (dtype == DataType::kFloat64) tolerance = 1e-14;
  return std::fabs(value - wanted) <= tolerance * std::fabs(wanted);
}

ValueId OtherAddend(const Graph& graph, const Node& sum, double wanted) {
  if (!sum.Is("Add")) return ValueId();
  const DataType dtype = graph.value(sum.outputs[0]).type.dtype;
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    const auto scalar = ScalarConstant(graph, sum.inputs[slot]);
    if (scalar && NearlyEqual(*scalar, wanted, dtype)) return sum.inputs[1 - slot];
  }
  return ValueId();
}

}  // namespace asc
