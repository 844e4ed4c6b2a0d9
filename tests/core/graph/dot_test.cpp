#include "core/graph/dot.h"

#include <gtest/gtest.h>

#include "tests/core/graph/sample_ops.h"

namespace asc {
namespace {

TEST(DotTest, LabelsAndClusters) {
  Graph graph("a \"b\"");
  const ValueId cond = graph.AddInput("cond", ValueType::Tensor(DataType::kBool, Shape(Dims{})));
  const ValueId x = graph.AddInput("x", Floats({1, 8, 2, 2}));
  const ValueId r = Apply(graph, SampleOp("Relu"), {x});
  graph.value(r).origin_format = Format::kNCHW;
  const NodeId branch = graph.AddNode(SampleOp("If"), {cond}, 1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto body = std::make_unique<Graph>("b");
    body->AddOutput(body->AddInput("inner", ValueType()));
    graph.AddRegion(branch, name, std::move(body), {r});
  }
  graph.AddOutput(graph.node(branch).outputs[0], "y");
  ASSERT_TRUE(InferGraph(graph).ok());
  graph.value(r).storage = Layout{Format::kNC1HWC0, 8};
  const std::string dot = ToDot(graph);
  EXPECT_EQ(dot.rfind("digraph \"a \\\"b\\\"\" {", 0), 0u);
  EXPECT_NE(dot.find("relu_out\\nfloat32[1, 8, 2, 2] NCHW as NC1HWC0(8)"), std::string::npos)
      << dot;
  EXPECT_NE(dot.find("subgraph cluster_g_n1r0 {"), std::string::npos) << dot;
  EXPECT_NE(dot.find("label=\"if_ / else_branch\""), std::string::npos);
  EXPECT_NE(dot.find("style=dashed"), std::string::npos);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
}

}  // namespace
}  // namespace asc
