// Adagrad, Adam and Momentum against their definitions.
#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {
constexpr std::string_view kTraining = "ai.onnx.preview.training";

Tensor F64(double value) { return Tensor::FromValues<double>({1}, {value}); }

std::vector<double> Step(std::string_view op, OpAttributes attributes, int64_t t,
                         const std::vector<double>& tensors, size_t outputs) {
  OpInputs inputs = {F64(0.1), Tensor::Scalar<int64_t>(t)};
  for (const double value : tensors) inputs.emplace_back(F64(value));
  const auto out = RunOp(op, inputs, attributes, outputs, kTraining);
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  std::vector<double> values;
  for (size_t i = 0; out.ok() && i < outputs; ++i)
    values.push_back(ValuesOf<double>((*out)[i].tensor())[0]);
  return values;
}

TEST(OptimizerStep, Adagrad) {
  // X = 2, gradient 3, sum of squares 4.
  const auto got =
      Step("Adagrad", {{"norm_coefficient", 0.5f}, {"decay_factor", 0.25f}, {"epsilon", 0.0f}}, 2,
           {2, 3, 4}, 2);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_DOUBLE_EQ(got[1], 4 + 16);
  EXPECT_NEAR(got[0], 2 - 0.1 / 1.5 * 4 / std::sqrt(20.0), 1e-12);
}

TEST(OptimizerStep, AdamCorrectsItsMeansFromTheFirstStepOn) {
  const OpAttributes attributes = {
      {"alpha", 0.5f}, {"beta", 0.25f}, {"epsilon", 0.0f}, {"norm_coefficient_post", 0.5f}};
  for (const int64_t t : {0, 3}) {
    const auto got = Step("Adam", attributes, t, {2, 3, 1, 4}, 3);
    ASSERT_EQ(got.size(), 3u);
    const double mean = 0.5 * 1 + 0.5 * 3, square = 0.25 * 4 + 0.75 * 9;
    const double rate =
        t == 0 ? 0.1 : 0.1 * std::sqrt(1 - std::pow(0.25, 3)) / (1 - std::pow(0.5, 3));
    EXPECT_DOUBLE_EQ(got[1], mean);
    EXPECT_DOUBLE_EQ(got[2], square);
    EXPECT_NEAR(got[0], 0.5 * (2 - rate * mean / std::sqrt(square)), 1e-12) << t;
  }
}

TEST(OptimizerStep, MomentumScalesNoGradientInTheFirstStep) {
  for (const bool nesterov : {false, true}) {
    for (const int64_t t : {0, 1}) {
      const auto got = Step("Momentum",
                            {{"alpha", 0.5f},
                             {"beta", 0.25f},
                             {"norm_coefficient", 0.0f},
                             {"mode", std::string(nesterov ? "nesterov" : "standard")}},
                            t, {2, 4, 8}, 2);
      ASSERT_EQ(got.size(), 2u);
      const double momentum = 0.5 * 8 + (t == 0 ? 1 : 0.25) * 4;
      EXPECT_DOUBLE_EQ(got[1], momentum);
      EXPECT_NEAR(got[0], 2 - 0.1 * (nesterov ? 4 + 0.5 * momentum : momentum), 1e-12);
    }
  }
}

TEST(OptimizerStep, TakesTensorsOfDifferentTypesAndShapes) {
  const Tensor a = F32({2}, {1, 2}), b = Tensor::FromValues<double>({1, 1}, {3.0});
  const auto out =
      RunOp("Adagrad", {F64(0.5), Tensor::Scalar<int64_t>(0), a, b, a, b, a, b}, {}, 4, kTraining);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[2].tensor().TypeString(), "float32[2]");
  EXPECT_EQ((*out)[3].tensor().TypeString(), "float64[1, 1]");
}

TEST(OptimizerStep, RefusesWhatDoesNotFitTogether) {
  const Tensor t = Tensor::Scalar<int64_t>(0);
  const std::vector<OpInputs> wrong = {
      {F64(1), t, F64(1), F64(1)},
      {F64(1), t, F64(1), F64(1), F32({1}, {1})},
      {F64(1), t, F64(1), F64(1), Tensor::FromValues<double>({2}, {1.0, 2.0})},
      {Tensor::FromValues<double>({2}, {1.0, 2.0}), t, F64(1), F64(1), F64(1)},
  };
  for (const OpInputs& inputs : wrong)
    EXPECT_FALSE(RunOp("Adagrad", inputs, {}, 2, kTraining).ok());
  EXPECT_FALSE(RunOp("Adagrad", {F64(1), t, F64(1), F64(1), F64(1)}, {}, 3, kTraining).ok());
  EXPECT_FALSE(RunOp("Momentum", {F64(1), t, F64(1), F64(1), F64(1)},
                     {{"alpha", 1.0f},
                      {"beta", 1.0f},
                      {"norm_coefficient", 0.0f},
                      {"mode", std::string("fast")}},
                     2, kTraining)
                   .ok());
}

}  // namespace
}  // namespace asc::testing
