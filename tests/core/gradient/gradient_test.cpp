// AddGradients and AddCopy on graphs that are built here; what the numbers are is in tests/python/gradient.
#include "core/gradient/gradient.h"

#include <gtest/gtest.h>

#include "core/gradient/path.h"
#include "core/gradient/rules.h"
#include "core/graph/verify.h"
#include "core/ops/registry.h"

namespace asc {
namespace {

const ValueType kPair = ValueType::Tensor(DataType::kFloat32, Shape(Dims{2}));

ValueId Add(Graph& graph, std::string_view op, std::vector<ValueId> inputs) {
  OperatorWriter writer(graph, {"test", {}});
  const ValueId made = writer.Add(op, std::move(inputs));
  EXPECT_TRUE(writer.ok()) << writer.status().ToString();
  return made;
}

const Node& ProducerOf(const Graph& graph, ValueId id) { return *graph.Producer(id); }

TEST(Gradients, OfAProductAreTheOtherFactorTimesTheSeed) {
  Graph graph;
  const ValueId a = graph.AddInput("a", kPair), b = graph.AddInput("b", kPair);
  const ValueId y = Add(graph, "Mul", {a, b});
  GradientOptions options;
  options.seed = graph.AddInput("seed", kPair);
  const auto gradients = AddGradients(graph, y, {a, b}, options);
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  const Node& of_a = ProducerOf(graph, (*gradients)[0]);
  EXPECT_TRUE(of_a.Is("Mul"));
  EXPECT_EQ(of_a.inputs, (std::vector<ValueId>{options.seed, b}));
  EXPECT_EQ(ProducerOf(graph, (*gradients)[1]).inputs, (std::vector<ValueId>{options.seed, a}));
  graph.AddOutput((*gradients)[0], "da");
  graph.AddOutput((*gradients)[1], "db");
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Gradients, StopAtFixedValuesAndAtVariables) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kPair);
  const ValueId h = Add(graph, "Exp", {x});
  const ValueId y = Add(graph, "Mul", {h, x});
  const size_t before = graph.node_count();
  GradientOptions options;
  options.fixed = {h};
  options.seed = graph.AddInput("seed", kPair);
  const auto fixed = AddGradients(graph, y, {x}, options);
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(graph.node_count(), before + 1);  // seed * h
  const auto both = AddGradients(graph, y, {x, h}, {{}, options.seed, {}});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(graph.node_count(), before + 3);  // seed * h, seed * x
}

TEST(Gradients, OfWhatPlaysNoPartAreZeros) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kPair), other = graph.AddInput("other", kPair);
  const ValueId y = Add(graph, "Exp", {x});
  const auto gradients = AddGradients(graph, y, {other}, {});
  ASSERT_TRUE(gradients.ok());
  const Node& zeros = ProducerOf(graph, (*gradients)[0]);
  EXPECT_TRUE(zeros.Is("Expand"));
  EXPECT_EQ(*graph.Constant(zeros.inputs[0])->data<float>(), 0);
}

TEST(Gradients, RefuseOperatorsWithoutARule) {
  Graph graph;
  const ValueId x = graph.AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape(Dims{2, 2})));
  const ValueId y = Add(graph, "Det", {x});
  const auto refused = AddGradients(graph, y, {x}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kUnsupportedOperator);
  EXPECT_NE(refused.status().message().find("Det"), std::string::npos);
  EXPECT_FALSE(refused.status().hint().empty());
}

TEST(Gradients, RefuseIntegers) {
  Graph graph;
  const ValueId x = graph.AddInput("x", ValueType::Tensor(DataType::kInt64, Shape(Dims{2})));
  const ValueId y = Add(graph, "Neg", {x});
  EXPECT_EQ(AddGradients(graph, y, {x}, {}).status().code(), Code::kTypeMismatch);
}

TEST(Gradients, StopAtTheLimitOfNodes) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kPair);
  ValueId y = x;
  for (int i = 0; i < 20; ++i) y = Add(graph, "Exp", {y});
  GradientOptions options;
  options.node_limit = 10;
  EXPECT_EQ(AddGradients(graph, y, {x}, options).status().code(), Code::kInvalidModel);
}

TEST(Copies, HaveOtherValuesInPlace) {
  Graph graph;
  const ValueId a = graph.AddInput("a", kPair), b = graph.AddInput("b", kPair);
  const ValueId h = Add(graph, "Exp", {b});
  const ValueId y = Add(graph, "Mul", {Add(graph, "Neg", {a}), h});
  const auto copy = AddCopy(graph, y, {{a, b}}, {});
  ASSERT_TRUE(copy.ok());
  const Node& product = ProducerOf(graph, *copy);
  EXPECT_NE(product.id, ProducerOf(graph, y).id);
  EXPECT_EQ(product.inputs[1], h);  // it does not depend on a
  EXPECT_EQ(ProducerOf(graph, product.inputs[0]).inputs[0], b);
  EXPECT_EQ(*AddCopy(graph, h, {{a, b}}, {}), h);
}

TEST(Paths, LeadThroughLongChains) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kPair), z = graph.AddInput("z", kPair);
  ValueId y = Add(graph, "Mul", {x, z});
  for (int i = 0; i < 20'000; ++i) y = Add(graph, "Neg", {y});
  const Path path = FindPath(graph, y, {x}, {});
  EXPECT_EQ(path.nodes.size(), 20'001u);
  EXPECT_TRUE(path.Has(y));
  EXPECT_FALSE(path.Has(z));
  EXPECT_TRUE(path.borders.contains(z.index));
}

TEST(Rules, AreOfOperatorsThatAreThere) {
  for (const std::string& name : OperatorsWithGradient()) {
    const OpSchema* const schema = OpRegistry::Global().Find("", name);
    ASSERT_NE(schema, nullptr) << name;
    EXPECT_NE(FindGradient(*schema), nullptr) << name;
  }
}

}  // namespace
}  // namespace asc
