// Element-wise operators: explicit broadcasting, attributes that became inputs, spelled-out types.
#include <cctype>

#include "core/onnx/adapters/adapter.h"
#include "core/ops/scalar.h"

namespace asc::onnx {
namespace {
// Up to opset 6 the second operand was broadcast on request only, and its axes could be matched
// with the first one's from `axis` on rather than from the end.
Status Broadcast(Adaptation& adaptation) {
  const bool broadcast = adaptation.attributes().Int("broadcast", 0) != 0;
  const int64_t axis = adaptation.attributes().Int("axis", -1);
  adaptation.attributes().Erase("broadcast");
  adaptation.attributes().Erase("axis");
  if (!broadcast || axis < 0) return Ok();
  const auto rank_a = adaptation.Rank(0), rank_b = adaptation.Rank(1);
  if (!rank_a || !rank_b) {
    return adaptation.Refuse("broadcasts from an axis on, which needs inputs of known rank");
  }
  const int64_t trailing = static_cast<int64_t>(*rank_a) - axis - static_cast<int64_t>(*rank_b);
  if (trailing <= 0 || *rank_b == 0) return Ok();
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < trailing; ++i) axes.push_back(static_cast<int64_t>(*rank_b) + i);
  ASC_ASSIGN_OR_RETURN(
      std::string aligned,
      adaptation.Compute("Unsqueeze", {adaptation.input(1), adaptation.Ints("axes", axes)}));
  adaptation.SetInput(1, std::move(aligned));
  return Ok();
}

Status Cast1(Adaptation& adaptation) {
  std::string name = adaptation.attributes().String("to", "");
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  constexpr std::pair<std::string_view, DataType> kNames[] = {
      {"FLOAT", DataType::kFloat32},
      {"UINT8", DataType::kUInt8},
      {"INT8", DataType::kInt8},
      {"UINT16", DataType::kUInt16},
      {"INT16", DataType::kInt16},
      {"INT32", DataType::kInt32},
      {"INT64", DataType::kInt64},
      {"STRING", DataType::kString},
      {"BOOL", DataType::kBool},
      {"FLOAT16", DataType::kFloat16},
      {"DOUBLE", DataType::kFloat64},
      {"UINT32", DataType::kUInt32},
      {"UINT64", DataType::kUInt64},
      {"COMPLEX64", DataType::kComplex64},
      {"COMPLEX128", DataType::kComplex128}};
  for (const auto& [known, type] : kNames) {
    if (name != known) continue;
    adaptation.attributes().Set("to", static_cast<int64_t>(type));
    return Ok();
  }
  return adaptation.Refuse(Cat("casts to '", name, "', which is no element type"));
}

Status Clip6(Adaptation& adaptation) {
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  if (type == nullptr) return adaptation.Refuse("needs an input");
  size_t slot = 1;
  for (const std::string_view bound : {"min", "max"}) {
    if (const auto* value = adaptation.attributes().Get<float>(bound)) {
      ASC_ASSIGN_OR_RETURN(Tensor scalar, ScalarOf(type->dtype, *value));
      adaptation.SetInput(slot, adaptation.scope.AddConstant(
                                    Cat(adaptation.node.Label(), "_", bound), std::move(scalar)));
      adaptation.attributes().Erase(bound);
    }
    ++slot;
  }
  return Ok();
}

// The constants had fewer digits.
Status Selu1(Adaptation& adaptation) {
  AttributeMap& attributes = adaptation.attributes();
  if (!attributes.Has("alpha")) attributes.Set("alpha", 1.6732f);
  if (!attributes.Has("gamma")) attributes.Set("gamma", 1.0507f);
  return Ok();
}

// A slope for each channel was a vector; now slopes broadcast from the last axis on.
Status PRelu6(Adaptation& adaptation) {
  const auto rank = adaptation.Rank(0), slope_rank = adaptation.Rank(1);
  if (slope_rank && *slope_rank != 1) return Ok();
  if (!rank || !slope_rank) return adaptation.Refuse("needs inputs of known rank");
  const Shape& slope = adaptation.scope.TypeOf(adaptation.input(1))->shape;
  if (slope[0].IsConstant(1) || *rank <= 2) return Ok();
  std::vector<int64_t> axes;
  for (size_t i = 1; i + 1 < *rank; ++i) axes.push_back(static_cast<int64_t>(i));
  ASC_ASSIGN_OR_RETURN(
      std::string aligned,
      adaptation.Compute("Unsqueeze", {adaptation.input(1), adaptation.Ints("axes", axes)}));
  adaptation.SetInput(1, std::move(aligned));
  return Ok();
}
}  // namespace

std::span<const AdapterRow> ElementwiseAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"Add", 6, Broadcast},     {"And", 6, Broadcast},  {"Cast", 5, Cast1},
      {"Clip", 10, Clip6},       {"Div", 6, Broadcast},  {"Equal", 6, Broadcast},
      {"Greater", 6, Broadcast}, {"Less", 6, Broadcast}, {"Mul", 6, Broadcast},
      {"Or", 6, Broadcast},      {"PRelu", 6, PRelu6},   {"Pow", 6, Broadcast},
      {"Selu", 5, Selu1},        {"Sub", 6, Broadcast},  {"Xor", 6, Broadcast},
  };
  return kRows;
}

}  // namespace asc::onnx
