// ConvAffine: y = Conv(x, w, b) * s + t becomes Conv(x, w * s, b * s + t).
#include <cmath>

#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectUnchanged;
using testing::Interpret;
using testing::RandomConstant;
using testing::ReadGraph;
using testing::RunPasses;

std::string Norm(std::string_view from, std::string_view to, int64_t channels,
                 std::string_view attributes = "epsilon = 0.001") {
  return Cat(RandomConstant("gamma", {channels}), RandomConstant("beta", {channels}),
             RandomConstant("mean", {channels}), RandomConstant("var", {channels}, 0.1f, 2), "%",
             to, " = BatchNormalization(%", from, ", %gamma, %beta, %mean, %var) {", attributes,
             "}\n");
}

// All nodes but one Conv or ConvTranspose go, and the results are equal to rounding.
void ExpectFolds(const std::string& body, std::string_view fusion) {
  SCOPED_TRACE(body);
  const auto graph = ReadGraph(body), original = ReadGraph(body);
  ASSERT_TRUE(graph);
  const PassReport report = RunPasses(*graph, {MakeConvAffine});
  EXPECT_EQ(graph->node_count(), 1u);
  ASSERT_TRUE(report.rules.contains(std::string(fusion))) << report.ToJson();
  EXPECT_GE(report.rules.at(std::string(fusion)).applied, 1);
  EXPECT_TRUE(report.rules.at(std::string(fusion)).fusion);
  std::vector<float> items(2 * 4 * 5 * 5);
  for (size_t i = 0; i < items.size(); ++i) items[i] = std::sin(static_cast<float>(i));
  const Tensor x = Tensor::FromValues<float>({2, 4, 5, 5}, std::span<const float>(items));
  const auto want = Interpret(*original, {x}), got = Interpret(*graph, {x});
  ASSERT_TRUE(want.ok() && got.ok());
  const auto a = (*want)[0].tensor().values<float>(), b = (*got)[0].tensor().values<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

const std::string kInput = "input %x: float32[N, 4, H, W]\n";
const std::string kConv = RandomConstant("w", {6, 2, 3, 3}) + RandomConstant("b", {6}) +
                          "%c = Conv(%x, %w, %b) {group = 2}\n";
const std::string kOutput = "output \"y\" = %y";

TEST(ConvAffineTest, BatchNormalisation) {
  ExpectFolds(kInput + kConv + Norm("c", "y", 6) + kOutput, "Conv2d+BatchNorm");
}

TEST(ConvAffineTest, WithoutBias) {
  ExpectFolds(kInput + RandomConstant("w", {6, 4, 1, 1}) + "%c = Conv(%x, %w)\n" +
                  Norm("c", "y", 6) + kOutput,
              "Conv2d+BatchNorm");
}

TEST(ConvAffineTest, TransposedConvolutionInGroups) {
  ExpectFolds(kInput + RandomConstant("w", {4, 3, 2, 2}) +
                  "%c = ConvTranspose(%x, %w) {group = 2}\n" + Norm("c", "y", 6) + kOutput,
              "ConvTranspose2d+BatchNorm");
}

TEST(ConvAffineTest, ConstantsPerChannelInARow) {
  ExpectFolds(kInput + kConv + RandomConstant("s", {6, 1, 1}) + RandomConstant("t", {1, 6, 1, 1}) +
                  RandomConstant("u", {}) + "%d = Mul(%s, %c) %e = Add(%d, %t) %y = Sub(%e, %u)" +
                  kOutput,
              "Conv2d+BiasAdd");
}

TEST(ConvAffineTest, NamesAndOriginsSurvive) {
  const auto graph = ReadGraph(kInput + kConv + Norm("c", "y", 6) + kOutput);
  graph->node(graph->Nodes()[0]).origins = {{"conv1", ""}};
  graph->node(graph->Nodes()[1]).origins = {{"bn1", ""}};
  RunPasses(*graph, {MakeConvAffine});
  const Node& node = graph->node(graph->Nodes()[0]);
  EXPECT_EQ(node.name, "conv2d");
  EXPECT_EQ(node.OriginText(), "conv1+bn1");
  EXPECT_EQ(graph->value(node.outputs[0]).name, "y");
}

TEST(ConvAffineTest, ADynamicWeightTakesABiasButNoScale) {
  const std::string dynamic = kInput + "input %w: float32[6, 4, 3, 3]\n%c = Conv(%x, %w)\n";
  const auto graph =
      ReadGraph(dynamic + RandomConstant("t", {6, 1, 1}) + "%y = Add(%c, %t)" + kOutput);
  RunPasses(*graph, {MakeConvAffine});
  EXPECT_EQ(graph->node_count(), 1u);
  ExpectUnchanged(dynamic + Norm("c", "y", 6) + kOutput, {MakeConvAffine}, {});
}

void ExpectKept(const std::string& body, const PassOptions& options = {},
                std::string_view fusion = "", std::string_view reason = "") {
  SCOPED_TRACE(body);
  const auto graph = ReadGraph(body);
  const std::string before = Canonical(*graph);
  const PassReport report = RunPasses(*graph, {MakeConvAffine}, options);
  EXPECT_EQ(Canonical(*graph), before);
  if (fusion.empty()) return;
  ASSERT_TRUE(report.rules.contains(std::string(fusion)));
  EXPECT_NE(report.ToJson().find(reason), std::string::npos) << report.ToJson();
}

TEST(ConvAffineTest, AValueWithAnotherUserStays) {
  ExpectKept(kInput + kConv + Norm("c", "y", 6) + "%z = Relu(%c) output \"z\" = %z " + kOutput, {},
             "Conv2d+BatchNorm", "other users");
  ExpectKept(kInput + kConv + Norm("c", "y", 6) + "output \"c\" = %c " + kOutput, {},
             "Conv2d+BatchNorm", "graph output");
}

TEST(ConvAffineTest, WhatIsNotPerChannelStays) {
  ExpectKept(kInput + kConv + RandomConstant("s", {5}) + "%y = Mul(%c, %s)" +
             kOutput);  // per column
  ExpectKept(kInput + kConv + RandomConstant("s", {6, 3, 3}) + "%y = Add(%c, %s)" +
             kOutput);  // per element
  ExpectKept(kInput + kConv + RandomConstant("s", {3, 1, 1, 1}) + "%y = Mul(%c, %s)" +
             kOutput);  // widens
  ExpectKept(kInput + kConv + RandomConstant("s", {6, 1, 1}) + "%y = Sub(%s, %c)" +
             kOutput);  // t - y
  ExpectKept(kInput + kConv + "%y = Mul(%c, %c)" + kOutput);
  ExpectKept(kInput + kConv + Norm("c", "y", 6, "training_mode = 1") + kOutput);
}

TEST(ConvAffineTest, ScopesAndNamesSwitchItOff) {
  const std::string body = kInput + kConv + Norm("c", "y", 6) + kOutput;
  PassOptions options;
  options.disabled = {"Conv2d+BatchNorm"};
  ExpectKept(body, options, "Conv2d+BatchNorm", "is switched off");
  options.disabled = {"ALL"};
  ExpectKept(body, options, "Conv2d+BatchNorm", "every fusion is switched off");
  options.disabled.clear();
  options.fusion[0].mode = FusionSettings::Mode::kConservative;
  ExpectKept(body, options, "Conv2d+BatchNorm", "needs default");
}

TEST(ConvAffineTest, AScaleThatOverflowsIsRefused) {
  ExpectKept(kInput + RandomConstant("w", {6, 4, 1, 1}, 2, 3) +
             "constant %s: float32[] = [3e38] constant %t: float32[] = [3e38] %c = Conv(%x, %w) "
             "%d = Mul(%c, %s) %y = Mul(%d, %d) " +
             kOutput);
}

}  // namespace
}  // namespace asc
