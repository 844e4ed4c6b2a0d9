#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp1;
using Ints = std::vector<int64_t>;
using Reals = std::vector<float>;

TEST(Fused, ConvEqualsItsParts) {
  const Tensor x = Pseudo({2, 4, 6, 5}), w = Pseudo({6, 2, 3, 3}, 2), bias = Pseudo({6}, 3),
               residual = Pseudo({2, 6, 6, 5}, 4);
  const auto conv = RunOp1("Conv", {x, w, bias}, {{"group", 2}, {"pads", Ints{1, 1, 1, 1}}});
  const Tensor sum = RunOp1("Add", {conv, residual});
  for (const std::string name : {"", "Relu", "Sigmoid", "HardSwish", "Tanh", "Gelu"}) {
    const Tensor want = name.empty() ? sum : RunOp1(name, {sum});
    const Tensor got =
        RunOp1("FusedConv", {x, w, bias, residual},
               {{"group", 2}, {"pads", Ints{1, 1, 1, 1}}, {"activation", name}}, "asc");
    EXPECT_TRUE(got.ContentEquals(want)) << name;
  }
  const Tensor clipped =
      RunOp1("FusedConv", {x, w},
             {{"group", 2}, {"activation", "Clip"}, {"activation_params", Reals{0, 6}}}, "asc");
  EXPECT_TRUE(clipped.ContentEquals(
      RunOp1("Clip", {RunOp1("Conv", {x, w}, {{"group", 2}}), F32({}, {0}), F32({}, {6})})));
}

TEST(Fused, MatMulEqualsItsParts) {
  const Tensor a = Pseudo({3, 5, 4}), b = Pseudo({3, 7, 5}, 2), bias = Pseudo({7}, 3),
               residual = Pseudo({3, 4, 7}, 4);
  const Tensor at = RunOp1("FusedMatMul", {a, b, bias, residual},
                           {{"transA", 1},
                            {"transB", 1},
                            {"alpha", 2.0f},
                            {"activation", "LeakyRelu"},
                            {"activation_params", Reals{0.5f}}},
                           "asc");
  std::vector<double> want;
  for (int64_t n = 0; n < 3; ++n) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 5; ++k)
          sum += double(a.data<float>()[(n * 5 + k) * 4 + i]) *
                 double(b.data<float>()[(n * 7 + j) * 5 + k]);
        sum = 2 * sum + double(bias.data<float>()[j]) +
              double(residual.data<float>()[(n * 4 + i) * 7 + j]);
        want.push_back(sum < 0 ? 0.5 * sum : sum);
      }
    }
  }
  ExpectTensor(at, {3, 4, 7}, want, 1e-5);
}

TEST(Fused, ShapeRule) {
  const auto conv = [](std::string_view residual, testing::OpAttributes attributes) {
    return InferText("FusedConv",
                     {{DataType::kFloat32, "[N, 3, 8, 8]"},
                      {DataType::kFloat32, "[4, 3, 1, 1]"},
                      {},
                      {DataType::kFloat32, residual}},
                     attributes, 0, "asc");
  };
  EXPECT_EQ(conv("[N, 4, 8, 8]", {{"activation", "Relu"}}), "float32[N, 4, 8, 8]");
  EXPECT_NE(conv("[N, 4, 1, 1]", {}).find("E5001"), std::string::npos);
  EXPECT_NE(conv("[N, 4, 8, 8]", {{"activation", "Foo"}}).find("E5003"), std::string::npos);
  EXPECT_NE(
      conv("[N, 4, 8, 8]", {{"activation", "Relu"}, {"activation_params", Reals{1}}}).find("E5003"),
      std::string::npos);
}

}  // namespace
}  // namespace asc
