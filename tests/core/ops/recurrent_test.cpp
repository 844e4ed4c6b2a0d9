#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::I32;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using Texts = std::vector<std::string>;
using Reals = std::vector<float>;

// Three steps, two sequences, two inputs, two hidden values; expected values from ONNX
// Runtime 1.32.
const Dims kX = {3, 2, 2};

void ExpectOutputs(const Result<std::vector<AnyValue>>& got,
                   const std::vector<std::pair<Dims, std::vector<double>>>& want) {
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (size_t i = 0; i < want.size(); ++i)
    ExpectTensor((*got)[i].tensor(), want[i].first, want[i].second, 2e-6);
}

TEST(Lstm, BothDirectionsWithLengthsAndPeepholes) {
  const testing::OpInputs inputs = {
      Pseudo(kX),       Pseudo({2, 8, 2}, 2), Pseudo({2, 8, 2}, 3), Pseudo({2, 16}, 4),
      I32({2}, {3, 2}), Pseudo({2, 2, 2}, 5), Pseudo({2, 2, 2}, 6), Pseudo({2, 6}, 7)};
  ExpectOutputs(
      RunOp("LSTM", inputs, {{"direction", "bidirectional"}, {"hidden_size", 2}}, 3),
      {{{3, 2, 2, 2}, {-0.2792485, -0.186857,   -0.006070476, 0.2610944,   -0.057246,  -0.1427109,
                       -0.4529201, -0.04341722, -0.07814179,  -0.1405173,  -0.2158051, -0.007621322,
                       -0.2396619, -0.1662787,  -0.1375354,   0.003429803, -0.1009407, 0.1357781,
                       0,          0,           -0.1412822,   -0.08711299, 0,          0}},
       {{2, 2, 2},
        {-0.1009407, 0.1357781, -0.2158051, -0.007621322, -0.057246, -0.1427109, -0.4529201,
         -0.04341722}},
       {{2, 2, 2},
        {-0.2517682, 0.4926634, -0.4649207, -0.01856603, -0.09191935, -0.4461148, -0.8404816,
         -0.1601876}}});
}

TEST(Lstm, ReverseWithClipAndOtherActivations) {
  ExpectOutputs(
      RunOp("LSTM", {Pseudo(kX), Pseudo({1, 8, 2}, 2), Pseudo({1, 8, 2}, 3), Pseudo({1, 16}, 4)},
            {{"direction", "reverse"},
             {"clip", 0.3f},
             {"input_forget", 1},
             {"activations", Texts{"HardSigmoid", "Softsign", "Relu"}},
             {"activation_alpha", Reals{0.3f}},
             {"activation_beta", Reals{0.4f}}},
            3),
      {{{3, 1, 2, 2},
        {0, 0, 0, 0.05556301, 0, 0.0116715, 0, 0.0001926596, 0, 0.03505385, 0, 0.03505385}},
       {{1, 2, 2}, {0, 0, 0, 0.05556301}},
       {{1, 2, 2}, {-0.1367529, -0.100929, -0.03290786, 0.1133939}}});
}

// The other layout is a transposition of everything with a batch.
TEST(Lstm, BatchFirst) {
  const auto swapped = [](const Tensor& t) {
    Dims dims = t.dims();
    std::swap(dims[0], dims[1]);
    Tensor out = Tensor::Allocate(t.dtype(), dims).value();
    const int64_t inner = t.size() / (dims[0] * dims[1]);
    for (int64_t i = 0; i < t.size(); ++i) {
      const int64_t row = i / inner;
      out.data<float>()[(row % t.dim(1) * t.dim(0) + row / t.dim(1)) * inner + i % inner] =
          t.data<float>()[i];
    }
    return out;
  };
  const Tensor x = Pseudo(kX), w = Pseudo({1, 8, 2}, 2), r = Pseudo({1, 8, 2}, 3),
               h = Pseudo({1, 2, 2}, 5);
  const auto first = RunOp("LSTM", {x, w, r, std::nullopt, std::nullopt, h}, {}, 3);
  const auto second =
      RunOp("LSTM", {swapped(x), w, r, std::nullopt, std::nullopt, swapped(h)}, {{"layout", 1}}, 3);
  ASSERT_TRUE(first.ok() && second.ok());
  for (size_t i = 1; i < 3; ++i)
    EXPECT_TRUE(swapped((*first)[i].tensor()).ContentEquals((*second)[i].tensor()));
  // Y is [steps, 1, batch, hidden] against [batch, steps, 1, hidden].
  const Tensor y = swapped((*first)[0].tensor().Reshaped({3, 2, 2}).value());
  EXPECT_TRUE(y.ContentEquals((*second)[0].tensor().Reshaped({2, 3, 2}).value()));
}

TEST(Gru, ResetBeforeAndAfter) {
  const testing::OpInputs inputs = {Pseudo(kX),         Pseudo({2, 6, 2}, 2), Pseudo({2, 6, 2}, 3),
                                    Pseudo({2, 12}, 4), I32({2}, {3, 2}),     Pseudo({2, 2, 2}, 5)};
  ExpectOutputs(
      RunOp("GRU", inputs, {{"direction", "bidirectional"}}, 2),
      {{{3, 2, 2, 2}, {-0.6003614, -0.05526599, 0.2632125,  0.1372044,  -0.4679356, -0.2762974,
                       -0.4772107, -0.4942887,  -0.3136638, -0.2150903, 0.09725143, 0.04392169,
                       -0.4402784, -0.2314624,  -0.4896552, -0.4865158, -0.3813573, -0.4173537,
                       0,          0,           -0.4903654, -0.5885969, 0,          0}},
       {{2, 2, 2},
        {-0.3813573, -0.4173537, 0.09725143, 0.04392169, -0.4679356, -0.2762974, -0.4772107,
         -0.4942887}}});
  ExpectOutputs(
      RunOp("GRU", inputs, {{"direction", "bidirectional"}, {"linear_before_reset", 1}}, 2),
      {{{3, 2, 2, 2}, {-0.6142298,  -0.03963302, 0.2713188,  0.1376983,  0.06508668, -0.2448117,
                       -0.02734367, -0.4921066,  -0.3443823, -0.194776,  0.03755654, 0.01087331,
                       -0.08591601, -0.1352019,  -0.1155723, -0.4484473, -0.4898909, -0.4107949,
                       0,           0,           -0.3495221, -0.5822102, 0,          0}},
       {{2, 2, 2},
        {-0.4898909, -0.4107949, 0.03755654, 0.01087331, 0.06508668, -0.2448117, -0.02734367,
         -0.4921066}}});
}

TEST(Rnn, AffineActivation) {
  ExpectOutputs(
      RunOp("RNN", {Pseudo(kX), Pseudo({1, 2, 2}, 2), Pseudo({1, 2, 2}, 3), Pseudo({1, 4}, 4)},
            {{"activations", Texts{"Affine"}},
             {"activation_alpha", Reals{0.5f}},
             {"activation_beta", Reals{0.25f}}},
            2),
      {{{3, 1, 2, 2},
        {0.383832, 0.1999035, -0.5869367, 0.2169018, 0.06768698, 0.2617427, 0.4176356, 0.3199878,
         -0.6209431, 0.2321462, -0.4201021, 0.2227067}},
       {{1, 2, 2}, {-0.6209431, 0.2321462, -0.4201021, 0.2227067}}});
  EXPECT_TRUE(RunOp("RNN", {Pseudo(kX), Pseudo({1, 2, 2}, 2), Pseudo({1, 2, 2}, 3)},
                    {{"activations", Texts{"Tanh", "Tanh"}}})
                  .ok());
}

TEST(Recurrent, ShapeRuleAndBadInput) {
  const auto lstm = [](std::string_view x, std::string_view w, std::string_view r,
                       testing::OpAttributes attributes, size_t output = 0) {
    return InferText("LSTM",
                     {{DataType::kFloat32, x}, {DataType::kFloat32, w}, {DataType::kFloat32, r}},
                     attributes, output);
  };
  EXPECT_EQ(lstm("[S, B, 4]", "[2, 12, 4]", "[2, 12, 3]", {{"direction", "bidirectional"}}),
            "float32[S, 2, B, 3]");
  EXPECT_EQ(lstm("[B, S, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"layout", 1}}, 2), "float32[B, 1, 3]");
  EXPECT_NE(lstm("[S, B, 5]", "[1, 12, 4]", "[1, 12, 3]", {}).find("E5001"), std::string::npos);
  EXPECT_NE(lstm("[S, B, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"hidden_size", 4}}).find("E5001"),
            std::string::npos);
  EXPECT_NE(lstm("[S, B, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"hidden_size", -1}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(lstm("[S, B, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"direction", "back"}}).find("E5003"),
            std::string::npos);
  EXPECT_NE(
      lstm("[S, B, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"activations", Texts{"Tanh"}}}).find("E5003"),
      std::string::npos);
  EXPECT_NE(
      lstm("[S, B, 4]", "[1, 12, 4]", "[1, 12, 3]", {{"activations", Texts{"Tanh", "Tanh", "Foo"}}})
          .find("E5003"),
      std::string::npos);
  const auto wrong = RunOp(
      "RNN",
      {Pseudo(kX), Pseudo({1, 2, 2}, 2), Pseudo({1, 2, 2}, 3), std::nullopt, I32({2}, {4, 1})}, {},
      2);
  EXPECT_EQ(wrong.status().code(), Code::kOutOfRange);
}

}  // namespace
}  // namespace asc
