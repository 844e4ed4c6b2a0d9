// Operators on integers with scales, and products that quantise as they go.
#include "core/onnx/adapters/contrib.h"

namespace asc::onnx {
namespace {
// Input `i` with the scale and the zero point that follow it, as floats.
Result<std::string> Dequantized(Adaptation& adaptation, size_t i) {
  std::vector<std::string> inputs = {adaptation.input(i), adaptation.input(i + 1)};
  if (!adaptation.input(i + 2).empty()) inputs.push_back(adaptation.input(i + 2));
  return adaptation.Compute("DequantizeLinear", std::move(inputs));
}

// What stands for an absent zero point: that of uint8, or of input `like`'s type.
Status ReplaceByQuantized(Adaptation& adaptation, std::string x, size_t scale) {
  std::string zero = adaptation.input(scale + 1);
  if (zero.empty()) {
    const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
    const bool is_signed = type != nullptr && type->dtype == DataType::kInt8;
    zero = adaptation.scope.AddConstant(
        adaptation.node.Label() + "_zero",
        is_signed ? Tensor::Scalar(int8_t{0}) : Tensor::Scalar(uint8_t{0}));
  }
  return Replace(adaptation, "QuantizeLinear",
                 {std::move(x), adaptation.input(scale), std::move(zero)});
}

Status Binary(Adaptation& adaptation, std::string_view op) {
  ASC_ASSIGN_OR_RETURN(std::string a, Dequantized(adaptation, 0));
  ASC_ASSIGN_OR_RETURN(std::string b, Dequantized(adaptation, 3));
  ASC_ASSIGN_OR_RETURN(std::string y, adaptation.Compute(op, {std::move(a), std::move(b)}));
  return ReplaceByQuantized(adaptation, std::move(y), 6);
}
Status QLinearAdd(Adaptation& adaptation) { return Binary(adaptation, "Add"); }
Status QLinearMul(Adaptation& adaptation) { return Binary(adaptation, "Mul"); }

Status Unary(Adaptation& adaptation, std::string_view op, AttributeMap attributes) {
  ASC_ASSIGN_OR_RETURN(std::string x, Dequantized(adaptation, 0));
  ASC_ASSIGN_OR_RETURN(std::string y,
                       adaptation.Compute(op, {std::move(x)}, std::move(attributes)));
  return ReplaceByQuantized(adaptation, std::move(y), 3);
}
Status QLinearSigmoid(Adaptation& adaptation) { return Unary(adaptation, "Sigmoid", {}); }
Status QLinearLeakyRelu(Adaptation& adaptation) {
  return Unary(adaptation, "LeakyRelu", adaptation.attributes());
}
Status QLinearSoftmax(Adaptation& adaptation) {
  AttributeMap attributes = OneAttribute("axis", adaptation.attributes().Int("axis", -1));
  const auto rank = adaptation.Rank(0);
  const int64_t axis = attributes.Int("axis", -1);
  const bool last = axis == -1 || (rank && axis == static_cast<int64_t>(*rank) - 1);
  if (adaptation.attributes().Int("opset", 13) < 13 && !last)
    return adaptation.Refuse("takes axes together, as Softmax did before opset 13");
  return Unary(adaptation, "Softmax", std::move(attributes));
}

// With channels_last the image is [N, extents..., C].
Status Pool(Adaptation& adaptation, std::string_view op) {
  AttributeMap attributes = adaptation.attributes();
  const bool last = attributes.Int("channels_last", 0) != 0;
  attributes.Erase("channels_last");
  if (!last) return Unary(adaptation, op, std::move(attributes));
  const auto rank = adaptation.Rank(0);
  if (!rank || *rank < 3) return adaptation.Refuse("needs an image of known rank");
  std::vector<int64_t> in = {0, static_cast<int64_t>(*rank) - 1}, out = {0};
  for (size_t i = 1; i + 1 < *rank; ++i) in.push_back(static_cast<int64_t>(i));
  for (size_t i = 2; i < *rank; ++i) out.push_back(static_cast<int64_t>(i));
  out.push_back(1);
  ASC_ASSIGN_OR_RETURN(std::string x, Dequantized(adaptation, 0));
  ASC_ASSIGN_OR_RETURN(x, adaptation.Compute("Transpose", {x}, OneAttribute("perm", in)));
  ASC_ASSIGN_OR_RETURN(x, adaptation.Compute(op, {x}, std::move(attributes)));
  ASC_ASSIGN_OR_RETURN(x, adaptation.Compute("Transpose", {x}, OneAttribute("perm", out)));
  return ReplaceByQuantized(adaptation, std::move(x), 3);
}
Status QLinearGlobalAveragePool(Adaptation& adaptation) {
  return Pool(adaptation, "GlobalAveragePool");
}
Status QLinearAveragePool(Adaptation& adaptation) { return Pool(adaptation, "AveragePool"); }

Status QLinearConcat(Adaptation& adaptation) {
  std::vector<std::string> parts;
  for (size_t i = 2; i + 2 < adaptation.node.inputs.size(); i += 3) {
    ASC_ASSIGN_OR_RETURN(parts.emplace_back(), Dequantized(adaptation, i));
  }
  if (parts.empty()) return adaptation.Refuse("has nothing to join");
  ASC_ASSIGN_OR_RETURN(std::string y,
                       adaptation.Compute("Concat", std::move(parts), adaptation.attributes()));
  return Replace(adaptation, "QuantizeLinear",
                 {std::move(y), adaptation.input(0), adaptation.input(1)});
}

Status QLinearWhere(Adaptation& adaptation) {
  ASC_ASSIGN_OR_RETURN(std::string x, Dequantized(adaptation, 1));
  ASC_ASSIGN_OR_RETURN(std::string y, Dequantized(adaptation, 4));
  ASC_ASSIGN_OR_RETURN(std::string z, adaptation.Compute("Where", {adaptation.input(0), x, y}));
  return Replace(adaptation, "QuantizeLinear",
                 {std::move(z), adaptation.input(7), adaptation.input(8)});
}

// Float64 scales and int32 zero points do not occur; what is here is what ai.onnx has.
Status QuantizeLinear(Adaptation& adaptation) {
  return Replace(adaptation, "QuantizeLinear", adaptation.node.inputs, adaptation.attributes());
}
Status DequantizeLinear(Adaptation& adaptation) {
  return Replace(adaptation, "DequantizeLinear", adaptation.node.inputs, adaptation.attributes());
}

// alpha * A B + C, of which C has the scale of the product. A product of float outputs has no scale.
Status QGemm(Adaptation& adaptation) {
  const AttributeMap& given = adaptation.attributes();
  std::string a = adaptation.input(0), b = adaptation.input(3);
  const auto swapped = [&](std::string x) {
    return adaptation.Compute("Transpose", {std::move(x)},
                              OneAttribute("perm", std::vector<int64_t>{1, 0}));
  };
  if (given.Int("transA", 0) != 0) {
    ASC_ASSIGN_OR_RETURN(a, swapped(a));
  }
  if (given.Int("transB", 0) != 0) {
    ASC_ASSIGN_OR_RETURN(b, swapped(b));
  }
  ASC_ASSIGN_OR_RETURN(
      std::string sums,
      adaptation.Compute("MatMulInteger", {a, b, adaptation.input(2), adaptation.input(5)}));
  if (!adaptation.input(6).empty()) {
    ASC_ASSIGN_OR_RETURN(sums, adaptation.Compute("Add", {sums, adaptation.input(6)}));
  }
  ASC_ASSIGN_OR_RETURN(std::string y,
                       adaptation.Compute("Cast", {sums}, OneAttribute("to", int64_t{1})));
  ASC_ASSIGN_OR_RETURN(std::string scale,
                       adaptation.Compute("Mul", {adaptation.input(1), adaptation.input(4)}));
  if (const float alpha = given.Float("alpha", 1); alpha != 1) {
    const std::string factor = adaptation.scope.AddConstant("alpha", Tensor::Scalar(alpha));
    ASC_ASSIGN_OR_RETURN(scale, adaptation.Compute("Mul", {scale, factor}));
  }
  if (adaptation.input(7).empty()) return Replace(adaptation, "Mul", {y, scale});
  ASC_ASSIGN_OR_RETURN(y, adaptation.Compute("Mul", {y, scale}));
  return ReplaceByQuantized(adaptation, std::move(y), 7);
}

// (A - a_zero) (B - b_zero) a_scale b_scale + bias.
Status ReplaceByFloatProduct(Adaptation& adaptation, std::vector<std::string> integers,
                             std::string a_scale, std::string b_scale, const std::string& bias) {
  while (integers.back().empty()) integers.pop_back();
  ASC_ASSIGN_OR_RETURN(std::string y, adaptation.Compute("MatMulInteger", std::move(integers)));
  ASC_ASSIGN_OR_RETURN(y, adaptation.Compute("Cast", {y}, OneAttribute("to", int64_t{1})));
  ASC_ASSIGN_OR_RETURN(std::string scale, adaptation.Compute("Mul", {a_scale, b_scale}));
  if (bias.empty()) return Replace(adaptation, "Mul", {y, scale});
  ASC_ASSIGN_OR_RETURN(y, adaptation.Compute("Mul", {y, scale}));
  return Replace(adaptation, "Add", {y, bias});
}

Status MatMulIntegerToFloat(Adaptation& adaptation) {
  return ReplaceByFloatProduct(
      adaptation,
      {adaptation.input(0), adaptation.input(1), adaptation.input(4), adaptation.input(5)},
      adaptation.input(2), adaptation.input(3), adaptation.input(6));
}

Status DynamicQuantizeMatMul(Adaptation& adaptation) {
  ImportedNode quantize;
  quantize.op_type = "DynamicQuantizeLinear";
  quantize.inputs = {adaptation.input(0)};
  for (const char* part : {"_a", "_a_scale", "_a_zero"})
    quantize.outputs.push_back(adaptation.scope.FreshName(adaptation.node.Label() + part));
  const std::vector<std::string> a = quantize.outputs;
  ASC_RETURN_IF_ERROR(adaptation.scope.Emit(std::move(quantize)));
  return ReplaceByFloatProduct(adaptation, {a[0], adaptation.input(1), a[2], adaptation.input(3)},
                               a[1], adaptation.input(2), adaptation.input(4));
}
}  // namespace

std::span<const AdapterRow> ContribQuantizedAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"DequantizeLinear", kContribVersion, DequantizeLinear, kContribDomain},
      {"DynamicQuantizeMatMul", kContribVersion, DynamicQuantizeMatMul, kContribDomain},
      {"MatMulIntegerToFloat", kContribVersion, MatMulIntegerToFloat, kContribDomain},
      {"QGemm", kContribVersion, QGemm, kContribDomain},
      {"QLinearAdd", kContribVersion, QLinearAdd, kContribDomain},
      {"QLinearAveragePool", kContribVersion, QLinearAveragePool, kContribDomain},
      {"QLinearConcat", kContribVersion, QLinearConcat, kContribDomain},
      {"QLinearGlobalAveragePool", kContribVersion, QLinearGlobalAveragePool, kContribDomain},
      {"QLinearLeakyRelu", kContribVersion, QLinearLeakyRelu, kContribDomain},
      {"QLinearMul", kContribVersion, QLinearMul, kContribDomain},
      {"QLinearSigmoid", kContribVersion, QLinearSigmoid, kContribDomain},
      {"QLinearSoftmax", kContribVersion, QLinearSoftmax, kContribDomain},
      {"QLinearWhere", kContribVersion, QLinearWhere, kContribDomain},
      {"QuantizeLinear", kContribVersion, QuantizeLinear, kContribDomain},
  };
  return kRows;
}

}  // namespace asc::onnx
