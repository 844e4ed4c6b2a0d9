// FusedMatMul: a matrix product takes in transposes of its operands, scalar factors, and the bias,
// residual addition and activation that follow.
#include <cmath>

#include "core/ops/registry.h"
#include "core/passes/epilogue.h"
#include "core/passes/match.h"
#include "core/passes/passes.h"
#include "core/passes/permutation.h"

namespace asc {
namespace {
// MatMul, Gemm and asc.FusedMatMul in one form.
struct Product {
  const Node* node;
  std::string label;  // "MatMul" or "Gemm"
  ValueId a, b, bias, residual;
  bool transpose[2] = {false, false};
  float alpha = 1;
  bool bare = true;  // nothing is added or applied yet
};

std::optional<Product> ProductOf(const Graph& graph, const Node& node) {
  const bool fused = node.Is("FusedMatMul", "asc"), gemm = node.Is("Gemm");
  if (!fused && !gemm && !node.Is("MatMul")) return std::nullopt;
  if (!types::kFloats.Contains(graph.value(node.inputs[0]).type.dtype)) return std::nullopt;
  if (!graph.value(node.outputs[0]).type.shape.has_rank()) return std::nullopt;
  Product out{&node, gemm ? "Gemm" : "MatMul", node.inputs[0], node.inputs[1], {}, {}};
  if (fused || gemm) {
    out.transpose[0] = node.attributes.Int("transA", 0) != 0;
    out.transpose[1] = node.attributes.Int("transB", 0) != 0;
    out.alpha = node.attributes.Float("alpha", 1);
    out.bias = node.input(2);
    out.residual = node.input(3);
    out.bare = !out.bias.valid() && !out.residual.valid() &&
               node.attributes.String("activation", "").empty();
  }
  return out;
}

AttributeMap FusedAttributes(const Product& product) {
  AttributeMap attributes;
  attributes.Set("alpha", product.alpha);
  attributes.Set("transA", int64_t{product.transpose[0]});
  attributes.Set("transB", int64_t{product.transpose[1]});
  return attributes;
}

// Factors beyond these stay where they are: taken out of one place and applied in another, they let
// products overflow that did not, or hide that they did.
constexpr float kLeastFactor = 1e-12f, kMostFactor = 1e12f;

// The operator and its attributes with what `product` says of transposes and factor, and everything
// else as in its node.
ValueId AddProduct(Patch& patch, const Product& product) {
  const Node& node = *product.node;
  if (node.Is("MatMul")) {
    return patch.AddNode(OpRegistry::Global().Find("asc", "FusedMatMul"), {product.a, product.b},
                         FusedAttributes(product));
  }
  AttributeMap attributes = node.attributes;
  for (const auto& [name, value] : FusedAttributes(product)) attributes.Set(name, value);
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = product.a;
  inputs[1] = product.b;
  return patch.AddNode(node.schema, std::move(inputs), std::move(attributes));
}

class FusedMatMul : public NodePass {
 public:
  std::string_view name() const override { return "FusedMatMul"; }

  void Visit(PassContext& context, const Node& node) override {
    const auto product = ProductOf(context.graph(), node);
    if (!product) return;
    for (size_t side = 0; side < 2; ++side) {
      if (TakeTranspose(context, *product, side) || TakeFactorBefore(context, *product, side))
        return;
    }
    if (TakeFactorAfter(context, *product)) return;
    TakeEpilogue(context, *product);
  }

 private:
  static bool TakeTranspose(PassContext& context, const Product& product, size_t side) {
    const Graph& graph = context.graph();
    const Node* transpose = ProducerOf(graph, side == 0 ? product.a : product.b, "Transpose");
    const auto perm = transpose == nullptr ? std::nullopt : PermutationOf(graph, *transpose);
    if (!perm || perm->size() < 2 || context.Touched(transpose->id) ||
        IsVariable(graph, transpose->inputs[0]))
      return false;
    Permutation swapped = *perm;
    std::swap(swapped[perm->size() - 2], swapped[perm->size() - 1]);
    if (!IsIdentity(swapped)) return false;
    Product changed = product;
    (side == 0 ? changed.a : changed.b) = transpose->inputs[0];
    changed.transpose[side] = !product.transpose[side];
    Patch patch(Cat("Transpose+", product.label), *product.node);
    patch.Remove(product.node->id);
    patch.Match(transpose->id);
    patch.Replace(product.node->outputs[0], AddProduct(patch, changed));
    return context.Submit(patch);
  }

  // The factor by which Mul or Div changes its other operand; nullopt where it is not constant or
  // not exact as float.
  static std::optional<float> Factor(const Graph& graph, const Node& node, ValueId& other) {
    const bool mul = node.Is("Mul");
    if ((!mul && !node.Is("Div")) || node.inputs.size() != 2) return std::nullopt;
    const size_t slot = mul && ScalarConstant(graph, node.inputs[0]) ? 0 : 1;
    const auto scalar = ScalarConstant(graph, node.inputs[slot]);
    if (!scalar || graph.Constant(node.inputs[1 - slot]) != nullptr) return std::nullopt;
    other = node.inputs[1 - slot];
    // A scalar of high rank would make the result's rank higher.
    if (!SameType(graph.value(other), graph.value(node.outputs[0]))) return std::nullopt;
    const double factor = mul ? *scalar : 1 / *scalar;
    const auto narrow = static_cast<float>(factor);
    const bool exact = graph.value(other).type.dtype != DataType::kFloat64 ||
                       static_cast<double>(narrow) == factor;
    return exact && std::isfinite(narrow) ? std::optional(narrow) : std::nullopt;
  }

  static bool TakeFactorBefore(PassContext& context, const Product& product, size_t side) {
    const Graph& graph = context.graph();
    const ValueId operand = side == 0 ? product.a : product.b;
    const Node* scale = graph.Producer(operand);
    if (!product.bare || scale == nullptr || context.Touched(scale->id) ||
        SoleUser(graph, operand) == nullptr)
      return false;
    Product changed = product;
    const auto factor = Factor(graph, *scale, side == 0 ? changed.a : changed.b);
    if (!factor || IsVariable(graph, side == 0 ? changed.a : changed.b)) return false;
    return TakeFactor(context, changed, *factor, *scale, product.node->outputs[0]);
  }

  static bool TakeFactorAfter(PassContext& context, const Product& product) {
    const Graph& graph = context.graph();
    const Node* scale = SoleUser(graph, product.node->outputs[0]);
    if (!product.bare || scale == nullptr || context.Touched(scale->id)) return false;
    ValueId other;
    const auto factor = Factor(graph, *scale, other);
    if (!factor || other != product.node->outputs[0]) return false;
    return TakeFactor(context, product, *factor, *scale, scale->outputs[0]);
  }

  static bool TakeFactor(PassContext& context, Product product, float factor, const Node& scale,
                         ValueId result) {
    const std::string fusion = Cat(product.label, "+Mul");
    for (const float f : {factor, product.alpha * factor}) {
      if (std::abs(f) >= kLeastFactor && std::abs(f) <= kMostFactor) continue;
      context.Reject(fusion, *product.node,
                     "its factor is so far from 1 that results might overflow");
      return false;
    }
    product.alpha *= factor;
    Patch patch(fusion, *product.node);
    patch.Remove(product.node->id);
    patch.Remove(scale.id);
    patch.Replace(result, AddProduct(patch, product));
    return context.Submit(patch);
  }

  static void TakeEpilogue(PassContext& context, const Product& product) {
    const Node& node = *product.node;
    if (node.Is("FusedMatMul", "asc") && !product.bare) return;
    const std::string base = product.bias.valid() ? Cat(product.label, "+BiasAdd") : product.label;
    for (const Epilogue& epilogue : FindEpilogues(context, node, base, !product.bias.valid())) {
      std::vector<NodeId> nodes = {node.id};
      nodes.insert(nodes.end(), epilogue.nodes.begin(), epilogue.nodes.end());
      if (!context.Allows(epilogue.fusion, node, nodes)) continue;
      if (product.bias.valid() && node.attributes.Float("beta", 1) != 1) {
        context.Reject(epilogue.fusion, node, "its bias has a factor");
        return;
      }
      Patch patch(epilogue.fusion, node);
      for (const NodeId id : nodes) patch.Remove(id);
      AttributeMap attributes = FusedAttributes(product);
      if (epilogue.activation) {
        attributes.Set("activation", epilogue.activation->name);
        attributes.Set("activation_params", epilogue.activation->params);
      }
      const ValueId bias = product.bias.valid() ? product.bias : epilogue.bias;
      patch.Replace(epilogue.result, patch.AddNode(OpRegistry::Global().Find("asc", "FusedMatMul"),
                                                   {product.a, product.b, bias, epilogue.residual},
                                                   std::move(attributes)));
      if (context.Submit(patch)) return;
    }
  }
};
}  // namespace

std::unique_ptr<Pass> MakeFusedMatMul() { return std::make_unique<FusedMatMul>(); }

std::vector<FusionInfo> FusedMatMulFusions() {
  std::vector<FusionInfo> out = EpilogueFusions({"Gemm", "MatMul"}, true, "FusedMatMul");
  for (const char* base : {"Gemm", "MatMul"}) {
    using Mode = FusionSettings::Mode;
    out.push_back({Cat("Transpose+", base), "FusedMatMul",
                   "the product reads its operand transposed", Mode::kConservative});
    out.push_back({Cat(base, "+Mul"), "FusedMatMul", "a scalar factor becomes the product's own",
                   Mode::kDefault});
  }
  return out;
}

}  // namespace asc
