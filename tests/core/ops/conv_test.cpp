#include <cmath>

#include "core/ops/window.h"
#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;
using Ints = std::vector<int64_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The definition, with no regard for speed, in two spatial dimensions.
std::vector<double> PlainConv(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t groups,
                              Ints stride, Ints pads, Ints dilation, Dims* out_dims) {
  const int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2), wd = x.dim(3), m = w.dim(0),
                kh = w.dim(2), kw = w.dim(3);
  const int64_t oh = (h + pads[0] + pads[2] - dilation[0] * (kh - 1) - 1) / stride[0] + 1;
  const int64_t ow = (wd + pads[1] + pads[3] - dilation[1] * (kw - 1) - 1) / stride[1] + 1;
  *out_dims = {n, m, oh, ow};
  std::vector<double> out;
  for (int64_t i = 0; i < n * m * oh * ow; ++i) {
    const int64_t ox = i % ow, oy = i / ow % oh, f = i / ow / oh % m, image = i / ow / oh / m;
    double sum = bias.data<float>()[f];
    for (int64_t cc = 0; cc < c / groups; ++cc) {
      for (int64_t a = 0; a < kh; ++a) {
        for (int64_t b = 0; b < kw; ++b) {
          const int64_t y = oy * stride[0] - pads[0] + a * dilation[0],
                        xx = ox * stride[1] - pads[1] + b * dilation[1];
          if (y < 0 || y >= h || xx < 0 || xx >= wd) continue;
          const int64_t channel = f / (m / groups) * (c / groups) + cc;
          sum += double(x.data<float>()[((image * c + channel) * h + y) * wd + xx]) *
                 double(w.data<float>()[((f * (c / groups) + cc) * kh + a) * kw + b]);
        }
      }
    }
    out.push_back(sum);
  }
  return out;
}

TEST(Conv, EqualsTheDefinition) {
  struct Case {
    Dims x, w;
    int64_t groups;
    Ints stride, pads, dilation;
  };
  for (const Case& c : {Case{{2, 3, 9, 11}, {5, 3, 3, 3}, 1, {1, 1}, {1, 1, 1, 1}, {1, 1}},
                        Case{{1, 4, 10, 9}, {6, 2, 3, 2}, 2, {2, 3}, {0, 2, 1, 0}, {2, 1}},
                        Case{{1, 6, 7, 140}, {6, 1, 5, 5}, 6, {1, 2}, {2, 2, 2, 2}, {1, 1}},
                        Case{{3, 8, 5, 20}, {7, 8, 1, 1}, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}},
                        Case{{1, 2, 4, 4}, {3, 2, 1, 1}, 1, {2, 2}, {1, 1, 0, 0}, {1, 1}}}) {
    const Tensor x = Pseudo(c.x), w = Pseudo(c.w, 2), bias = Pseudo({c.w[0]}, 3);
    Dims dims;
    const auto want = PlainConv(x, w, bias, c.groups, c.stride, c.pads, c.dilation, &dims);
    ExpectTensor(RunOp1("Conv", {x, w, bias},
                        {{"group", c.groups},
                         {"strides", c.stride},
                         {"pads", c.pads},
                         {"dilations", c.dilation}}),
                 dims, want, 1e-5);
  }
}

TEST(Conv, OtherRanksAndTypes) {
  ExpectTensor(RunOp1("Conv", {F32({1, 1, 3}, {1, -2, 3}), F32({1, 1, 1}, {-1})}), {1, 1, 3},
               {-1, 2, -3});
  ExpectTensor(RunOp1("Conv",
                      {F32({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                       F32({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1})},
                      {{"pads", Ints{0, 0, 0, 1, 0, 0}}}),
               {1, 1, 2, 1, 1}, {36, 26});
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(RunOp1("Conv",
                        {Floats(type, {1, 1, 4}, {1, 2, 3, 4}), Floats(type, {1, 1, 2}, {1, -1}),
                         Floats(type, {1}, {10})},
                        {{"strides", Ints{2}}}),
                 {1, 1, 2}, {9, 9});
  }
  ExpectTensor(RunOp1("Conv", {F32({0, 1, 4}, {}), F32({2, 1, 2}, {1, 1, 1, 1})}), {0, 2, 3}, {});
}

TEST(Conv, AutoPad) {
  const Tensor x = F32({1, 1, 4}, {1, 2, 3, 4}), w = F32({1, 1, 2}, {1, 10});
  ExpectTensor(RunOp1("Conv", {x, w}, {{"auto_pad", "SAME_UPPER"}}), {1, 1, 4}, {21, 32, 43, 4});
  ExpectTensor(RunOp1("Conv", {x, w}, {{"auto_pad", "SAME_LOWER"}}), {1, 1, 4}, {10, 21, 32, 43});
  ExpectTensor(RunOp1("Conv", {x, w}, {{"auto_pad", "VALID"}, {"strides", Ints{2}}}), {1, 1, 2},
               {21, 43});
}

TEST(Conv, ShapeRule) {
  const auto conv = [](std::string_view x, std::string_view w, testing::OpAttributes attributes) {
    return InferText("Conv", {{DataType::kFloat32, x}, {DataType::kFloat32, w}}, attributes);
  };
  EXPECT_EQ(conv("[N, 3, H, 224]", "[64, 3, 7, 7]",
                 {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}}),
            "float32[N, 64, floordiv(H - 1, 2) + 1, 112]");
  EXPECT_NE(conv("[*]", "[64, 3, 7, 7]", {}).find(", 64, ?"), std::string::npos);
  EXPECT_EQ(conv("[*]", "[*]", {}), "float32[*]");
  EXPECT_NE(conv("[1, 3, 8, 8]", "[64, 4, 3, 3]", {}).find("E5001"), std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[64, 4, 3, 3]", {}).find("should have shape [64, 3, 3, 3]"),
            std::string::npos);
  EXPECT_NE(conv("[1, 3, 224, 224]", "[1, 3, 224, 224]", {{"kernel_shape", Ints{3, 3}}})
                .find("should have shape [1, 3, 3, 3]"),
            std::string::npos);
  EXPECT_NE(conv("[1, 4, 8, 8]", "[6, 2, 3, 3]", {{"group", 4}}).find("E5001"), std::string::npos);
  EXPECT_NE(conv("[1, 3, 2, 2]", "[6, 3, 3, 3]", {}).find("larger than the padded input"),
            std::string::npos);
  // Hostile attributes.
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"strides", Ints{0, 1}}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"strides", Ints{1}}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"pads", Ints{-1, 0, 0, 0}}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"dilations", Ints{INT64_MAX, 1}}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"group", 0}}).find("E5003"), std::string::npos);
  EXPECT_NE(conv("[1, 3, 8, 8]", "[6, 3, 3, 3]", {{"auto_pad", "SAME"}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(conv("[3, 8]", "[6, 3]", {}).find("E5001"), std::string::npos);
}

TEST(ConvTranspose, SpreadsEachElement) {
  const Tensor x = F32({1, 1, 2}, {1, 2}), w = F32({1, 1, 3}, {1, 1, 1});
  ExpectTensor(RunOp1("ConvTranspose", {x, w}, {{"strides", Ints{2}}}), {1, 1, 5}, {1, 1, 3, 2, 2});
  ExpectTensor(RunOp1("ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"pads", Ints{0, -1}}}),
               {1, 1, 6}, {1, 1, 3, 2, 2, 0});
  ExpectTensor(RunOp1("ConvTranspose", {x, w},
                      {{"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"output_padding", Ints{1}}}),
               {1, 1, 4}, {1, 3, 2, 2});
  ExpectTensor(RunOp1("ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"output_shape", Ints{4}}}),
               {1, 1, 4}, {1, 3, 2, 2});
  ExpectTensor(RunOp1("ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"auto_pad", "SAME_UPPER"}}),
               {1, 1, 4}, {1, 1, 3, 2});
  ExpectTensor(RunOp1("ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"auto_pad", "SAME_LOWER"}}),
               {1, 1, 4}, {1, 3, 2, 2});
}

TEST(ConvTranspose, GroupsBiasAndRank) {
  // Two groups of one channel and two filters each.
  ExpectTensor(RunOp1("ConvTranspose",
                      {F32({1, 2, 1, 1}, {1, 2}), F32({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                       F32({4}, {0, 10, 20, 30})},
                      {{"group", 2}}),
               {1, 4, 1, 2}, {1, 2, 13, 14, 30, 32, 44, 46});
  EXPECT_EQ(
      InferText("ConvTranspose",
                {{DataType::kFloat32, "[N, 24, H, W]"}, {DataType::kFloat32, "[24, 1, 2, 2]"}},
                {{"strides", Ints{2, 2}}}),
      "float32[N, 1, 2*H, 2*W]");
  EXPECT_NE(InferText("ConvTranspose",
                      {{DataType::kFloat32, "[1, 3, 4, 4]"}, {DataType::kFloat32, "[4, 1, 2, 2]"}})
                .find("E5001"),
            std::string::npos);
}

TEST(Pool, CasesOfOutputSizes) {
  const auto pool = [](std::string_view x, testing::OpAttributes attributes) {
    return InferText("MaxPool", {{DataType::kFloat32, x}}, attributes);
  };
  EXPECT_EQ(pool("[1, 1, 3, 6, 5]", {{"kernel_shape", Ints{3, 3, 3}},
                                     {"strides", Ints{3, 3, 3}},
                                     {"pads", Ints(6, 1)},
                                     {"ceil_mode", 1}}),
            "float32[1, 1, 2, 3, 2]");
  EXPECT_EQ(pool("[N, 8, H, 7]",
                 {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", 1}}),
            "float32[N, 8, min(-floordiv(-H + 2, 2) + 1, floordiv(H - 1, 2) + 1), 4]");
  EXPECT_EQ(
      pool("[N, 8, H, 7]",
           {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}}),
      "float32[N, 8, -floordiv(-H, 2), 4]");
  EXPECT_NE(pool("[1, 1, 4]", {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(pool("[1, 1, 4]", {{"kernel_shape", Ints{0}}}).find("E5003"), std::string::npos);
  EXPECT_NE(pool("[1, 1, 4]", {{"kernel_shape", Ints{5}}}).find("E5001"), std::string::npos);
  EXPECT_NE(pool("[4, 4]", {{"kernel_shape", Ints{}}}).find("E5001"), std::string::npos);
}

TEST(Pool, MaxKeepsNanAndFindsIndices) {
  const Tensor x = F32({1, 1, 3, 3}, {1, 9, 3, 4, 5, NAN, 7, 8, 9});
  const auto outputs = RunOp("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}}, 2);
  ASSERT_TRUE(outputs.ok());
  ExpectTensor((*outputs)[0].tensor(), {1, 1, 2, 2}, {9, kNan, 8, kNan});
  ExpectTensor((*outputs)[1].tensor(), {1, 1, 2, 2}, {1, 5, 7, 5});
  const auto columns =
      RunOp("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"storage_order", 1}}, 2);
  ASSERT_TRUE(columns.ok());
  ExpectTensor((*columns)[1].tensor(), {1, 1, 2, 2}, {3, 7, 5, 7});
  const Tensor low = Tensor::FromValues<int8_t>({1, 1, 2}, {-128, -128});
  ExpectTensor(RunOp1("MaxPool", {low}, {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}),
               {1, 1, 2}, {-128, -128});
  ExpectTensor(RunOp1("MaxPool", {F32({1, 1, 5}, {1, 2, 3, 4, 5})},
                      {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}}),
               {1, 1, 2}, {4, 5});
}

// Kernels of hostile models: time goes with the data, not with what the attributes say.
TEST(Pool, TapsInThePaddingCostNothing) {
  const Tensor x = F32({1, 1, 2, 2}, {1, 2, 3, 4});
  const Ints tall = {1 << 30, 1}, wide = {1, 1 << 30}, both = {1 << 16, 1 << 16};
  ExpectTensor(RunOp1("MaxPool", {x}, {{"kernel_shape", tall}, {"auto_pad", "SAME_UPPER"}}),
               {1, 1, 2, 2}, {3, 4, 3, 4});
  ExpectTensor(RunOp1("MaxPool", {x}, {{"kernel_shape", wide}, {"auto_pad", "SAME_LOWER"}}),
               {1, 1, 2, 2}, {2, 2, 4, 4});
  ExpectTensor(RunOp1("AveragePool", {x}, {{"kernel_shape", wide}, {"auto_pad", "SAME_UPPER"}}),
               {1, 1, 2, 2}, {1.5, 1.5, 3.5, 3.5});
  const auto refused = RunOp("MaxPool", {x}, {{"kernel_shape", both}, {"auto_pad", "SAME_UPPER"}});
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
}

TEST(Pool, AverageCounts) {
  const Tensor x = F32({1, 1, 4}, {1, 2, 3, 4});
  const Ints three = {3}, one_one = {1, 1};
  ExpectTensor(
      RunOp1("AveragePool", {x},
             {{"kernel_shape", three}, {"strides", three}, {"pads", one_one}, {"ceil_mode", 1}}),
      {1, 1, 2}, {1.5, 3.5});
  // The last window hangs over the padding by one, which does not count.
  ExpectTensor(RunOp1("AveragePool", {x},
                      {{"kernel_shape", three},
                       {"strides", three},
                       {"pads", one_one},
                       {"ceil_mode", 1},
                       {"count_include_pad", 1}}),
               {1, 1, 2}, {1, 7 / 3.0});
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(RunOp1("AveragePool", {Floats(type, {1, 1, 2, 2}, {1, 2, 3, 4})},
                        {{"kernel_shape", Ints{2, 2}}}),
                 {1, 1, 1, 1}, {2.5});
  }
  ExpectTensor(RunOp1("LpPool", {F32({1, 1, 2}, {-3, 4})}, {{"kernel_shape", Ints{2}}}), {1, 1, 1},
               {5});
  ExpectTensor(RunOp1("LpPool", {F32({1, 1, 2}, {-3, 4})}, {{"kernel_shape", Ints{2}}, {"p", 3}}),
               {1, 1, 1}, {std::cbrt(91.0)});
}

}  // namespace
}  // namespace asc
