// Passes inside regions, and rewrites of the nodes that own them.
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectRewrite;
using testing::ReadGraph;
using testing::RunPasses;

std::string Branches(std::string_view condition, std::string_view then_body,
                     std::string_view else_body, std::string_view captures = "%x") {
  return Cat("input %x: float32[N, 4]\n", condition, "\n%y = If(%cond)\n  region \"then_branch\" (",
             captures, ") graph \"then\" {", then_body, "}\n  region \"else_branch\" (", captures,
             ") graph \"else\" {", else_body, "}\noutput \"y\" = %y");
}

TEST(RegionTest, PassesRunInside) {
  ExpectRewrite(
      Branches("input %cond: bool[]", "input %x %a = Identity(%x) %r = Relu(%a) output \"r\" = %r",
               "input %x constant %z: float32[1] = [-0.0] %s = Add(%x, %z) %d = Exp(%s) output "
               "\"r\" = %s"),
      Branches("input %cond: bool[]", "input %x %r = Relu(%x) output \"r\" = %r",
               "input %x output \"r\" = %x"),
      {MakeNoOpElimination, MakeDeadCodeElimination});
}

TEST(RegionTest, AKnownConditionPutsTheBranchInPlace) {
  for (const bool taken : {true, false}) {
    const std::string condition = Cat("constant %cond: bool[1] = [", taken ? 1 : 0, "]");
    ExpectRewrite(
        Branches(condition, "input %x %r = Relu(%x) output \"r\" = %r",
                 "input %x %e = Exp(%x) output \"r\" = %e"),
        Cat("input %x: float32[N, 4] %y = ", taken ? "Relu" : "Exp", "(%x) output \"y\" = %y"),
        {MakeConstantFolding});
  }
}

TEST(RegionTest, TheConditionMayBecomeKnownByShapes) {
  ExpectRewrite(
      Branches("constant %i: int64[] = [1] constant %four: int64[] = [4] %shape = Shape(%x) "
               "%extent = Gather(%shape, %i) %cond = Equal(%extent, %four)",
               "input %x %r = Relu(%x) output \"r\" = %r",
               "input %x %e = Exp(%x) output \"r\" = %e"),
      "input %x: float32[N, 4] %y = Relu(%x) output \"y\" = %y",
      {MakeConstantFolding, MakeDeadCodeElimination});
}

TEST(RegionTest, ABranchMayBeAValueFromOutside) {
  const auto graph =
      ReadGraph(Branches("constant %cond: bool[] = [1]", "input %x output \"r\" = %x",
                         "input %x %e = Exp(%x) output \"r\" = %e"));
  RunPasses(*graph, {MakeConstantFolding});
  EXPECT_EQ(graph->node_count(), 0u);
  EXPECT_EQ(graph->outputs()[0].value, graph->inputs()[0]);
  EXPECT_EQ(graph->outputs()[0].name, "y");
}

TEST(RegionTest, NestedRegionsMoveWithTheBranch) {
  const std::string inner =
      "%r = If(%c) region \"then_branch\" (%x) graph \"t\" {input %x %a = Relu(%x) output \"o\" = "
      "%a} "
      "region \"else_branch\" (%x) graph \"e\" {input %x %a = Exp(%x) output \"o\" = %a}";
  const std::string flag = "input %flag: bool[] ";
  ExpectRewrite(flag + Branches("constant %cond: bool[] = [1]",
                                "input %x input %c " + inner + " output \"r\" = %r",
                                "input %x input %c output \"r\" = %x", "%x, %flag"),
                "input %c: bool[] input %x: float32[N, 4]" + inner + " output \"y\" = %r",
                {MakeConstantFolding});
}

TEST(RegionTest, CapturedConstantsSinkAndFold) {
  ExpectRewrite(
      Branches("input %cond: bool[] constant %k: float32[1] = [-2.0]",
               "input %x input %k %p = Relu(%k) %q = Exp(%p) %r = Mul(%x, %q) output \"r\" = %r",
               "input %x input %k output \"r\" = %x", "%x, %k"),
      Branches("input %cond: bool[]",
               "input %x constant %q: float32[1] = [1.0] %r = Mul(%x, %q) output \"r\" = %r",
               "input %x output \"r\" = %x"),
      {MakeConstantFolding, MakeDeadCodeElimination});
}

TEST(RegionTest, UnusedCapturesGo) {
  const auto graph =
      ReadGraph("input %z: float32[2] " +
                Branches("input %cond: bool[]", "input %z input %x output \"r\" = %x",
                         "input %z input %x %e = Exp(%x) output \"r\" = %e", "%z, %x"));
  RunPasses(*graph, {MakeDeadCodeElimination});
  EXPECT_TRUE(graph->value(graph->FindValue("z")).uses.empty());
  EXPECT_EQ(graph->node(graph->Nodes()[0]).regions[0].captures.size(), 1u);
}

TEST(RegionTest, AFoldThatFailsInABranchLeavesIt) {
  const auto graph = ReadGraph(
      "input %cond: bool[] %y = If(%cond) region \"then_branch\" () graph \"t\" {constant %o: "
      "int32[1] = [1] "
      "constant %z: int32[1] = [0] %d = Div(%o, %z) output \"r\" = %d} region \"else_branch\" () "
      "graph \"e\" "
      "{constant %o: int32[1] = [1] output \"r\" = %o} output \"y\" = %y");
  RunPasses(*graph, {MakeConstantFolding});
  EXPECT_EQ(graph->node(graph->Nodes()[0]).regions[0].graph->node_count(), 1u);
}

TEST(RegionTest, LoopBodiesAreCleanedToo) {
  const auto graph = ReadGraph(R"(
    input %x: float32[2]
    constant %trips: int64[] = [3]
    %y = Loop(%trips, _, %x) region "body" () graph "body" {
      input %i: int64[]
      input %c: bool[]
      input %v: float32[2]
      constant %k: float32[] = [1.0]
      %a = Mul(%v, %k)
      %b = Relu(%a)
      %dead = Exp(%b)
      output "c" = %c
      output "v" = %b
    }
    output "y" = %y)");
  ASSERT_TRUE(graph);
  RunPasses(*graph, {MakeNoOpElimination, MakeDeadCodeElimination});
  EXPECT_EQ(graph->node(graph->Nodes()[0]).regions[0].graph->node_count(), 1u);
}

TEST(RegionTest, VariablesKeepTheirWrites) {
  ExpectRewrite(R"(
    input %x: float32[2]
    variable "v" %v: float32[2] = tensor float32[2] [1.0, 2.0]
    %old = Identity(%v)
    %sum = Add(%v, %x)
    %next = asc.Assign(%v, %sum)
    %z = Relu(%old)
    output "z" = %z)",
                R"(
    input %x: float32[2]
    variable "v" %v: float32[2] = tensor float32[2] [1.0, 2.0]
    %old = Identity(%v)
    %sum = Add(%v, %x)
    %next = asc.Assign(%v, %sum)
    %z = Relu(%old)
    output "z" = %z)",
                {MakeConstantFolding, MakeNoOpElimination, MakeCommonSubexpressions,
                 MakeDeadCodeElimination});
}

}  // namespace
}  // namespace asc
