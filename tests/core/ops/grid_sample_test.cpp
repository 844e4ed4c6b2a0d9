// GridSample.
#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using S = std::string;

// One row of X = [1, 2, 3, 4] at the given positions.
Tensor AtPositions(std::initializer_list<float> positions, OpAttributes attributes) {
  return RunOp1("GridSample",
                {F32({1, 1, 4}, {1, 2, 3, 4}),
                 F32({1, static_cast<int64_t>(positions.size()), 1}, positions)},
                attributes);
}

TEST(GridSample, InterpolatesOnALine) {
  ExpectTensor(AtPositions({-1, 0, 1}, {{"align_corners", int64_t{1}}}), {1, 1, 3}, {1, 2.5, 4});
  ExpectTensor(AtPositions({-0.75f, 0, -1}, {}), {1, 1, 3}, {1, 2.5, 0.5});
  ExpectTensor(AtPositions({-0.7f, 0.3f, 3}, {{"mode", S("nearest")}}), {1, 1, 3}, {1, 3, 0});
  ExpectTensor(AtPositions({-3, -1, 3}, {{"padding_mode", S("border")}}), {1, 1, 3}, {1, 1, 4});
  // Position -1.25 reflects about the edge -1 into -0.75, the first element.
  ExpectTensor(AtPositions({-1.25f, 1.25f, 2.75f}, {{"padding_mode", S("reflection")}}), {1, 1, 3},
               {1, 4, 1});
  ExpectTensor(AtPositions({0}, {{"mode", S("cubic")}}), {1, 1, 1}, {2.5});
}

TEST(GridSample, ReadsImagesByColumnThenRow) {
  const Tensor x = F32({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
  ExpectTensor(
      RunOp1("GridSample", {x, F32({1, 1, 2, 2}, {1, -1, -1, 1})}, {{"align_corners", int64_t{1}}}),
      {1, 2, 1, 2}, {2, 3, 20, 30});
  ExpectTensor(
      RunOp1("GridSample", {x, F32({1, 1, 1, 2}, {0, 0})}, {{"align_corners", int64_t{1}}}),
      {1, 2, 1, 1}, {2.5, 25});
}

// The same image as a volume of depth 1 goes another way.
TEST(GridSample, ImagesEqualVolumesOfDepthOne) {
  const int64_t rows = 9, columns = 11, places = 13 * 14;
  const Tensor image = Pseudo({2, 6, rows, columns});
  const Tensor volume = Pseudo({2, 6, 1, rows, columns});
  Tensor grid = Pseudo({2, 13, 14, 2}, 2), deep = Pseudo({2, 1, 13, 14, 3}, 2);
  for (int64_t i = 0; i < 2 * places; ++i) {
    float* at = grid.data<float>() + 2 * i;
    for (int64_t k = 0; k < 2; ++k) at[k] *= 2.5f;
    if (i % 31 == 0) at[i % 2] = NAN;
    std::copy_n(at, 2, deep.data<float>() + 3 * i);
    deep.data<float>()[3 * i + 2] = 0;
  }
  for (const S padding : {"zeros", "border", "reflection"}) {
    const OpAttributes attributes = {{"padding_mode", padding}};
    const Tensor got = RunOp1("GridSample", {image, grid}, attributes);
    const Tensor want = RunOp1("GridSample", {volume, deep}, attributes);
    for (int64_t i = 0; i < got.size(); ++i) {
      const float a = got.data<float>()[i], b = want.data<float>()[i];
      ASSERT_TRUE(a == b || (a != a && b != b)) << padding << " " << i << ": " << a << " " << b;
    }
  }
}

TEST(GridSample, SurvivesStrangePositions) {
  for (const S padding : {"zeros", "border", "reflection"}) {
    for (const S mode : {"nearest", "linear", "cubic"}) {
      const Tensor y = AtPositions({NAN, INFINITY, -INFINITY, 3e38f},
                                   {{"padding_mode", padding}, {"mode", mode}});
      EXPECT_TRUE(std::isnan(y.data<float>()[0]));
      EXPECT_TRUE(std::isfinite(y.data<float>()[1])) << padding << mode;
      EXPECT_TRUE(std::isfinite(y.data<float>()[3])) << padding << mode;
      // An extent of one times infinity is no number.
      const Tensor one =
          RunOp1("GridSample", {F32({1, 1, 1}, {5}), F32({1, 1, 1}, {INFINITY})},
                 {{"padding_mode", padding}, {"mode", mode}, {"align_corners", int64_t{1}}});
      EXPECT_TRUE(std::isfinite(one.data<float>()[0])) << padding << mode;
    }
  }
}

TEST(GridSample, TakesOtherTypes) {
  const Tensor grid = F32({1, 1, 1}, {0});
  EXPECT_EQ(RunOp1("GridSample", {I32({1, 1, 2}, {2, 5}), grid}).data<int32_t>()[0], 3);
  const Tensor text = Tensor::FromValues<S>({1, 1, 1}, {"a"});
  EXPECT_EQ(RunOp1("GridSample", {text, grid}, {{"mode", S("nearest")}}).data<S>()[0], "a");
  EXPECT_EQ(RunOp("GridSample", {text, grid}).status().code(), Code::kTypeMismatch);
}

TEST(GridSample, RefusesBadArguments) {
  EXPECT_EQ(RunOp("GridSample", {Pseudo({1, 1, 4}), Pseudo({1, 3, 2})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("GridSample", {Pseudo({2, 1, 4}), Pseudo({1, 3, 1})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("GridSample", {Pseudo({1, 1, 4}), Pseudo({1, 3, 1})}, {{"mode", S("bilinear")}})
                .status()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("GridSample", {TypedInput(DataType::kFloat32, "[N, C, H, W]"),
                                     TypedInput(DataType::kFloat32, "[N, A, B, 2]")}),
            "float32[N, C, A, B]");
}

}  // namespace
}  // namespace asc::testing
