#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::InferText;
using testing::RunOp;
using testing::RunOp1;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BatchNorm, InferenceAndTraining) {
  const Tensor x = F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor scale = F32({2}, {2, 1}), bias = F32({2}, {0, 1}), mean = F32({2}, {1, 3}),
               var = F32({2}, {4, 1});
  const Tensor y = RunOp1("BatchNormalization", {x, scale, bias, mean, var}, {{"epsilon", 0.0f}});
  ExpectTensor(y, {2, 2, 2}, {0, 1, 1, 2, 4, 5, 5, 6});
  const auto trained = RunOp("BatchNormalization", {x, scale, bias, mean, var},
                             {{"training_mode", 1}, {"momentum", 0.5f}, {"epsilon", 0.0f}}, 3);
  ASSERT_TRUE(trained.ok());
  // Channel 0 holds 1, 2, 5, 6: mean 3.5, variance 4.25.
  ExpectTensor((*trained)[1].tensor(), {2}, {2.25, 4.25});
  ExpectTensor((*trained)[2].tensor(), {2}, {4.125, 2.625});
  EXPECT_NEAR((*trained)[0].tensor().data<float>()[0], 2 * (1 - 3.5) / std::sqrt(4.25), 1e-5);
  EXPECT_EQ(RunOp("BatchNormalization", {x, scale, bias, mean, var}, {}, 3).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("BatchNormalization", {x, F32({3}, {1, 2, 3}), bias, mean, var}).status().code(),
            Code::kShapeMismatch);
}

TEST(BatchNorm, MixedTypes) {
  const auto half = [](double a) { return Floats(DataType::kFloat16, {1}, {a}); };
  ExpectTensor(
      RunOp1("BatchNormalization", {half(3), F32({1}, {2}), F32({1}, {1}), half(1), half(4)},
             {{"epsilon", 0.0f}}),
      {1}, {3});
}

TEST(Softmax, AxesAndSpecials) {
  const Tensor x = F32({2, 2}, {0, 1, 0, 0});
  ExpectTensor(RunOp1("Softmax", {x}), {2, 2}, {0.26894142, 0.73105858, 0.5, 0.5});
  ExpectTensor(RunOp1("Softmax", {x}, {{"axis", 0}}), {2, 2}, {0.5, 0.73105858, 0.5, 0.26894142});
  ExpectTensor(RunOp1("LogSoftmax", {x}), {2, 2},
               {-1.31326169, -0.31326169, -0.69314718, -0.69314718});
  ExpectTensor(RunOp1("Hardmax", {F32({3}, {2, 5, 5})}), {3}, {0, 1, 0});
  ExpectTensor(RunOp1("Softmax", {F32({2}, {1000, -INFINITY})}), {2}, {1, 0});
  ExpectTensor(RunOp1("Softmax", {F32({2}, {NAN, 1})}), {2}, {kNan, kNan});
  ExpectTensor(RunOp1("Softmax", {F32({2, 0}, {})}), {2, 0}, {});
  ExpectTensor(RunOp1("Softmax", {F32({}, {3})}), {}, {1});
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(RunOp1("Softmax", {Floats(type, {2}, {1, 1})}), {2}, {0.5, 0.5});
  }
  EXPECT_NE(InferText("Softmax", {{DataType::kFloat32, "[N, 3]"}}, {{"axis", 2}}).find("E5003"),
            std::string::npos);
}

TEST(Softmax, LanesEqualRows) {
  const Tensor x = testing::Pseudo({3, 5, 70});
  const Tensor y = RunOp1("Softmax", {x}, {{"axis", 1}});
  for (int64_t n = 0; n < 3; ++n) {
    for (int64_t lane = 0; lane < 70; ++lane) {
      double sum = 0;
      for (int64_t i = 0; i < 5; ++i)
        sum += std::exp(double(x.data<float>()[(n * 5 + i) * 70 + lane]));
      for (int64_t i = 0; i < 5; ++i) {
        const int64_t at = (n * 5 + i) * 70 + lane;
        EXPECT_NEAR(y.data<float>()[at], std::exp(double(x.data<float>()[at])) / sum, 1e-6);
      }
    }
  }
}

TEST(GlobalPool, Values) {
  const Tensor x = F32({1, 2, 2, 1}, {3, -4, 1, NAN});
  ExpectTensor(RunOp1("GlobalAveragePool", {x}), {1, 2, 1, 1}, {-0.5, kNan});
  ExpectTensor(RunOp1("GlobalMaxPool", {x}), {1, 2, 1, 1}, {3, kNan});
  ExpectTensor(RunOp1("GlobalLpPool", {x}), {1, 2, 1, 1}, {5, kNan});
  EXPECT_EQ(InferText("GlobalAveragePool", {{DataType::kFloat16, "[N, C, H, W]"}}),
            "float16[N, C, 1, 1]");
}

}  // namespace
}  // namespace asc
