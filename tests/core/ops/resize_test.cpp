#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::I64;
using testing::InferText;
using testing::RunOp;
using testing::RunOp1;
using testing::TypedInput;
using Ints = std::vector<int64_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor Line() { return F32({1, 8}, {1, 3, 2, 5, 4, 8, 6, 7}); }
Tensor ToSize(const Tensor& x, int64_t size, testing::OpAttributes attributes) {
  return RunOp1("Resize", {x, std::nullopt, std::nullopt, I64({2}, {1, size})}, attributes);
}
Tensor ByScale(const Tensor& x, float scale, testing::OpAttributes attributes) {
  return RunOp1("Resize", {x, std::nullopt, F32({2}, {1, scale})}, attributes);
}

// Values from the ONNX reference evaluator.
TEST(Resize, Nearest) {
  ExpectTensor(ToSize(Line(), 5, {}), {1, 5}, {1, 2, 5, 8, 7});
  ExpectTensor(ToSize(Line(), 12,
                      {{"nearest_mode", "ceil"}, {"coordinate_transformation_mode", "asymmetric"}}),
               {1, 12}, {1, 3, 2, 2, 5, 4, 4, 8, 6, 6, 7, 7});
  ExpectTensor(ToSize(Line(), 12, {{"nearest_mode", "round_prefer_ceil"}}), {1, 12},
               {1, 3, 3, 2, 5, 5, 4, 8, 8, 6, 7, 7});
  ExpectTensor(
      ToSize(Line(), 12,
             {{"nearest_mode", "floor"}, {"coordinate_transformation_mode", "align_corners"}}),
      {1, 12}, {1, 1, 3, 3, 2, 5, 5, 4, 8, 8, 6, 7});
  // 2 / (1/3) rounds to 6 in float32, where peers take their index.
  ExpectTensor(
      ByScale(F32({1, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), 1.0f / 3,
              {{"nearest_mode", "floor"}, {"coordinate_transformation_mode", "asymmetric"}}),
      {1, 3}, {0, 3, 6});
}

TEST(Resize, Linear) {
  const Tensor x = F32({1, 2}, {1, 2});
  ExpectTensor(
      ToSize(x, 3, {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
      {1, 3}, {1, 1.5, 2});
  ExpectTensor(
      ByScale(x, 1.5f, {{"mode", "linear"}, {"coordinate_transformation_mode", "asymmetric"}}),
      {1, 3}, {1, 1.6666667, 2});
  ExpectTensor(
      ByScale(Line(), 0.6f,
              {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel_symmetric"}}),
      {1, 4}, {3, 4, 5.333333, 6}, 1e-5);
  ExpectTensor(
      ByScale(Line(), 0.6f,
              {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}),
      {1, 4}, {1.6666666, 2, 4.3333335, 7.333334});
  const Tensor four = F32({1, 4}, {1, 2, 3, 4});
  ExpectTensor(
      ToSize(four, 1,
             {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}),
      {1, 1}, {1});
  ExpectTensor(
      ToSize(four, 1,
             {{"mode", "cubic"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}),
      {1, 1}, {1});
  // An element without weight does not spread its NaN.
  ExpectTensor(ToSize(F32({1, 3}, {1, NAN, 3}), 5,
                      {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
               {1, 5}, {1, kNan, kNan, kNan, 3});
}

TEST(Resize, CubicAndAntialias) {
  ExpectTensor(ToSize(Line(), 5, {{"mode", "cubic"}}), {1, 5},
               {1.6052502, 1.9132502, 4.40625, 8.072251, 6.6265016});
  ExpectTensor(
      ToSize(Line(), 5, {{"mode", "cubic"}, {"exclude_outside", 1}, {"cubic_coeff_a", -0.5f}}),
      {1, 5}, {1.510014, 1.9514996, 4.4375, 8.029501, 6.7009783});
  ExpectTensor(ToSize(Line(), 3, {{"mode", "linear"}, {"antialias", 1}}), {1, 3},
               {2.1860466, 4.6666665, 6.6511626});
  ExpectTensor(ToSize(Line(), 3, {{"mode", "cubic"}, {"antialias", 1}}), {1, 3},
               {1.9516797, 4.7523274, 6.897917});
  ExpectTensor(ToSize(Line(), 3, {{"mode", "cubic"}, {"antialias", 1}, {"exclude_outside", 1}}),
               {1, 3}, {2.018976, 4.7249026, 6.890698});
}

TEST(Resize, CropAndResize) {
  const Tensor y =
      RunOp1("Resize", {Line(), F32({4}, {0, 0.2f, 1, 1.3f}), std::nullopt, I64({2}, {1, 6})},
             {{"mode", "linear"},
              {"coordinate_transformation_mode", "tf_crop_and_resize"},
              {"extrapolation_value", 10.0f}});
  ExpectTensor(y, {1, 6}, {2.6, 4.82, 5.92, 6.02, 10, 10}, 1e-5);
  EXPECT_EQ(RunOp("Resize", {Line(), std::nullopt, F32({2}, {1, 1})},
                  {{"coordinate_transformation_mode", "tf_crop_and_resize"}})
                .status()
                .code(),
            Code::kInvalidArgument);
}

TEST(Resize, AxesPolicyAndSeveralAxes) {
  const Tensor x = testing::Pseudo({2, 3, 3, 8});
  const auto sized = [&](std::string policy) {
    const Tensor y = RunOp1("Resize", {x, std::nullopt, std::nullopt, I64({2}, {7, 7})},
                            {{"axes", Ints{2, -1}}, {"keep_aspect_ratio_policy", policy}});
    return ToString(y.dims());
  };
  EXPECT_EQ(sized("stretch"), "[2, 3, 7, 7]");
  EXPECT_EQ(sized("not_larger"), "[2, 3, 3, 7]");
  EXPECT_EQ(sized("not_smaller"), "[2, 3, 7, 19]");
  // Bilinear at twice the size: the middle of four pixels.
  const Tensor y = RunOp1("Resize", {F32({2, 2}, {1, 2, 3, 4}), std::nullopt, F32({2}, {2, 2})},
                          {{"mode", "linear"}});
  ExpectTensor(y, {4, 4},
               {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
}

TEST(Resize, Types) {
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(ToSize(Floats(type, {1, 2}, {1, 2}), 4, {{"mode", "linear"}}), {1, 4},
                 {1, 1.25, 1.75, 2});
  }
  // Integers are rounded, and stop at the ends of their type.
  ExpectTensor(ToSize(Tensor::FromValues<uint8_t>({1, 2}, {0, 255}), 4, {{"mode", "cubic"}}),
               {1, 4}, {0, 58, 197, 255});
  const Tensor text = Tensor::FromValues<std::string>({1, 2}, {std::string("a"), std::string("b")});
  const Tensor wide = ToSize(text, 4, {});
  EXPECT_EQ(testing::ValuesOf<std::string>(wide), (std::vector<std::string>{"a", "a", "b", "b"}));
  EXPECT_EQ(
      RunOp("Resize", {text, std::nullopt, F32({2}, {1, 2})}, {{"mode", "linear"}}).status().code(),
      Code::kTypeMismatch);
}

TEST(Resize, ShapeRuleAndBadInput) {
  const TypedInput x(DataType::kFloat32, "[N, 3, H, W]"), none;
  EXPECT_EQ(InferText("Resize", {x, none, TypedInput(F32({4}, {1, 1, 2, 0.5f}))}),
            "float32[N, 3, 2*H, floordiv(W, 2)]");
  TypedInput sizes(DataType::kInt64, "[4]");
  sizes.dims = {Dim::Symbol("N"), Dim(3), Dim(7), Dim::Symbol("W") * Dim(2)};
  EXPECT_EQ(InferText("Resize", {x, none, none, sizes}), "float32[N, 3, 7, 2*W]");
  const Tensor huge = I64({2}, {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_NE(InferText("Resize", {{DataType::kFloat32, "[4, 4]"}, none, none, TypedInput(huge)})
                .find("E5003"),
            std::string::npos);
  // An empty tensor stands for an absent one.
  EXPECT_EQ(InferText("Resize", {x, TypedInput(F32({0}, {})), TypedInput(F32({0}, {})), sizes}),
            "float32[N, 3, 7, 2*W]");
  EXPECT_NE(
      InferText("Resize", {x, none, TypedInput(F32({4}, {1, 1, 2, 2})), sizes}).find("given both"),
      std::string::npos);
  EXPECT_NE(InferText("Resize", {x, none, TypedInput(F32({3}, {1, 1, 2}))}).find("E5001"),
            std::string::npos);
  const TypedInput line(DataType::kFloat32, "[4]");
  for (const float scale : {0.0f, -1.0f, NAN, 1e30f}) {
    EXPECT_NE(InferText("Resize", {line, none, TypedInput(F32({1}, {scale}))}).find("E5003"),
              std::string::npos)
        << scale;
  }
  EXPECT_NE(InferText("Resize", {line, none, none, TypedInput(I64({1}, {-1}))}).find("E5003"),
            std::string::npos);
  EXPECT_NE(
      InferText("Resize", {{DataType::kFloat32, "[0]"}, none, none, TypedInput(I64({1}, {2}))})
          .find("E5001"),
      std::string::npos);
  EXPECT_NE(InferText("Resize", {line, none, TypedInput(F32({1}, {2}))}, {{"mode", "linaer"}})
                .find("did you mean 'linear'"),
            std::string::npos);
  EXPECT_NE(InferText("Resize", {line, none, TypedInput(F32({1}, {2}))}, {{"axes", Ints{3}}})
                .find("E5003"),
            std::string::npos);
  EXPECT_EQ(
      InferText("Resize", {{DataType::kFloat32, "[3]"}, none, TypedInput(F32({1}, {5.0f / 3}))}),
      "float32[5]");
}

}  // namespace
}  // namespace asc
