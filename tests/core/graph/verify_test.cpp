#include "core/graph/verify.h"

#include <gtest/gtest.h>

#include "tests/core/graph/sample_ops.h"

namespace asc {
namespace {

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    x = graph.AddInput("x", Floats({Dim::Symbol("N"), 4}));
    y = Apply(graph, SampleOp("Relu"), {x});
    graph.AddOutput(y);
    EXPECT_TRUE(InferGraph(graph).ok());
  }
  void ExpectIllegal(Code code, std::string_view part) {
    const Status status = Verify(graph);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.ToString().find(part), std::string::npos) << status.ToString();
  }
  Graph graph;
  ValueId x, y;
};

TEST_F(VerifyTest, AcceptsALegalGraph) {
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_TRUE(Verify(*graph.Clone()).ok());
}

TEST_F(VerifyTest, UntypedValuesAreFineOnlyBeforeInference) {
  graph.AddOutput(Apply(graph, SampleOp("Relu"), {y}));
  EXPECT_TRUE(Verify(graph, Facts::kPartial).ok()) << Verify(graph, Facts::kPartial).ToString();
  ExpectIllegal(Code::kInvalidGraph, "element type is not known");
}

// Producers first whatever the ids are; among nodes that are ready the smallest id.
TEST_F(VerifyTest, OrderFollowsOperandsThenIds) {
  const ValueId a = Apply(graph, SampleOp("Relu"), {x});
  const ValueId b = Apply(graph, SampleOp("Relu"), {x});
  const ValueId late = Apply(graph, SampleOp("Relu"), {b});
  const auto node = [&](ValueId id) { return graph.value(id).producer; };
  EXPECT_EQ(*graph.TopologicalOrder(), (std::vector<NodeId>{node(y), node(a), node(b), node(late)}));
  graph.SetInput(node(a), 0, late);
  EXPECT_EQ(*graph.TopologicalOrder(), (std::vector<NodeId>{node(y), node(b), node(late), node(a)}));
}

TEST_F(VerifyTest, RefusesACycle) {
  const ValueId a = Apply(graph, SampleOp("Add"), {x, y});
  const ValueId b = Apply(graph, SampleOp("Relu"), {a});
  ASSERT_TRUE(InferGraph(graph).ok());
  graph.SetInput(graph.Producer(a)->id, 1, b);
  ExpectIllegal(Code::kInvalidGraph, "not acyclic");
}

TEST_F(VerifyTest, RefusesInexactUses) {
  graph.value(x).uses.clear();
  ExpectIllegal(Code::kInvalidGraph, "uses of value 'x'");
}

TEST_F(VerifyTest, RefusesDanglingIds) {
  graph.node(graph.Nodes()[0]).inputs[0] = ValueId{77};
  ExpectIllegal(Code::kInvalidGraph, "does not exist");
}

TEST_F(VerifyTest, RefusesADanglingOutput) {
  graph.outputs().push_back({ValueId{77}, "z"});
  ExpectIllegal(Code::kInvalidGraph, "'z' does not exist");
}

TEST_F(VerifyTest, RefusesTwoOutputsOfOneName) {
  graph.AddOutput(x, graph.outputs()[0].name);
  ExpectIllegal(Code::kInvalidGraph, "two graph outputs");
}

TEST_F(VerifyTest, AValueMayBeAnOutputTwice) {
  graph.AddOutput(y, "again");
  graph.AddOutput(x, "input_itself");
  EXPECT_TRUE(Verify(graph).ok());
}

TEST_F(VerifyTest, RefusesTakenNames) {
  graph.value(y).name = "x";
  ExpectIllegal(Code::kInvalidGraph, "two values are named 'x'");
}

TEST_F(VerifyTest, RefusesWrongCountsAndAttributes) {
  Node& node = graph.node(graph.Nodes()[0]);
  node.attributes.Set("bogus", int64_t{1});
  ExpectIllegal(Code::kInvalidArgument, "no attribute 'bogus'");
  node.attributes.Erase("bogus");
  graph.AppendInput(node.id, x);
  ExpectIllegal(Code::kInvalidArgument, "takes 1 inputs, given 2");
}

TEST_F(VerifyTest, RefusesContradictingFacts) {
  graph.value(y).dims = std::vector<Dim>{1};
  ExpectIllegal(Code::kTypeMismatch, "need a tensor of integers");
  graph.value(y).dims.reset();
  const ValueId c = graph.AddConstant("c", Tensor::Scalar<float>(1));
  graph.value(c).type = Floats({2});
  ExpectIllegal(Code::kInvalidGraph, "its elements are");
}

TEST_F(VerifyTest, BlockedStorageNeedsAFittingRankAndStaysInside) {
  graph.value(y).storage = Layout{Format::kNC1HWC0, 8};
  ExpectIllegal(Code::kLayout, "rank 4");
  graph.value(y).storage = Layout{Format::kFractalNz, 8};
  ExpectIllegal(Code::kLayout, "crosses the border");
  graph.value(y).storage = Layout{Format::kFractalNz, 0};
  ExpectIllegal(Code::kLayout, "block size");
  graph.value(y).storage = Layout{Format::kNHWC, 0};
  ExpectIllegal(Code::kLayout, "differs from the origin");
}

TEST_F(VerifyTest, ChecksRegionsAndCaptures) {
  const ValueId cond = graph.AddInput("cond", ValueType::Tensor(DataType::kBool, Shape(Dims{})));
  const NodeId node = graph.AddNode(SampleOp("If"), {cond}, 1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto body = std::make_unique<Graph>(name);
    const ValueId inner = body->AddInput("captured", ValueType());
    body->AddOutput(Apply(*body, SampleOp("Relu"), {inner}));
    graph.AddRegion(node, name, std::move(body), {y});
  }
  graph.AddOutput(graph.node(node).outputs[0]);
  ASSERT_TRUE(InferGraph(graph).ok());
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();

  Graph& body = *graph.node(node).regions[1].graph;
  body.value(body.inputs()[0]).type = ValueType::Tensor(DataType::kInt32, Shape(Dims{2, 4}));
  ExpectIllegal(Code::kTypeMismatch, "region 'else_branch'");
  body.value(body.inputs()[0]).type = graph.value(y).type;
  graph.node(node).regions[1].name = "body";
  ExpectIllegal(Code::kInvalidGraph, "no such region");
}

TEST_F(VerifyTest, VariablesFormOneChain) {
  const ValueId v0 = graph.AddVariable("v", Tensor::FromValues<float>({2}, {1, 2}));
  const ValueId read = Apply(graph, SampleOp("Relu"), {v0});
  const ValueId v1 = Apply(graph, SampleOp("asc", "Assign"), {v0, read});
  const ValueId v2 = Apply(graph, SampleOp("asc", "Assign"), {v1, read});
  ASSERT_TRUE(InferGraph(graph).ok());
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  // The second write must follow the first.
  graph.SetInput(graph.Producer(v2)->id, 0, v0);
  ExpectIllegal(Code::kInvalidGraph, "overwritten twice");
  graph.SetInput(graph.Producer(v2)->id, 0, read);
  ExpectIllegal(Code::kInvalidGraph, "not a variable");
}

TEST_F(VerifyTest, AReaderOfAnOldVersionThatNeedsTheNewOneIsACycle) {
  const ValueId v0 = graph.AddVariable("v", Tensor::FromValues<float>({2}, {1, 2}));
  const ValueId v1 = Apply(graph, SampleOp("asc", "Assign"), {v0, v0});
  graph.AddOutput(Apply(graph, SampleOp("Add"), {v0, v1}));
  ASSERT_FALSE(InferGraph(graph).ok());
  EXPECT_EQ(Verify(graph, Facts::kPartial).code(), Code::kInvalidGraph);
}

}  // namespace
}  // namespace asc
