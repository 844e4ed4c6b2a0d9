// The standard list as a whole.
#include "core/passes/pipeline.h"

#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::RandomConstant;
using testing::ReadGraph;

const std::string kNet = "input %x: float32[N, 3, 8, 8]\n" + RandomConstant("w", {4, 3, 3, 3}) +
                         RandomConstant("gamma", {4}) + RandomConstant("beta", {4}) +
                         RandomConstant("mean", {4}) + RandomConstant("var", {4}, 0.5f, 1) +
                         RandomConstant("m", {256, 5}) + RandomConstant("mb", {5}) + R"(
    %c = Conv "conv" (%x, %w) {pads = [1, 1, 1, 1]} from "conv"
    %n = BatchNormalization "norm" (%c, %gamma, %beta, %mean, %var) from "norm"
    %s = Sigmoid "gate" (%n) from "gate"
    %a = Mul "mul" (%n, %s) from "mul"
    %i = Identity(%a)
    %f = Flatten(%i)
    %p = MatMul "linear" (%f, %m) from "linear"
    %q = Add "bias" (%p, %mb) from "bias"
    %y = Relu "act" (%q) from "act"
    %dead = Exp(%q)
    output "y" = %y)";

std::vector<std::string> Operators(int level) {
  const auto graph = ReadGraph(kNet);
  PassOptions options;
  options.graph_opt_level = level;
  options.verify = true;
  PassDriver driver(options);
  const Status status = driver.Run(*graph);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::vector<std::string> names;
  const auto order = graph->TopologicalOrder();
  for (const NodeId id : *order) names.push_back(graph->node(id).schema->FullName());
  if (level >= 2) {
    EXPECT_EQ(graph->node((*order)[0]).OriginText(), "conv+norm+mul+gate");
    EXPECT_EQ(graph->node(order->back()).OriginText(), "linear+bias+act");
  }
  return names;
}

TEST(PipelineTest, LevelsAddUp) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Operators(0).size(), 10u);
  EXPECT_EQ(Operators(1), (Names{"Conv", "BatchNormalization", "Sigmoid", "Mul", "Reshape",
                                 "MatMul", "Add", "Relu"}));
  EXPECT_EQ(Operators(2), (Names{"asc.FusedConv", "Reshape", "asc.FusedMatMul"}));
  EXPECT_EQ(Operators(3), Operators(2));
}

TEST(PipelineTest, EveryFusionIsOfAPassAndNamedOnce) {
  const std::vector<std::string> passes = PassNames();
  std::string last;
  for (const FusionInfo& fusion : ListFusions()) {
    EXPECT_LT(last, fusion.name);
    last = fusion.name;
    EXPECT_NE(std::find(passes.begin(), passes.end(), fusion.pass), passes.end()) << fusion.name;
    EXPECT_FALSE(fusion.doc.empty());
  }
  for (const char* name :
       {"Conv2d+BatchNorm", "Conv2d+BiasAdd+ReLU", "Conv2d+BiasAdd+Add+ReLU", "MatMul+BiasAdd+GELU",
        "Gemm+ReLU", "Transpose+MatMul", "GELU", "LayerNorm"}) {
    EXPECT_NE(FindFusion(name), nullptr) << name;
  }
}

TEST(PipelineTest, AllSwitchesOffEveryFusionReally) {
  const auto graph = ReadGraph(kNet);
  PassOptions options;
  options.fusion[0].disabled = {"ALL"};
  PassDriver driver(options);
  ASSERT_TRUE(driver.Run(*graph).ok());
  for (const auto& [name, rule] : driver.report().rules) {
    EXPECT_TRUE(!rule.fusion || rule.applied == 0) << name;
  }
  EXPECT_EQ(graph->node_count(), Operators(1).size());
}

TEST(PipelineTest, EveryPrefixOfTheRewritesIsALegalGraph) {
  for (int64_t limit = 0; limit < 40; ++limit) {
    const auto graph = ReadGraph(kNet);
    PassOptions options;
    options.rewrite_limit = limit;
    options.verify = true;
    PassDriver driver(options);
    const Status status = driver.Run(*graph);
    ASSERT_TRUE(status.ok()) << limit << ": " << status.ToString();
    if (driver.rewrites() < limit) return;
    EXPECT_EQ(driver.rewrites(), limit);
  }
  ADD_FAILURE() << "more rewrites than there can be";
}

}  // namespace
}  // namespace asc
