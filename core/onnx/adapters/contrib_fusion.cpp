// Products, activations and normalisations that graph optimisers join.
#include <algorithm>
#include <numeric>

#include "core/onnx/adapters/contrib.h"
#include "core/ops/scalar.h"

namespace asc::onnx {

Result<std::string> NumberLike(Adaptation& adaptation, const std::string& like, double value) {
  const ValueType* type = adaptation.scope.TypeOf(like);
  if (type == nullptr || !type->is_tensor() || type->dtype == DataType::kUndefined)
    return adaptation.Refuse("needs an input of known type");
  ASC_ASSIGN_OR_RETURN(Tensor number, ScalarOf(type->dtype, value));
  return adaptation.scope.AddConstant(adaptation.node.Label() + "_number", std::move(number));
}

namespace {
// ---- activations ----
Status Gelu(Adaptation& adaptation) { return Replace(adaptation, "Gelu", {adaptation.input(0)}); }

Status BiasGelu(Adaptation& adaptation) {
  ASC_ASSIGN_OR_RETURN(std::string x,
                       PlusOptional(adaptation, adaptation.input(0), adaptation.input(1)));
  return Replace(adaptation, "Gelu", {std::move(x)});
}

Status FastGelu(Adaptation& adaptation) {
  ASC_ASSIGN_OR_RETURN(std::string x,
                       PlusOptional(adaptation, adaptation.input(0), adaptation.input(1)));
  return Replace(adaptation, "Gelu", {std::move(x)},
                 OneAttribute("approximate", std::string("tanh")));
}

Status QuickGelu(Adaptation& adaptation) {
  return Replace(adaptation, "Swish", {adaptation.input(0)},
                 OneAttribute("alpha", adaptation.attributes().Float("alpha", 1.702f)));
}

// The activation that a fused operator ends with; its parameters are alpha and beta by name, or in a
// list (FusedConv).
Status ReplaceByActivation(Adaptation& adaptation, std::string x) {
  const AttributeMap& given = adaptation.attributes();
  const std::string name = given.String("activation", "");
  if (name.empty()) return ReplaceBy(adaptation, std::move(x));
  const std::vector<float> list = given.Floats("activation_params");
  const auto parameter = [&](size_t i, std::string_view attribute) -> std::optional<float> {
    if (i < list.size()) return list[i];
    if (!given.Has(attribute)) return std::nullopt;
    return given.Float(attribute, 0);
  };
  const auto alpha = parameter(0, "activation_alpha"), beta = parameter(1, "activation_beta");
  if (name == "Clip") {
    ASC_ASSIGN_OR_RETURN(std::string low,
                         NumberLike(adaptation, x, alpha.value_or(-3.4028235e38f)));
    ASC_ASSIGN_OR_RETURN(std::string high, NumberLike(adaptation, x, beta.value_or(3.4028235e38f)));
    return Replace(adaptation, "Clip", {std::move(x), std::move(low), std::move(high)});
  }
  AttributeMap attributes;
  if (alpha && (name == "LeakyRelu" || name == "HardSigmoid" || name == "Elu" || name == "Selu"))
    attributes.Set("alpha", *alpha);
  if (beta && name == "HardSigmoid") attributes.Set("beta", *beta);
  if (beta && name == "Selu") attributes.Set("gamma", *beta);
  return Replace(adaptation, name, {std::move(x)}, std::move(attributes));
}

// The attributes of the operator that the activation is joined to.
AttributeMap WithoutActivation(AttributeMap attributes) {
  for (const char* name : {"activation", "activation_params", "activation_alpha", "activation_beta",
                           "activation_gamma"})
    attributes.Erase(name);
  return attributes;
}

// ---- products ----
Status FusedConv(Adaptation& adaptation) {
  std::vector<std::string> inputs = {adaptation.input(0), adaptation.input(1), adaptation.input(2)};
  ASC_ASSIGN_OR_RETURN(
      std::string x,
      adaptation.Compute("Conv", std::move(inputs), WithoutActivation(adaptation.attributes())));
  ASC_ASSIGN_OR_RETURN(x, PlusOptional(adaptation, std::move(x), adaptation.input(3)));
  return ReplaceByActivation(adaptation, std::move(x));
}

Status FusedGemm(Adaptation& adaptation) {
  ASC_ASSIGN_OR_RETURN(
      std::string x,
      adaptation.Compute("Gemm", {adaptation.input(0), adaptation.input(1), adaptation.input(2)},
                         WithoutActivation(adaptation.attributes())));
  return ReplaceByActivation(adaptation, std::move(x));
}

// alpha * op(A) op(B), where op swaps the last two axes or not; `transBatch` brings the first axis
// before the last one first.
Status FusedMatMul(Adaptation& adaptation) {
  const AttributeMap& given = adaptation.attributes();
  std::string operands[2];
  for (size_t i = 0; i < 2; ++i) {
    operands[i] = adaptation.input(i);
    const bool swap = given.Int(i == 0 ? "transA" : "transB", 0) != 0;
    const bool batch = given.Int(i == 0 ? "transBatchA" : "transBatchB", 0) != 0;
    if (!swap && !batch) continue;
    const auto rank = adaptation.Rank(i);
    if (!rank) return adaptation.Refuse("needs operands of known rank");
    if (*rank < 2) continue;
    std::vector<int64_t> perm(*rank);
    std::iota(perm.begin(), perm.end(), int64_t{0});
    if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
    if (swap) std::swap(perm[*rank - 1], perm[*rank - 2]);
    ASC_ASSIGN_OR_RETURN(operands[i], adaptation.Compute("Transpose", {operands[i]},
                                                         OneAttribute("perm", std::move(perm))));
  }
  const float alpha = given.Float("alpha", 1);
  if (alpha == 1) return Replace(adaptation, "MatMul", {operands[0], operands[1]});
  ASC_ASSIGN_OR_RETURN(std::string product,
                       adaptation.Compute("MatMul", {operands[0], operands[1]}));
  ASC_ASSIGN_OR_RETURN(std::string factor, NumberLike(adaptation, adaptation.input(0), alpha));
  return Replace(adaptation, "Mul", {std::move(product), std::move(factor)});
}

// ---- normalisations ----
// Outputs 1 and 2 are there for training.
Status RefuseStatistics(Adaptation& adaptation) {
  if (adaptation.WantsOutput(1) || adaptation.WantsOutput(2))
    return adaptation.Refuse("is asked for its statistics, which only training needs");
  return Ok();
}

AttributeMap NormAttributes(const Adaptation& adaptation) {
  AttributeMap attributes = OneAttribute("axis", int64_t{-1});
  attributes.Set("epsilon", adaptation.node.attributes.Float("epsilon", 1e-12f));
  return attributes;
}

Status SimplifiedLayerNormalization(Adaptation& adaptation) {
  if (adaptation.WantsOutput(1)) return RefuseStatistics(adaptation);
  return Replace(adaptation, "RMSNormalization", {adaptation.input(0), adaptation.input(1)},
                 adaptation.attributes());
}

// input + skip + bias, which is output 3, normalised.
Status SkipNormalization(Adaptation& adaptation, std::string_view op,
                         std::vector<std::string> parameters, const std::string& bias) {
  ASC_RETURN_IF_ERROR(RefuseStatistics(adaptation));
  ASC_ASSIGN_OR_RETURN(std::string sum,
                       PlusOptional(adaptation, adaptation.input(0), adaptation.input(1)));
  ASC_ASSIGN_OR_RETURN(sum, PlusOptional(adaptation, std::move(sum), bias));
  ASC_RETURN_IF_ERROR(ReplaceBy(adaptation, sum, 3));
  parameters.insert(parameters.begin(), sum);
  return Replace(adaptation, op, std::move(parameters), NormAttributes(adaptation));
}

Status SkipLayerNormalization(Adaptation& adaptation) {
  return SkipNormalization(adaptation, "LayerNormalization",
                           {adaptation.input(2), adaptation.input(3)}, adaptation.input(4));
}

Status SkipSimplifiedLayerNormalization(Adaptation& adaptation) {
  return SkipNormalization(adaptation, "RMSNormalization", {adaptation.input(2)},
                           adaptation.input(3));
}

// Embeddings of words, places and segments, summed and normalised. Output 1 is the number of tokens of
// each sentence, output 2 the sum.
Status EmbedLayerNormalization(Adaptation& adaptation) {
  const std::string ids = adaptation.input(0), segments = adaptation.input(1),
                    mask = adaptation.input(7), places = adaptation.input(8);
  ASC_ASSIGN_OR_RETURN(std::string sum, adaptation.Compute("Gather", {adaptation.input(2), ids}));
  std::string place = places;
  if (place.empty()) {
    AttributeMap length = OneAttribute("start", int64_t{1});
    length.Set("end", int64_t{2});
    ASC_ASSIGN_OR_RETURN(std::string extent, adaptation.Compute("Shape", {ids}, std::move(length)));
    ASC_ASSIGN_OR_RETURN(std::string end,
                         adaptation.Compute("Squeeze", {extent, adaptation.Ints("axis", {0})}));
    const std::string zero = adaptation.scope.AddConstant("zero", Tensor::Scalar(int64_t{0})),
                      one = adaptation.scope.AddConstant("one", Tensor::Scalar(int64_t{1}));
    ASC_ASSIGN_OR_RETURN(place, adaptation.Compute("Range", {zero, end, one}));
  }
  ASC_ASSIGN_OR_RETURN(std::string at, adaptation.Compute("Gather", {adaptation.input(3), place}));
  ASC_ASSIGN_OR_RETURN(sum, adaptation.Compute("Add", {sum, at}));
  if (!segments.empty()) {
    ASC_ASSIGN_OR_RETURN(std::string segment,
                         adaptation.Compute("Gather", {adaptation.input(4), segments}));
    ASC_ASSIGN_OR_RETURN(sum, adaptation.Compute("Add", {sum, segment}));
  }
  ASC_RETURN_IF_ERROR(Replace(adaptation, "LayerNormalization",
                              {sum, adaptation.input(5), adaptation.input(6)},
                              NormAttributes(adaptation)));
  ASC_RETURN_IF_ERROR(ReplaceBy(adaptation, sum, 2));
  if (!adaptation.WantsOutput(1)) return Ok();
  if (!mask.empty()) {
    return Replace(adaptation, "ReduceSum", {mask, adaptation.Ints("axes", {1})},
                   OneAttribute("keepdims", int64_t{0}), 1);
  }
  // Without a mask: zeros.
  AttributeMap batch = OneAttribute("start", int64_t{0});
  batch.Set("end", int64_t{1});
  ASC_ASSIGN_OR_RETURN(std::string extent, adaptation.Compute("Shape", {ids}, std::move(batch)));
  Tensor zero = Tensor::FromValues<int32_t>({1}, {0});
  return Replace(adaptation, "ConstantOfShape", {extent}, OneAttribute("value", std::move(zero)),
                 1);
}
}  // namespace

std::span<const AdapterRow> ContribFusionAdapters() {
  // Written in ai.onnx, at whatever opset the model has.
  constexpr int64_t kAnyOpset = 1 << 30;
  static constexpr AdapterRow kRows[] = {
      {"BiasGelu", kContribVersion, BiasGelu, kContribDomain},
      {"EmbedLayerNormalization", kContribVersion, EmbedLayerNormalization, kContribDomain},
      {"FastGelu", kContribVersion, FastGelu, kContribDomain},
      {"FusedConv", kContribVersion, FusedConv, kContribDomain},
      {"FusedGemm", kContribVersion, FusedGemm, kContribDomain},
      {"FusedMatMul", kContribVersion, FusedMatMul, kContribDomain},
      {"Gelu", kContribVersion, Gelu, kContribDomain},
      {"QuickGelu", kContribVersion, QuickGelu, kContribDomain},
      {"SimplifiedLayerNormalization", kAnyOpset, SimplifiedLayerNormalization},
      {"SkipLayerNormalization", kContribVersion, SkipLayerNormalization, kContribDomain},
      {"SkipSimplifiedLayerNormalization", kContribVersion, SkipSimplifiedLayerNormalization,
       kContribDomain},
  };
  return kRows;
}

}  // namespace asc::onnx
