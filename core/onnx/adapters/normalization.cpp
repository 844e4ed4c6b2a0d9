// Normalisation, softmax, dropout, pooling, Gemm.
#include <cmath>

#include "core/onnx/adapters/adapter.h"
#include "core/ops/scalar.h"

namespace asc::onnx {
namespace {
// ---- Softmax, LogSoftmax, Hardmax: up to opset 12 over all axes from `axis` on, taken as one ----
Status FlattenedSoftmax(Adaptation& adaptation) {
  int64_t axis = adaptation.attributes().Int("axis", 1);
  const auto rank = adaptation.Rank(0);
  if (rank && axis < 0) axis += static_cast<int64_t>(*rank);
  if (rank && (axis < 0 || axis > static_cast<int64_t>(*rank))) {
    return adaptation.Refuse(Cat("has axis ", adaptation.attributes().Int("axis", 1),
                                 ", which its input of rank ", *rank, " has not"));
  }
  if (rank && axis < static_cast<int64_t>(*rank)) {
    const Shape& shape = adaptation.scope.TypeOf(adaptation.input(0))->shape;
    bool alone = true;
    for (size_t i = static_cast<size_t>(axis) + 1; i < *rank; ++i) {
      alone = alone && shape[i].IsConstant(1);
    }
    if (alone) {
      adaptation.attributes().Set("axis", axis);
      return Ok();
    }
  }
  const std::string data = adaptation.input(0);
  AttributeMap flatten;
  flatten.Set("axis", axis);
  ASC_ASSIGN_OR_RETURN(std::string flat, adaptation.Compute("Flatten", {data}, std::move(flatten)));
  ASC_ASSIGN_OR_RETURN(std::string shape, adaptation.Compute("Shape", {data}));
  adaptation.SetInput(0, std::move(flat));
  adaptation.attributes().Set("axis", int64_t{1});
  std::string output = adaptation.DivertOutput(0);
  AttributeMap reshape;
  reshape.Set("allowzero", int64_t{1});  // the shape is a real one: its zeros are zeros
  adaptation.Then("Reshape", {adaptation.node.outputs[0], std::move(shape)}, std::move(output),
                  std::move(reshape));
  return Ok();
}

// ---- BatchNormalization ----
bool WantsStatistics(const Adaptation& adaptation) {
  for (size_t i = 1; i < adaptation.node.outputs.size(); ++i) {
    if (adaptation.WantsOutput(i)) return true;
  }
  return false;
}

// Test or training mode was told by an attribute; from opset 7 on by the outputs that are wanted.
Status BatchNormalization6(Adaptation& adaptation) {
  const bool is_test = adaptation.attributes().Int("is_test", 0) != 0;
  adaptation.attributes().Erase("is_test");
  if (is_test && WantsStatistics(adaptation)) {
    return adaptation.Refuse("is in test mode but asked for statistics");
  }
  return Ok();
}

// Without `spatial`, each position has parameters of its own: plain arithmetic on [C, D1, ...].
Status BatchNormalization8(Adaptation& adaptation) {
  const bool spatial = adaptation.attributes().Int("spatial", 1) != 0;
  adaptation.attributes().Erase("spatial");
  if (spatial) return Ok();
  if (WantsStatistics(adaptation)) return adaptation.Refuse("trains without spatial statistics");
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  if (type == nullptr || adaptation.node.inputs.size() != 5) {
    return adaptation.Refuse("needs five inputs");
  }
  ASC_ASSIGN_OR_RETURN(Tensor epsilon,
                       ScalarOf(type->dtype, adaptation.attributes().Float("epsilon", 1e-5f)));
  const std::string epsilon_name =
      adaptation.scope.AddConstant(adaptation.node.Label() + "_epsilon", std::move(epsilon));
  ASC_ASSIGN_OR_RETURN(std::string variance,
                       adaptation.Compute("Add", {adaptation.input(4), epsilon_name}));
  ASC_ASSIGN_OR_RETURN(std::string deviation, adaptation.Compute("Sqrt", {variance}));
  ASC_ASSIGN_OR_RETURN(std::string centred,
                       adaptation.Compute("Sub", {adaptation.input(0), adaptation.input(3)}));
  ASC_ASSIGN_OR_RETURN(std::string normal, adaptation.Compute("Div", {centred, deviation}));
  ASC_ASSIGN_OR_RETURN(std::string scaled,
                       adaptation.Compute("Mul", {normal, adaptation.input(1)}));
  adaptation.Then("Add", {scaled, adaptation.input(2)}, adaptation.node.outputs[0]);
  adaptation.replaced = true;
  return Ok();
}

Status BatchNormalization13(Adaptation& adaptation) {
  if (adaptation.WantsOutput(3) || adaptation.WantsOutput(4)) {
    return adaptation.Refuse("is asked for saved_mean or saved_var, which exist no more");
  }
  if (WantsStatistics(adaptation)) adaptation.attributes().Set("training_mode", int64_t{1});
  if (adaptation.node.outputs.size() > 3) adaptation.node.outputs.resize(3);
  return Ok();
}

// ---- GroupNormalization: one scale and bias for each group, now for each channel ----
Status GroupNormalization18(Adaptation& adaptation) {
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  const int64_t groups = adaptation.attributes().Int("num_groups", 0);
  if (type == nullptr || groups < 1) return adaptation.Refuse("needs an input and num_groups");
  const std::string group_axis = adaptation.Ints("groups", {groups});
  std::string spread;  // [groups, channels / groups]
  if (type->shape.has_rank() && type->shape.rank() > 1 && type->shape[1].is_constant()) {
    spread = adaptation.Ints("spread", {groups, type->shape[1].value() / groups});
  } else {
    AttributeMap channel_axis;
    channel_axis.Set("start", int64_t{1});
    channel_axis.Set("end", int64_t{2});
    ASC_ASSIGN_OR_RETURN(std::string channels, adaptation.Compute("Shape", {adaptation.input(0)},
                                                                  std::move(channel_axis)));
    ASC_ASSIGN_OR_RETURN(std::string each, adaptation.Compute("Div", {channels, group_axis}));
    AttributeMap first;
    first.Set("axis", int64_t{0});
    ASC_ASSIGN_OR_RETURN(spread,
                         adaptation.Compute("Concat", {group_axis, each}, std::move(first)));
  }
  for (size_t i = 1; i <= 2; ++i) {
    ASC_ASSIGN_OR_RETURN(
        std::string column,
        adaptation.Compute("Unsqueeze", {adaptation.input(i), adaptation.Ints("axes", {1})}));
    ASC_ASSIGN_OR_RETURN(std::string table, adaptation.Compute("Expand", {column, spread}));
    ASC_ASSIGN_OR_RETURN(std::string vector,
                         adaptation.Compute("Reshape", {table, adaptation.Ints("shape", {-1})}));
    adaptation.SetInput(i, std::move(vector));
  }
  return Ok();
}

// ---- Dropout ----
// Opsets 7 to 11 know inference only; before, `is_test` told.
Status Dropout6(Adaptation& adaptation) {
  const bool training = adaptation.attributes().Int("is_test", 0) == 0;
  adaptation.attributes().Erase("is_test");
  if (!training) return Ok();
  adaptation.SetInput(
      2, adaptation.scope.AddConstant(adaptation.node.Label() + "_training", Tensor::Scalar(true)));
  return Ok();
}

// The mask had the data's type.
Status Dropout9(Adaptation& adaptation) {
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  if (!adaptation.WantsOutput(1) || type == nullptr) return Ok();
  std::string output = adaptation.DivertOutput(1);
  AttributeMap cast;
  cast.Set("to", static_cast<int64_t>(type->dtype));
  adaptation.Then("Cast", {adaptation.node.outputs[1]}, std::move(output), std::move(cast));
  return Ok();
}

Status Dropout11(Adaptation& adaptation) {
  const float ratio = adaptation.attributes().Float("ratio", 0.5f);
  adaptation.attributes().Erase("ratio");
  adaptation.SetInput(
      1, adaptation.scope.AddConstant(adaptation.node.Label() + "_ratio", Tensor::Scalar(ratio)));
  return Ok();
}

// ---- pooling ----
Status IntegralP(Adaptation& adaptation) {
  const auto* p = adaptation.attributes().Get<float>("p");
  if (p == nullptr) return Ok();
  if (!(*p >= 1 && *p <= 1e6f) || std::floor(*p) != *p) {
    return adaptation.Refuse(Cat("has p = ", *p, ", expected a whole number"));
  }
  adaptation.attributes().Set("p", static_cast<int64_t>(*p));
  return Ok();
}

// The defaults before half_pixel came.
Status RoiAlign15(Adaptation& adaptation) {
  adaptation.attributes().Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return Ok();
}

// ---- Gemm: C was broadcast on request only; what was allowed then is allowed always now ----
Status Gemm6(Adaptation& adaptation) {
  adaptation.attributes().Erase("broadcast");
  return Ok();
}
}  // namespace

std::span<const AdapterRow> NormalizationAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"BatchNormalization", 6, BatchNormalization6},
      {"BatchNormalization", 8, BatchNormalization8},
      {"BatchNormalization", 13, BatchNormalization13},
      {"Dropout", 6, Dropout6},
      {"Dropout", 9, Dropout9},
      {"Dropout", 11, Dropout11},
      {"Gemm", 6, Gemm6},
      {"GlobalLpPool", 1, IntegralP},
      {"GroupNormalization", 20, GroupNormalization18},
      {"Hardmax", 12, FlattenedSoftmax},
      {"LogSoftmax", 12, FlattenedSoftmax},
      {"LpPool", 1, IntegralP},
      {"RoiAlign", 15, RoiAlign15},
      {"Softmax", 12, FlattenedSoftmax},
  };
  return kRows;
}

}  // namespace asc::onnx
