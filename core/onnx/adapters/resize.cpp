// Upsample and the first Resize; GridSample's mode names.
#include <algorithm>
#include <array>

#include "core/onnx/adapters/adapter.h"

namespace asc::onnx {
namespace {
Status Upsample1(Adaptation& adaptation) {
  const auto* height = adaptation.attributes().Get<float>("height_scale");
  const auto* width = adaptation.attributes().Get<float>("width_scale");
  if (height == nullptr || width == nullptr) {
    return adaptation.Refuse("needs the attributes 'height_scale' and 'width_scale'");
  }
  adaptation.attributes().Set("scales", std::vector<float>{1, 1, *height, *width});
  adaptation.attributes().Erase("height_scale");
  adaptation.attributes().Erase("width_scale");
  return Ok();
}

std::string Scales(Adaptation& adaptation, std::span<const float> scales) {
  return adaptation.scope.AddConstant(
      adaptation.node.Label() + "_scales",
      Tensor::FromValues<float>({static_cast<int64_t>(scales.size())}, scales));
}

Status Upsample8(Adaptation& adaptation) {
  const auto* scales = adaptation.attributes().Get<std::vector<float>>("scales");
  if (scales == nullptr) return adaptation.Refuse("needs the attribute 'scales'");
  adaptation.SetInput(1, Scales(adaptation, *scales));
  adaptation.attributes().Erase("scales");
  return Ok();
}

Status UpsampleToResize(Adaptation& adaptation) {
  adaptation.node.op_type = "Resize";
  return Ok();
}

// Output i was taken from i / scale. Nearest rounded down when it enlarged and up when it shrank
// (what the operator's own test of opset 10 and the runtimes of that time do; the text is silent):
// an input with axes of both kinds takes two steps.
Status Resize10(Adaptation& adaptation) {
  AttributeMap& attributes = adaptation.attributes();
  std::string mode = attributes.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  attributes.Set("mode", mode);
  attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  const std::string scales_name = adaptation.input(1);
  const Tensor* scales = adaptation.scope.ConstantOf(scales_name);
  const auto set_rounding = [](AttributeMap& of, bool shrinks) {
    of.Set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
  };
  set_rounding(attributes, false);
  if (mode == "nearest" && scales != nullptr && scales->dtype() == DataType::kFloat32) {
    std::vector<float> enlarge, shrink;
    for (const float scale : scales->values<float>()) {
      enlarge.push_back(std::max(scale, 1.0f));
      shrink.push_back(std::min(scale, 1.0f));
    }
    const auto is_one = [](float scale) { return scale == 1; };
    const bool shrinks = !std::all_of(shrink.begin(), shrink.end(), is_one);
    if (shrinks && !std::all_of(enlarge.begin(), enlarge.end(), is_one)) {
      AttributeMap first = attributes;
      const std::string enlarge_name = Scales(adaptation, enlarge);
      ASC_ASSIGN_OR_RETURN(
          std::string larger,
          adaptation.Compute("Resize", {adaptation.input(0), "", enlarge_name}, std::move(first)));
      adaptation.node.inputs = {std::move(larger), "", Scales(adaptation, shrink)};
      set_rounding(attributes, true);
      return Ok();
    }
    set_rounding(attributes, shrinks);
  }
  adaptation.node.inputs = {adaptation.input(0), "", scales_name};
  return Ok();
}

Status GridSample19(Adaptation& adaptation) {
  const std::string mode = adaptation.attributes().String("mode", "bilinear");
  if (mode == "bilinear") adaptation.attributes().Set("mode", std::string("linear"));
  if (mode == "bicubic") adaptation.attributes().Set("mode", std::string("cubic"));
  return Ok();
}
}  // namespace

std::span<const AdapterRow> ResizeAdapters() {
  static constexpr AdapterRow kRows[] = {
      {"GridSample", 19, GridSample19},  {"Resize", 10, Resize10},
      {"Upsample", 6, Upsample1},        {"Upsample", 8, Upsample8},
      {"Upsample", 9, UpsampleToResize},
  };
  return kRows;
}

}  // namespace asc::onnx
