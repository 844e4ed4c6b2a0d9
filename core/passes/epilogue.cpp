#include "core/passes/epilogue.h"

#include <algorithm>
#include <limits>

#include "core/passes/match.h"

namespace asc {
namespace {
// Operator, its name in fused operators, its label, its parameters.
struct Row {
  std::string_view op, name, label;
  std::vector<std::string_view> params;
};
const std::vector<Row>& Rows() {
  static const auto* rows = new std::vector<Row>{
      {"Clip", "Clip", "Clip", {}},
      {"Gelu", "Gelu", "GELU", {}},
      {"HardSigmoid", "HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
      {"HardSwish", "HardSwish", "HardSwish", {}},
      {"LeakyRelu", "LeakyRelu", "LeakyReLU", {"alpha"}},
      {"Relu", "Relu", "ReLU", {}},
      {"Sigmoid", "Sigmoid", "Sigmoid", {}},
      {"Swish", "Silu", "SiLU", {}},
      {"Tanh", "Tanh", "Tanh", {}},
  };
  return *rows;
}

// A bound of Clip as float; `absent` where there is none, nullopt where it is not constant or not
// exact.
std::optional<float> Bound(const Graph& graph, ValueId id, float absent) {
  if (!id.valid()) return absent;
  const auto bound = ScalarConstant(graph, id);
  if (!bound || static_cast<double>(static_cast<float>(*bound)) != *bound)
    return std::nullopt;  // NaN too
  return static_cast<float>(*bound);
}

// All extents but the last are 1, and the last is the column's or 1.
bool IsRow(const Shape& addend, const Shape& result) {
  if (!addend.has_rank() || addend.rank() > result.rank()) return false;
  for (size_t i = 0; i < addend.rank(); ++i) {
    const bool last = i + 1 == addend.rank();
    if (!addend[i].IsConstant(1) && !(last && addend[i] == result[result.rank() - 1])) return false;
  }
  return true;
}

bool SameElementType(const Graph& graph, ValueId a, ValueId b) {
  return graph.value(a).type.is_tensor() && graph.value(a).type.dtype == graph.value(b).type.dtype;
}
}  // namespace

std::optional<FusedActivation> ActivationOf(const Graph& graph, const Node& node) {
  const auto row =
      std::find_if(Rows().begin(), Rows().end(), [&](const Row& r) { return node.Is(r.op); });
  if (row == Rows().end()) return std::nullopt;
  FusedActivation out{std::string(row->name), {}, std::string(row->label)};
  for (const std::string_view param : row->params)
    out.params.push_back(node.attributes.Float(param, 0));
  if (node.Is("Clip")) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const auto low = Bound(graph, node.input(1), -kInf), high = Bound(graph, node.input(2), kInf);
    if (!low || !high) return std::nullopt;
    out.params = {*low, *high};
  } else if (node.Is("Swish")) {
    if (node.attributes.Float("alpha", 1) != 1) return std::nullopt;
  } else if (node.Is("Gelu") && node.attributes.String("approximate", "none") == "tanh") {
    out.name = "GeluTanh";
  }
  return out;
}

std::vector<Epilogue> FindEpilogues(PassContext& context, const Node& node, const std::string& base,
                                    bool find_bias) {
  const Graph& graph = context.graph();
  std::vector<Epilogue> found;
  Epilogue at;
  at.fusion = base;
  at.result = node.outputs[0];
  while (!at.activation) {
    const std::vector<Use>& uses = graph.value(at.result).uses;
    // The user that would come next, whether or not it is the only one.
    const Node* next = nullptr;
    Epilogue longer = at;
    for (const Use& use : uses) {
      const Node& user = graph.node(use.node);
      if (use.slot >= user.inputs.size() || user.outputs.size() != 1) continue;
      if (use.slot == 0) longer.activation = ActivationOf(graph, user);
      if (longer.activation) {
        longer.fusion += Cat("+", longer.activation->label);
      } else if (user.Is("Add") && !at.residual.valid() &&
                 SameType(graph.value(at.result), graph.value(user.outputs[0]))) {
        const ValueId addend = user.inputs[1 - use.slot];
        if (!SameElementType(graph, addend, at.result) || addend == at.result) continue;
        const Shape& shape = graph.value(at.result).type.shape;
        if (find_bias && !at.bias.valid() && IsRow(graph.value(addend).type.shape, shape)) {
          longer.bias = addend;
          longer.fusion += "+BiasAdd";
        } else if (SameType(graph.value(addend), graph.value(at.result))) {
          longer.residual = addend;
          longer.fusion += "+Add";
        } else {
          continue;
        }
      } else {
        continue;
      }
      next = &user;
      break;
    }
    if (next == nullptr) break;
    if (SoleUser(graph, at.result) == nullptr) {
      context.Reject(
          longer.fusion, node,
          Cat("value '", graph.value(at.result).name, "' has other users or is a graph output"));
      break;
    }
    find_bias = find_bias && longer.bias == at.bias && !longer.residual.valid();
    longer.nodes.push_back(next->id);
    longer.result = next->outputs[0];
    at = std::move(longer);
    found.push_back(at);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<FusionInfo> EpilogueFusions(const std::vector<std::string>& bases, bool find_bias,
                                        std::string_view pass) {
  std::set<std::string> labels = {""};
  for (const Row& row : Rows()) labels.insert(Cat("+", row.label));
  std::vector<FusionInfo> out;
  for (const std::string& base : bases) {
    for (const std::string_view bias : {"", "+BiasAdd"}) {
      for (const std::string_view residual : {"", "+Add"}) {
        for (const std::string& activation : labels) {
          // A bias alone needs the fused operator only where the operator itself has none.
          if (residual.empty() && activation.empty() && (bias.empty() || !find_bias)) continue;
          out.push_back({Cat(base, bias, residual, activation), std::string(pass),
                         "one operator computes the chain", FusionSettings::Mode::kConservative});
        }
      }
    }
  }
  return out;
}

}  // namespace asc
