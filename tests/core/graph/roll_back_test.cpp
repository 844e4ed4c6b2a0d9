#include <gtest/gtest.h>

#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "tests/core/graph/sample_ops.h"

namespace asc {
namespace {

class RollBackTest : public ::testing::Test {
 protected:
  RollBackTest() {
    x = graph.AddInput("x", Floats({4}));
    state = graph.AddVariable("state", Tensor::FromValues<float>({4}, {1, 2, 3, 4}));
    y = Apply(graph, SampleOp("Add"), {x, state});
    graph.AddOutput(y, "y");
    EXPECT_TRUE(InferGraph(graph).ok());
    before = ToText(graph);
  }
  // The graph is legal, as it was, and grows again under the same names.
  void ExpectAsBefore() {
    EXPECT_EQ(ToText(graph), before);
    EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
    EXPECT_EQ(graph.node_count(), 1u);
    EXPECT_FALSE(graph.FindValue("added").valid());
    EXPECT_EQ(graph.value(graph.AddInput("added", Floats({4}))).name, "added");
  }
  Graph graph;
  ValueId x, state, y;
  std::string before;
};

TEST_F(RollBackTest, TakesOutWhateverWasAdded) {
  const Graph::Mark mark = graph.mark();
  const ValueId a = graph.AddInput("added", Floats({4}));
  const ValueId c = graph.AddConstant("constant", Tensor::FromValues<float>({4}, {0, 0, 0, 0}));
  const ValueId b = Apply(graph, SampleOp("Add"), {x, a});
  graph.AddOutput(Apply(graph, SampleOp("Add"), {b, c}), "z");
  graph.AddOutput(x, "again");
  graph.AddVariable("more", Tensor::Scalar<float>(1));
  graph.RollBack(mark);
  ExpectAsBefore();
}

TEST_F(RollBackTest, GivesVariablesTheirLastVersionBack) {
  const Graph::Mark mark = graph.mark();
  const ValueId next = Apply(graph, SampleOp("asc", "Assign"), {state, y});
  EXPECT_EQ(graph.variables()[0].final, next);
  graph.RollBack(mark);
  EXPECT_EQ(graph.variables()[0].final, state);
  const ValueId kept = Apply(graph, SampleOp("asc", "Assign"), {state, y});
  ASSERT_TRUE(InferGraph(graph).ok());
  const Graph::Mark later = graph.mark();
  Apply(graph, SampleOp("asc", "Assign"), {kept, y});
  graph.RollBack(later);
  EXPECT_EQ(graph.variables()[0].final, kept);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
}

TEST_F(RollBackTest, OfNothingChangesNothing) {
  graph.RollBack(graph.mark());
  ExpectAsBefore();
}

}  // namespace
}  // namespace asc
