#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::I64;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;
using testing::TypedInput;

// Two query heads share one key head; expected values from the ONNX reference evaluator.
testing::OpInputs Inputs() {
  return {Pseudo({1, 2, 3, 2}), Pseudo({1, 1, 4, 2}, 2), Pseudo({1, 1, 4, 1}, 3)};
}

testing::OpInputs With(size_t count, std::initializer_list<std::pair<size_t, Tensor>> more) {
  testing::OpInputs inputs = Inputs();
  inputs.resize(count);
  for (const auto& [i, tensor] : more) inputs[i] = tensor;
  return inputs;
}

TEST(Attention, CausalWithSoftcap) {
  const auto got = RunOp("Attention", Inputs(),
                         {{"is_causal", 1}, {"softcap", 0.5f}, {"qk_matmul_output_mode", 1}}, 4);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ExpectTensor((*got)[0].tensor(), {1, 2, 3, 1},
               {-0.8282099, -0.05312279, -0.2666563, -0.8282099, -0.07266891, -0.1882552}, 2e-6);
  ExpectTensor((*got)[3].tensor(), {1, 2, 3, 4},
               {0.4788666, 0.02511821,   -0.04857944, 0.1322781,   -0.3396942, 0.04902063,
                0.3984736, 0.3506542,    0.4357901,   0.06202877,  0.3065582,  0.3642671,
                0.4138894, -0.005934559, -0.2043039,  -0.09154397, -0.3848763, -0.05822634,
                -0.313364, -0.3546817,   -0.04025252, -0.0515589,  -0.3534144, -0.3441234},
               2e-6);
  EXPECT_TRUE((*got)[1].tensor().ContentEquals(Inputs()[1]->tensor()));
}

TEST(Attention, PastAndAdditiveMask) {
  const auto got = RunOp(
      "Attention",
      With(6, {{3, Pseudo({3, 6}, 4)}, {4, Pseudo({1, 1, 2, 2}, 5)}, {5, Pseudo({1, 1, 2, 1}, 6)}}),
      {{"scale", 0.7f}, {"qk_matmul_output_mode", 3}}, 4);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ExpectTensor((*got)[0].tensor(), {1, 2, 3, 1},
               {-0.2675891, -0.05803548, -0.09800822, -0.226078, -0.124712, -0.02905215}, 2e-6);
  ExpectTensor((*got)[2].tensor(), {1, 1, 6, 1},
               {-0.6972251, -0.08843553, -0.8282099, 0.4723301, -0.2063146, 0.7515868});
}

TEST(Attention, KeysThatMustNotBeSeen) {
  // The mask has three of four keys, and hides all of them from the second query.
  const Tensor mask =
      Tensor::FromValues<bool>({3, 3}, {true, false, true, false, false, false, true, true, true});
  ExpectTensor(RunOp1("Attention", With(7, {{3, mask}, {6, I64({1}, {4})}})), {1, 2, 3, 1},
               {-0.6618864, 0, -0.3171252, -0.6364012, 0, -0.1878656}, 2e-6);
  ExpectTensor(RunOp1("Attention", With(7, {{6, I64({1}, {3})}}),
                      {{"left_window_size", 1}, {"right_window_size", 1}}),
               {1, 2, 3, 1},
               {-0.4612426, -0.1184917, 0.08338399, -0.3663161, -0.08708158, 0.1981316}, 2e-6);
  ExpectTensor(RunOp1("Attention", With(7, {{6, I64({1}, {2})}}), {{"is_causal", 1}}), {1, 2, 3, 1},
               {0, -0.8282099, -0.3695884, 0, -0.8282099, -0.1816474}, 2e-6);
  EXPECT_EQ(RunOp("Attention", With(7, {{6, I64({1}, {5})}})).status().code(), Code::kOutOfRange);
}

TEST(Attention, Rank3) {
  const Tensor y =
      RunOp1("Attention", {Pseudo({1, 3, 4}), Pseudo({1, 3, 4}, 2), Pseudo({1, 3, 6}, 3)},
             {{"q_num_heads", 2}, {"kv_num_heads", 2}});
  ExpectTensor(y, {1, 3, 6},
               {-0.4164381, 0.2759913, 0.09477473, 0.4915527, 0.2993928, 0.2287389, -0.2454621,
                0.2003217, 0.1953277, 0.3145336, 0.1277682, 0.2275663, -0.1523801, 0.1500037,
                0.2881932, 0.3355797, 0.07020198, 0.2192681},
               2e-6);
}

TEST(Attention, ShapeRule) {
  const auto attention = [](std::string_view q, std::string_view k, std::string_view v,
                            testing::OpAttributes attributes, size_t i = 0) {
    return InferText("Attention",
                     {{DataType::kFloat32, q}, {DataType::kFloat32, k}, {DataType::kFloat32, v}},
                     attributes, i);
  };
  EXPECT_EQ(attention("[B, 8, S, 64]", "[B, 2, T, 64]", "[B, 2, T, 32]", {}),
            "float32[B, 8, S, 32]");
  EXPECT_EQ(attention("[B, 8, S, 64]", "[B, 2, T, 64]", "[B, 2, T, 32]", {}, 3),
            "float32[B, 8, S, T]");
  EXPECT_EQ(attention("[B, S, 512]", "[B, T, 128]", "[B, T, 64]",
                      {{"q_num_heads", 8}, {"kv_num_heads", 2}}),
            "float32[B, S, 256]");
  EXPECT_NE(attention("[B, S, 512]", "[B, T, 128]", "[B, T, 64]", {}).find("E5003"),
            std::string::npos);
  EXPECT_NE(attention("[B, 8, S, 64]", "[B, 3, T, 64]", "[B, 3, T, 32]", {}).find("E5001"),
            std::string::npos);
  EXPECT_NE(attention("[B, 8, S, 64]", "[B, 8, T, 63]", "[B, 8, T, 32]", {}).find("E5001"),
            std::string::npos);
  EXPECT_NE(attention("[B, 8, S, 64]", "[B, 8, 5, 64]", "[B, 8, 6, 32]", {}).find("E5001"),
            std::string::npos);
  EXPECT_NE(attention("[B, 8, S, 64]", "[B, 0, T, 64]", "[B, 0, T, 32]", {}).find("E5001"),
            std::string::npos);
  EXPECT_NE(attention("[B, 8, S, 64]", "[B, 8, T, 64]", "[B, 8, T, 32]", {{"left_window_size", -2}})
                .find("E5003"),
            std::string::npos);
}

TEST(RotaryEmbedding, Layouts) {
  const Tensor y =
      RunOp1("RotaryEmbedding",
             {Pseudo({1, 2, 3, 4}), Pseudo({6, 1}, 2), Pseudo({6, 1}, 3), I64({1, 3}, {5, 0, 2})},
             {{"rotary_embedding_dim", 2}});
  ExpectTensor(y, {1, 2, 3, 4},
               {0.6719967,  -0.8249293, -0.01123047, -0.9029324,   0.9793496, 0.6152131,
                -0.4188005, 0.712899,   -0.09564208, -0.1584919,   0.3817257, 0.4183023,
                0.7172394,  -0.2091802, 0.5921954,   0.5118561,    0.155858,  0.08670657,
                -0.0313369, -0.5539529, -0.03431998, -0.002331217, -0.296652, -0.01977646},
               2e-6);
  const Tensor z =
      RunOp1("RotaryEmbedding", {Pseudo({1, 3, 8}), Pseudo({1, 3, 2}, 2), Pseudo({1, 3, 2}, 3)},
             {{"num_heads", 2}, {"interleaved", 1}});
  ExpectTensor(z, {1, 3, 8},
               {1.499037,   0.02049875, 0.4190784,   -0.6005644, 0.9793496,  0.6152131,
                -0.6128187, 0.272168,   -0.09564208, -0.1584919, -0.3432768, 0.2552459,
                0.1199224,  0.1652401,  -0.4295174,  0.4063526,  0.1186862,  0.04119669,
                0.09299557, 0.4643134,  -0.1134739,  0.05226916, 0.253038,   -0.0189103},
               2e-6);
  const testing::OpInputs beyond = {Pseudo({1, 1, 1, 2}), Pseudo({6, 1}), Pseudo({6, 1}),
                                    I64({1, 1}, {6})};
  EXPECT_EQ(RunOp("RotaryEmbedding", beyond).status().code(), Code::kOutOfRange);
  EXPECT_NE(InferText("RotaryEmbedding", {{DataType::kFloat32, "[B, S, 8]"},
                                          {DataType::kFloat32, "[B, S, 2]"},
                                          {DataType::kFloat32, "[B, S, 2]"}})
                .find("E5003"),
            std::string::npos);
  EXPECT_NE(InferText("RotaryEmbedding", {{DataType::kFloat32, "[B, 2, S, 3]"},
                                          {DataType::kFloat32, "[B, S, 1]"},
                                          {DataType::kFloat32, "[B, S, 1]"}})
                .find("E5001"),
            std::string::npos);
}

TEST(LinearAttention, GatedDeltaWithSharedHeads) {
  const testing::OpInputs inputs = {Pseudo({1, 2, 8}),    Pseudo({1, 2, 4}, 2),
                                    Pseudo({1, 2, 6}, 3), Pseudo({1, 2, 2, 3}, 4),
                                    Pseudo({1, 2, 4}, 5), Pseudo({1, 2, 1}, 6)};
  const auto got = RunOp("LinearAttention", inputs, {{"q_num_heads", 4}, {"kv_num_heads", 2}}, 2);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ExpectTensor((*got)[0].tensor(), {1, 2, 12},
               {0.5309082,  -0.7485208, -0.7328851, 0.05495456, 0.3811398,   0.7418294,
                -0.1669139, -0.1753802, -0.2302802, 0.02176108, 0.1047995,   0.04244851,
                -0.4965991, 0.3518984,  0.03951786, -0.2623522, -0.03225878, -0.3848751,
                -0.2016095, -0.2381719, -0.2519919, 0.20339,    0.2734957,   0.2500588},
               2e-6);
  ExpectTensor((*got)[1].tensor(), {1, 2, 2, 3},
               {-0.890623, 0.5905913, -0.004485764, -0.07422474, -0.6480113, -1.297108, 0.3513618,
                0.4263839, 0.4377527, 0.1554384, 0.2623367, 0.1844296},
               2e-6);
  EXPECT_EQ(RunOp("LinearAttention", {inputs[0], inputs[1], inputs[2]},
                  {{"q_num_heads", 4}, {"kv_num_heads", 2}}, 2)
                .status()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("LinearAttention", inputs, {{"q_num_heads", 4}, {"kv_num_heads", 3}}, 2)
                .status()
                .code(),
            Code::kInvalidArgument);
}

TEST(LinearAttention, CausalConvolutionCarriesItsEnd) {
  const Tensor x = Pseudo({1, 2, 3}), w = Pseudo({2, 1, 3}, 2), bias = Pseudo({2}, 3),
               past = Pseudo({1, 2, 2}, 4);
  const auto got = RunOp("CausalConvWithState", {x, w, bias, past}, {{"activation", "silu"}}, 2);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ExpectTensor((*got)[0].tensor(), {1, 2, 3},
               {0.07692135, -0.2574115, 0.3329338, 1.284366, 1.694108, 0.7735387}, 2e-6);
  ExpectTensor((*got)[1].tensor(), {1, 2, 2}, {0.8461738, -0.01123047, -0.9428121, 0.1899743},
               2e-6);
  // A step shorter than the kernel keeps what it had.
  const auto one =
      RunOp("CausalConvWithState",
            {F32({1, 1, 1}, {5}), F32({1, 1, 3}, {1, 1, 1}), std::nullopt, F32({1, 1, 2}, {1, 2})},
            {}, 2);
  ASSERT_TRUE(one.ok());
  ExpectTensor((*one)[0].tensor(), {1, 1, 1}, {8});
  ExpectTensor((*one)[1].tensor(), {1, 1, 2}, {2, 5});
}

}  // namespace
}  // namespace asc
