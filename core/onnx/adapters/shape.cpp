// Shapes, slices, pads and scatters: attributes that became inputs.
#include <algorithm>

#include "core/onnx/adapters/adapter.h"
#include "core/ops/scalar.h"

namespace asc::onnx {
namespace {
Status AxesToInput(Adaptation& adaptation) {
  adaptation.IntsToInput("axes", 1);
  return Ok();
}

Status Concat3(Adaptation& adaptation) {
  if (!adaptation.attributes().Has("axis")) adaptation.attributes().Set("axis", int64_t{1});
  return Ok();
}

Status Reshape4(Adaptation& adaptation) {
  if (!adaptation.attributes().Has("shape")) {
    return adaptation.Refuse("needs the attribute 'shape'");
  }
  adaptation.IntsToInput("shape", 1);
  return Ok();
}

Status Slice9(Adaptation& adaptation) {
  if (!adaptation.attributes().Has("starts") || !adaptation.attributes().Has("ends")) {
    return adaptation.Refuse("needs the attributes 'starts' and 'ends'");
  }
  adaptation.IntsToInput("starts", 1);
  adaptation.IntsToInput("ends", 2);
  adaptation.IntsToInput("axes", 3);
  return Ok();
}

Status Pad1(Adaptation& adaptation) {
  if (const auto* pads = adaptation.attributes().Get<std::vector<int64_t>>("paddings")) {
    adaptation.attributes().Set("pads", *pads);
  }
  adaptation.attributes().Erase("paddings");
  return Ok();
}

Status Pad10(Adaptation& adaptation) {
  const ValueType* type = adaptation.scope.TypeOf(adaptation.input(0));
  if (type == nullptr || !adaptation.attributes().Has("pads")) {
    return adaptation.Refuse("needs an input and the attribute 'pads'");
  }
  adaptation.IntsToInput("pads", 1);
  if (const auto* value = adaptation.attributes().Get<float>("value"); value && *value != 0) {
    ASC_ASSIGN_OR_RETURN(Tensor scalar, ScalarOf(type->dtype, *value));
    adaptation.SetInput(
        2, adaptation.scope.AddConstant(adaptation.node.Label() + "_value", std::move(scalar)));
  }
  adaptation.attributes().Erase("value");
  return Ok();
}

// The sizes were an input first, then an attribute, and are an input again.
Status Split1(Adaptation& adaptation) {
  if (adaptation.input(1).empty()) return Ok();
  const Tensor* split = adaptation.scope.ConstantOf(adaptation.input(1));
  if (split == nullptr) return adaptation.Refuse("has sizes that are not a constant");
  ASC_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ToInt64Vector(*split));
  adaptation.attributes().Set("split", std::move(sizes));
  adaptation.node.inputs.resize(1);
  return Ok();
}

Status Split12(Adaptation& adaptation) {
  adaptation.IntsToInput("split", 1);
  return Ok();
}

Status Split17(Adaptation& adaptation) {
  if (adaptation.input(1).empty()) {
    adaptation.attributes().Set("num_outputs",
                                static_cast<int64_t>(adaptation.node.outputs.size()));
  }
  return Ok();
}

// One count for one axis, now a count for each axis.
Status Tile5(Adaptation& adaptation) {
  const auto rank = adaptation.Rank(0);
  const Tensor* tiles = adaptation.scope.ConstantOf(adaptation.input(1));
  const Tensor* axis = adaptation.scope.ConstantOf(adaptation.input(2));
  const auto scalar = [](const Tensor* tensor) -> std::optional<int64_t> {
    if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
    if (tensor->dtype() == DataType::kFloat32) {
      const float value = *tensor->data<float>();
      if (!(value >= 0 && value < 1e9f)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    const auto values = ToInt64Vector(*tensor);
    if (!values.ok()) return std::nullopt;
    return (*values)[0];
  };
  const auto count = scalar(tiles), position = scalar(axis);
  if (!rank || !count || !position) {
    return adaptation.Refuse("needs an input of known rank and constant tiles and axis");
  }
  if (*position < 0 || *position >= static_cast<int64_t>(*rank)) {
    return adaptation.Refuse(Cat("has axis ", *position, " for an input of rank ", *rank));
  }
  std::vector<int64_t> repeats(*rank, 1);
  repeats[static_cast<size_t>(*position)] = *count;
  adaptation.node.inputs = {adaptation.input(0), adaptation.Ints("repeats", repeats)};
  return Ok();
}

Status ScatterToElements(Adaptation& adaptation) {
  adaptation.node.op_type = "ScatterElements";
  return Ok();
}

Status Dft19(Adaptation& adaptation) {
  const int64_t axis = adaptation.attributes().Int("axis", 1);
  adaptation.attributes().Erase("axis");
  adaptation.SetInput(
      2, adaptation.scope.AddConstant(adaptation.node.Label() + "_axis", Tensor::Scalar(axis)));
  return Ok();
}
}  // namespace

std::span<const AdapterRow> ShapeAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"Concat", 3, Concat3},
      {"DFT", 19, Dft19},
      {"Pad", 1, Pad1},
      {"Pad", 10, Pad10},
      {"Reshape", 4, Reshape4},
      {"Scatter", 10, ScatterToElements},
      {"Slice", 9, Slice9},
      {"Split", 1, Split1},
      {"Split", 12, Split12},
      {"Split", 17, Split17},
      {"Squeeze", 12, AxesToInput},
      {"Tile", 5, Tile5},
      {"Unsqueeze", 12, AxesToInput},
  };
  return kRows;
}

}  // namespace asc::onnx
