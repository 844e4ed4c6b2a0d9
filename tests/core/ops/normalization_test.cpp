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
  const Tensor signs = F32({1, 2, 2}, {-3, 4, 0, 1});
  ExpectTensor(RunOp1("GlobalLpPool", {signs}, {{"p", int64_t{1}}}), {1, 2, 1}, {7, 1});
  ExpectTensor(RunOp1("GlobalLpPool", {signs}, {{"p", int64_t{3}}}), {1, 2, 1},
               {std::cbrt(91.0), 1});
  ExpectTensor(RunOp1("GlobalLpPool", {x}), {1, 2, 1, 1}, {5, kNan});
  EXPECT_EQ(InferText("GlobalAveragePool", {{DataType::kFloat16, "[N, C, H, W]"}}),
            "float16[N, C, 1, 1]");
}

// Expected values from ONNX Runtime 1.32.
TEST(LayerNorm, Values) {
  const Tensor x = testing::Pseudo({2, 4, 3});
  const auto outputs =
      RunOp("LayerNormalization", {x, testing::Pseudo({4, 3}, 2), testing::Pseudo({3}, 3)},
            {{"axis", 1}}, 3);
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  ExpectTensor((*outputs)[0].tensor(), {2, 4, 3},
               {0.4292156,  1.333876,   -0.202933,  -0.7205613, 1.520116,  -0.4453436,
                -0.2749439, -0.2649114, -0.9491828, -0.7721848, 0.2882357, 0.01676037,
                1.002918,   0.7844536,  -0.3899627, -0.9401837, 0.6295102, -0.4144856,
                -0.8853637, 1.336746,   -0.419842,  -0.7125247, 0.6684643, -0.1717855},
               2e-6);
  ExpectTensor((*outputs)[1].tensor(), {2, 1, 1}, {0.008692145, -0.05786959}, 2e-6);
  ExpectTensor((*outputs)[2].tensor(), {2, 1, 1}, {1.560458, 2.59723}, 2e-6);
  ExpectTensor(RunOp1("RMSNormalization", {x, testing::Pseudo({3}, 2)}), {2, 4, 3},
               {1.108946,   0.7749876, 0.001697074, 1.033608,  -0.8160653, -0.02713079,
                0.5522524,  0.7108162, -0.1303534,  0.1217986, 0.7671536,  -0.138704,
                1.238087,   0.134422,  -0.1055624,  -1.450386, -0.3077331, -0.0130752,
                0.08446744, -1.129029, -0.02605085, 0.5872103, -1.049487,  0.01154374},
               2e-6);
}

TEST(LayerNorm, TypesAndShapeRule) {
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(
        RunOp1("LayerNormalization", {Floats(type, {1, 2}, {1, 3}), Floats(type, {2}, {2, 2})},
               {{"epsilon", 0.0f}}),
        {1, 2}, {-2, 2});
  }
  ExpectTensor(RunOp1("RMSNormalization", {F32({2}, {3, 4}), Floats(DataType::kFloat16, {}, {5})},
                      {{"epsilon", 0.0f}}),
               {2}, {4.2426, 5.6569}, 1e-3);
  ExpectTensor(RunOp1("LayerNormalization", {F32({0, 3}, {}), F32({3}, {1, 1, 1})}), {0, 3}, {});
  EXPECT_EQ(InferText("LayerNormalization",
                      {{DataType::kFloat16, "[N, S, 8]"}, {DataType::kFloat16, "[8]"}}, {}, 1),
            "float32[N, S, 1]");
  EXPECT_NE(InferText("LayerNormalization",
                      {{DataType::kFloat16, "[N, S, 8]"}, {DataType::kFloat16, "[7]"}})
                .find("E5001"),
            std::string::npos);
  EXPECT_NE(InferText("LayerNormalization",
                      {{DataType::kFloat16, "[N]"}, {DataType::kFloat16, "[1]"}}, {{"axis", 1}})
                .find("E5003"),
            std::string::npos);
  EXPECT_NE(
      InferText("LayerNormalization", {{DataType::kFloat16, "[N]"}, {DataType::kFloat16, "[1]"}},
                {{"stash_type", 99}})
          .find("E5003"),
      std::string::npos);
}

TEST(GroupNorm, Values) {
  const Tensor x = testing::Pseudo({2, 4, 3}), scale = testing::Pseudo({4}, 2),
               bias = testing::Pseudo({4}, 3);
  ExpectTensor(RunOp1("InstanceNormalization", {x, scale, bias}), {2, 4, 3},
               {0.248948,    -1.886419,   -0.8471584, 0.0314467, -0.01864398, 1.404187,
                -0.05275428, -0.275282,   -0.2909075, 0.8583233, 0.7047861,   0.6916511,
                0.342418,    -1.078215,   -1.748832,  1.370817,  -0.1922621,  0.2384352,
                -0.260749,   -0.05450794, -0.3036868, 0.7371279, 0.8506105,   0.6670219},
               2e-6);
  ExpectTensor(RunOp1("GroupNormalization", {x, scale, bias}, {{"num_groups", 2}}), {2, 4, 3},
               {-0.02795583, -2.279551,    -1.183723,  -0.1205922, -0.1591318, 0.9355895,
                -0.01939246, -0.3109388,   -0.3314107, 0.814782,   0.7381543,  0.7315989,
                0.8183709,   -0.9764962,   -1.823772,  1.115078,   0.2173395,  0.464706,
                -0.2716897,  -0.002571598, -0.3277181, 0.7398409,  0.8011534,  0.701964},
               2e-6);
  EXPECT_EQ(RunOp("GroupNormalization", {x, scale, bias}, {{"num_groups", 3}}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("GroupNormalization", {x, scale, bias}, {{"num_groups", 0}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("InstanceNormalization", {x, F32({3}, {1, 1, 1}), bias}).status().code(),
            Code::kShapeMismatch);
}

TEST(LpNorm, AcrossChannelsAndAlongAnAxis) {
  const Tensor x = testing::Pseudo({2, 3, 2, 2});
  ExpectTensor(RunOp1("LRN", {x}, {{"size", 2}, {"alpha", 0.5f}}), {2, 3, 2, 2},
               {-0.6994686,  0.7436017,  -0.01087452, -0.7287047, -0.7408127, 0.1886252,
                -0.3952354,  0.6333822,  0.7102911,   -0.0458078, 0.3716181,  0.4050836,
                -0.7591537,  0.1240295,  0.5559267,   0.4632729,  -0.1429151, 0.03686843,
                -0.03082403, -0.5240436, 0.07738086,  -0.125136,  -0.2918494, -0.01977501},
               2e-6);
  ExpectTensor(RunOp1("LRN", {x}, {{"size", 3}, {"alpha", 0.5f}}), {2, 3, 2, 2},
               {-0.7573127,  0.7744508,  -0.01099022, -0.7775514,  -0.7354974, 0.1738312,
                -0.4027348,  0.6031303,  0.6691396,   -0.04560829, 0.3670878,  0.3858027,
                -0.7913618,  0.1241597,  0.5674298,   0.4782377,   -0.1310848, 0.0368367,
                -0.02971812, -0.5175465, 0.07721104,  -0.1252375,  -0.2933945, -0.01904942},
               2e-6);
  ExpectTensor(RunOp1("MeanVarianceNormalization", {x}), {2, 3, 2, 2},
               {-1.231924,  1.35842,    0.09772685, -1.213397,  -1.697199,    0.7090791,
                -0.5840874, 1.819882,   1.936837,   -0.5816755, 0.7029889,    0.8128907,
                -1.159843,  0.2971836,  0.9849805,  0.8668528,  0.0004369411, 0.3841011,
                0.2389673,  -0.8711799, -0.2112147, -0.8210889, -1.335333,    -0.5034049},
               2e-6);
  ExpectTensor(RunOp1("LpNormalization", {F32({2, 2}, {3, 0, -4, 0})}, {{"axis", 0}}), {2, 2},
               {0.6, 0, -0.8, 0});
  ExpectTensor(RunOp1("LpNormalization", {F32({2}, {3, -1})}, {{"p", 1}}), {2}, {0.75, -0.25});
  EXPECT_EQ(RunOp("LRN", {x}, {{"size", 0}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunOp("LpNormalization", {x}, {{"p", 3}}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc
