#include "core/graph/text.h"
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::ReadGraph;
using testing::RunPasses;

// ---- ConstantFolding: nodes with constant operands are computed ----

TEST(ConstantFoldingTest, FoldsAChain) {
  ExpectRewrite(R"(
    input %x: float32[2]
    constant %a: float32[2] = [1.0, -2.0]
    %b = Exp(%a)
    %c = Relu(%a)
    %d = Add(%c, %c)
    %y = Mul(%x, %d)
    output "y" = %y)",
                R"(
    input %x: float32[2]
    constant %d: float32[2] = [2.0, 0.0]
    %y = Mul(%x, %d)
    output "y" = %y)",
                {MakeConstantFolding, MakeDeadCodeElimination});
}

TEST(ConstantFoldingTest, ShapesOfDynamicInputsWhereKnown) {
  ExpectRewrite(R"(
    input %x: float32[N, 4, 5]
    constant %one: int64[1] = [1]
    constant %minus: int64[1] = [-1]
    %s = Shape(%x)
    %c = Gather(%s, %one) {axis = 0}
    %t = Concat(%c, %minus) {axis = 0}
    %y = Reshape(%x, %t)
    output "y" = %y)",
                R"(
    input %x: float32[N, 4, 5]
    constant %t: int64[2] = [4, -1]
    %y = Reshape(%x, %t)
    output "y" = %y)",
                {MakeConstantFolding, MakeDeadCodeElimination});
  // What the batch size takes part in stays.
  ExpectUnchanged(R"(
    input %x: float32[N, 4, 5]
    %s = Shape(%x)
    output "s" = %s)",
                  {MakeConstantFolding});
}

TEST(ConstantFoldingTest, AFoldThatFailsLeavesTheNode) {
  const auto graph = ReadGraph(R"(
    constant %one: int32[1] = [1]
    constant %zero: int32[1] = [0]
    %y = Div "division" (%one, %zero)
    output "y" = %y)");
  const PassReport report = RunPasses(*graph, {MakeConstantFolding});
  EXPECT_EQ(graph->node_count(), 1u);
  EXPECT_NE(report.rules.at("Fold constants").reasons.at("division").find("E5014"),
            std::string::npos);
}

TEST(ConstantFoldingTest, LargeGrowthStaysForTheRun) {
  ExpectUnchanged(R"(
    constant %n: int64[2] = [4096, 4096]
    %y = ConstantOfShape(%n) {value = tensor float32[1] [1.0]}
    output "y" = %y)",
                  {MakeConstantFolding});
}

// A large constant of one element repeated is read part by part.
TEST(ConstantFoldingTest, RepeatedElementsAreNotInMemory) {
  const auto graph = ReadGraph(R"(
    constant %n: int64[2] = [300, 100]
    %y = ConstantOfShape(%n) {value = tensor float32[1] [1.5]}
    output "y" = %y)");
  RunPasses(*graph, {MakeConstantFolding});
  ASSERT_EQ(graph->node_count(), 0u);
  const Tensor& folded = graph->value(graph->outputs()[0].value).constant;
  EXPECT_TRUE(folded.is_lazy());
  EXPECT_EQ(folded.dims(), (Dims{300, 100}));
  std::vector<float> part(7, 0);
  folded.CopyBytes(40, 28, reinterpret_cast<std::byte*>(part.data()));
  EXPECT_EQ(part, std::vector<float>(7, 1.5f));
  EXPECT_TRUE(folded.is_lazy());
  EXPECT_EQ(folded.values<float>().back(), 1.5f);
}

// A constant gets another shape without being copied.
TEST(ConstantFoldingTest, ReshapedConstantsShareMemory) {
  const auto graph = ReadGraph(R"(
    constant %c: float32[4] = [1.0, 2.0, 3.0, 4.0]
    constant %s: int64[2] = [2, -1]
    constant %axes: int64[1] = [0]
    %r = Reshape(%c, %s)
    %y = Unsqueeze(%r, %axes)
    output "c" = %c
    output "y" = %y)");
  RunPasses(*graph, {MakeConstantFolding});
  EXPECT_EQ(graph->node_count(), 0u);
  const Tensor& given = graph->value(graph->outputs()[0].value).constant;
  const Tensor& folded = graph->value(graph->outputs()[1].value).constant;
  EXPECT_EQ(folded.dims(), (Dims{1, 2, 2}));
  EXPECT_EQ(folded.identity(), given.identity());
}

TEST(ConstantFoldingTest, RandomNodesAndVariablesStay) {
  ExpectUnchanged(R"(
    variable "v" %v: float32[1] = tensor float32[1] [1.0]
    %y = Relu(%v)
    output "y" = %y)",
                  {MakeConstantFolding});
}

// ---- DeadCodeElimination: what nothing uses goes ----

TEST(DeadCodeTest, WholeChainsGo) {
  ExpectRewrite(R"(
    input %x: float32[N]
    input %unused: float32[N]
    %a = Relu(%x)
    %b = Exp(%a)
    %c = Add(%b, %unused)
    %y = Relu(%x)
    output "y" = %y)",
                R"(
    input %x: float32[N]
    input %unused: float32[N]
    %y = Relu(%x)
    output "y" = %y)",
                {MakeDeadCodeElimination});
}

// ---- CommonSubexpressions: equal nodes become one ----

// Equal constants that are operands of one node merge at once.
TEST(CommonSubexpressionsTest, ConstantsOfOneNodeMergeInOneRound) {
  const auto graph = ReadGraph(R"(
    input %x: float32[1, 2, 3, 3]
    constant %scale: float32[2] = [1.0, 1.0]
    constant %bias: float32[2] = [1.0, 1.0]
    constant %mean: float32[2] = [1.0, 1.0]
    constant %variance: float32[2] = [1.0, 1.0]
    %y = BatchNormalization(%x, %scale, %bias, %mean, %variance)
    output "y" = %y)");
  const PassReport report = RunPasses(*graph, {MakeCommonSubexpressions});
  EXPECT_EQ(report.passes[0].rounds, 2);
  const Node& node = graph->node(graph->Nodes()[0]);
  for (size_t i = 2; i < 5; ++i) EXPECT_EQ(node.inputs[i], node.inputs[1]);
}

TEST(CommonSubexpressionsTest, EqualNodesAndConstantsMerge) {
  ExpectRewrite(R"(
    input %x: float32[N]
    constant %a: float32[1] = [2.0]
    constant %b: float32[1] = [2.0]
    constant %other: float32[1] = [-2.0]
    %p = Mul(%x, %a)
    %q = Mul(%x, %b)
    %r = Mul(%x, %other)
    %s = Relu(%p)
    %t = Relu(%q)
    %u = Add(%s, %t)
    %y = Add(%u, %r)
    output "y" = %y
    output "t" = %t)",
                R"(
    input %x: float32[N]
    constant %a: float32[1] = [2.0]
    constant %other: float32[1] = [-2.0]
    %p = Mul(%x, %a)
    %s = Relu(%p)
    %u = Add(%s, %s)
    %r = Mul(%x, %other)
    %y = Add(%u, %r)
    output "y" = %y
    output "t" = %s)",
                {MakeCommonSubexpressions});
}

TEST(CommonSubexpressionsTest, ZeroesOfBothSignsAndOtherAttributesDiffer) {
  ExpectUnchanged(R"(
    input %x: float32[2, 3]
    constant %a: float32[1] = [0.0]
    constant %b: float32[1] = [-0.0]
    %p = Mul(%x, %a)
    %q = Mul(%x, %b)
    %r = Concat(%p, %q) {axis = 0}
    %s = Concat(%p, %q) {axis = 1}
    output "r" = %r
    output "s" = %s)",
                  {MakeCommonSubexpressions});
}

TEST(CommonSubexpressionsTest, TheKeptNodeTakesTheOrigins) {
  const auto graph = ReadGraph(R"(
    input %x: float32[N]
    %p = Relu "p" (%x) from "first"
    %q = Relu "q" (%x) from "second"
    %y = Add(%p, %q)
    output "y" = %y)");
  RunPasses(*graph, {MakeCommonSubexpressions});
  EXPECT_EQ(graph->node(graph->FindNode("p")).OriginText(), "first+second");
}

// ---- NoOpElimination: nodes that change nothing go ----

TEST(NoOpTest, NodesThatKeepTheirInputGo) {
  const std::string_view after = "input %x: float32[N, 4] %y = Relu(%x) output \"y\" = %y";
  for (const char* node : {
           "%a = Identity(%x)",
           "%a = Cast(%x) {to = 1}",
           "constant %c: float32[] = [1.0] %a = Pow(%x, %c)",
           "constant %s: int64[2] = [0, 4] %a = Reshape(%x, %s)",
           "%a = Transpose(%x) {perm = [0, 1]}",
           "constant %p: int64[4] = [0, 0, 0, 0] %a = Pad(%x, %p)",
           "constant %one: int64[2] = [1, 1] %a = Tile(%x, %one)",
           "constant %one: int64[2] = [1, 1] %a = Expand(%x, %one)",
           "%a = Concat(%x) {axis = 1}",
           "%a = Sum(%x)",
           "constant %b: int64[1] = [0] constant %e: int64[1] = [9223372036854775807] constant %i: "
           "int64[1] = [1] %a = Slice(%x, %b, %e, %i)",
           "constant %c: float32[1] = [1.0] %a = Mul(%x, %c)",
           "constant %c: float32[1, 4] = [1.0, 1.0, 1.0, 1.0] %a = Mul(%c, %x)",
           "constant %c: float32[] = [1.0] %a = Div(%x, %c)",
           "constant %c: float32[] = [0.0] %a = Sub(%x, %c)",
           "constant %c: float32[] = [-0.0] %a = Add(%x, %c)",
       }) {
    SCOPED_TRACE(node);
    ExpectRewrite(Cat("input %x: float32[N, 4] ", node, " %y = Relu(%a) output \"y\" = %y"), after,
                  {MakeNoOpElimination});
  }
}

TEST(NoOpTest, NodesThatMayChangeTheirInputStay) {
  for (const char* node : {
           "constant %c: float32[] = [0.0] %a = Add(%x, %c)",   // -0 becomes 0
           "constant %c: float32[] = [-0.0] %a = Sub(%x, %c)",  // -0 becomes 0
           "constant %c: float32[] = [1.0] %a = Div(%c, %x)",
           "constant %c: float32[] = [0.0] %a = Sub(%c, %x)",
           "constant %c: float32[3, 1, 1] = [1.0, 1.0, 1.0] %a = Mul(%x, %c)",  // widens
           "constant %p: int64[4] = [0, 1, 0, -1] %a = Pad(%x, %p)",
           "constant %b: int64[1] = [-1] constant %e: int64[1] = [-9] constant %i: int64[1] = "
           "[1] constant %s: int64[1] = [-1] "
           "%a = Slice(%x, %b, %e, %i, %s)",
           "constant %s: int64[2] = [-1, 2] %a = Reshape(%x, %s)",
           "%a = Transpose(%x) {perm = [1, 0]}",
           "constant %c: float32[2, 4] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] %a = Mul(%x, "
           "%c)",  // N may be 1
       }) {
    SCOPED_TRACE(node);
    const char* extent =
        std::string_view(node).find("float32[2, 4]") != std::string_view::npos ? "N" : "5";
    const auto graph = ReadGraph(
        Cat("input %x: float32[", extent, ", 4] ", node, " %y = Relu(%a) output \"y\" = %y"));
    const std::string before = ToText(*graph);
    RunPasses(*graph, {MakeNoOpElimination});
    EXPECT_EQ(ToText(*graph), before);
  }
}

TEST(NoOpTest, IntegersAddZero) {
  ExpectRewrite(
      "input %x: int32[N] constant %c: int32[1] = [0] %a = Add(%x, %c) %y = Mul(%a, %a) output "
      "\"y\" = %y",
      "input %x: int32[N] %y = Mul(%x, %x) output \"y\" = %y", {MakeNoOpElimination});
}

TEST(NoOpTest, ANodeBetweenInputAndOutputMayGo) {
  ExpectRewrite("input %x: float32[N] %y = Identity(%x) output \"y\" = %y",
                "input %x: float32[N] output \"y\" = %x", {MakeNoOpElimination});
}

}  // namespace
}  // namespace asc
