// Bodies see outer values through captures only, at any depth.
#include <gtest/gtest.h>

#include "core/ops/registry.h"
#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {

Status InferChoose(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const std::vector<ValueType> types, context.InferRegion("body", {}));
  for (size_t i = 0; i < types.size(); ++i) context.SetOutput(i, types[i]);
  return Ok();
}

// test.Within: runs its body, which has no inputs of its own.
void RegisterWithin() {
  static const bool done = [] {
    OpSchema schema;
    schema.domain = "test";
    schema.name = "Within";
    schema.method = "test_within";
    OpBuilder(schema)
        .OptionalInput("cond", "")
        .Output("outputs", "", ParameterKind::kVariadic, false)
        .HasRegion("body")
        .Infer(InferChoose);
    EXPECT_TRUE(OpRegistry::Global().Register(std::move(schema)).ok());
    return true;
  }();
  (void)done;
}

class Regions : public ::testing::Test {
 protected:
  void SetUp() override { RegisterWithin(); }
  ModelParts model_{.domains = {{"test", 1}}};
};

Message Within(const GraphParts& body, const Names& outputs, std::string_view name = "") {
  return Node("Within", {}, outputs, {GraphAttr("body", GraphMessage(body))}, name, "test");
}

const Region& OnlyRegion(const Graph& graph, std::string_view node) {
  return graph.node(graph.FindNode(node)).regions.at(0);
}

TEST_F(Regions, OuterValuesAreTheLastInputs) {
  const auto graph = Import(
      GraphParts{.nodes = {Node("Relu", {"x"}, {"r"}),
                           Within({.nodes = {Node("Exp", {"r"}, {"e"}), Node("Exp", {"x"}, {"f"})},
                                   .inputs = {},
                                   .outputs = {ValueInfo("e", ""), ValueInfo("f", "")}},
                                  {"y", "z"}, "within")},
                 .inputs = {Float("x", {"N"})},
                 .outputs = {Float("y", {"N"}), Float("z", {"N"})}},
      model_);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Region& region = OnlyRegion(**graph, "within");
  ASSERT_EQ(region.captures.size(), 2u);
  EXPECT_EQ(region.graph->inputs().size(), 2u);
  EXPECT_EQ((*graph)->value(region.captures[0]).name, "r");
  EXPECT_EQ((*graph)->value(region.captures[1]).name, "x");
  EXPECT_EQ(region.graph->value(region.graph->inputs()[0]).type.ToString(), "float32[N]");
  EXPECT_EQ((*graph)->value((*graph)->FindValue("y")).type.ToString(), "float32[N]");
  // The captures are uses of the node, so the order of nodes follows them.
  EXPECT_EQ((*graph)->value(region.captures[0]).uses.size(), 1u);
}

TEST_F(Regions, NestedBodiesChainCaptures) {
  const GraphParts inner{
      .nodes = {Node("Exp", {"x"}, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}};
  const GraphParts middle{
      .nodes = {Within(inner, {"m"}, "inner")}, .inputs = {}, .outputs = {ValueInfo("m", "")}};
  const auto graph = Import(GraphParts{.nodes = {Within(middle, {"y"}, "outer")},
                                       .inputs = {Float("x", {"2"})},
                                       .outputs = {Float("y", {"2"})}},
                            model_);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Region& outer = OnlyRegion(**graph, "outer");
  ASSERT_EQ(outer.captures.size(), 1u);
  const Region& nested = OnlyRegion(*outer.graph, "inner");
  ASSERT_EQ(nested.captures.size(), 1u);
  EXPECT_EQ(nested.captures[0], outer.graph->inputs()[0]);
  EXPECT_EQ((*graph)->value((*graph)->FindValue("y")).type.ToString(), "float32[2]");
}

TEST_F(Regions, ConstantsAreSharedNotCaptured) {
  const auto graph = Import(
      GraphParts{
          .nodes = {Within(
              {.nodes = {Node("Exp", {"w"}, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}},
              {"y"}, "within")},
          .inputs = {},
          .outputs = {ValueInfo("y", "")},
          .initializers = {RawTensor<float>("w", {2}, {1, 2})}},
      model_);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Region& region = OnlyRegion(**graph, "within");
  EXPECT_TRUE(region.captures.empty());
  const Tensor* inside = region.graph->Constant(region.graph->FindValue("w"));
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->dims(), Dims{2});
}

TEST_F(Regions, BodyResultMayBeAnOuterValue) {
  const auto graph = Import(
      GraphParts{
          .nodes = {Within(
              {.nodes = {}, .inputs = {}, .outputs = {ValueInfo("x", ""), ValueInfo("x", "")}},
              {"y", "z"}, "within")},
          .inputs = {Float("x", {"2"})},
          .outputs = {Float("y", {"2"}), Float("z", {"2"})}},
      model_);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(OnlyRegion(**graph, "within").captures.size(), 1u);
}

TEST_F(Regions, BodyUsesDecideTheOrder) {
  const auto graph = Import(GraphParts{.nodes = {Within({.nodes = {Node("Exp", {"r"}, {"e"})},
                                                         .inputs = {},
                                                         .outputs = {ValueInfo("e", "")}},
                                                        {"y"}, "within"),
                                                 Node("Relu", {"x"}, {"r"})},
                                       .inputs = {Float("x", {"2"})},
                                       .outputs = {Float("y", {"2"})}},
                            model_);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
}

TEST_F(Regions, InnerNamesHideOuterOnes) {
  const auto graph = Import(
      GraphParts{.nodes = {Node("Relu", {"x"}, {"r"}),
                           Within({.nodes = {Node("Exp", {"x"}, {"r"}), Node("Exp", {"r"}, {"s"})},
                                   .inputs = {},
                                   .outputs = {ValueInfo("s", "")}},
                                  {"y"}, "within")},
                 .inputs = {Float("x", {"2"})},
                 .outputs = {Float("y", {"2"}), Float("r", {"2"})}},
      model_);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Region& region = OnlyRegion(**graph, "within");
  ASSERT_EQ(region.captures.size(), 1u);
  EXPECT_EQ((*graph)->value(region.captures[0]).name, "x");
}

TEST_F(Regions, ABodyThatNeedsItsOwnNodesResultIsACycle) {
  const auto graph = Import(
      GraphParts{
          .nodes = {Within(
              {.nodes = {Node("Exp", {"y"}, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}},
              {"y"}, "within")},
          .inputs = {},
          .outputs = {Float("y", {"2"})}},
      model_);
  EXPECT_EQ(graph.status().code(), Code::kInvalidGraph);
  EXPECT_EQ(graph.status().node(), "within");
}

TEST_F(Regions, ErrorsInsideNameTheInnerNode) {
  const auto graph =
      Import(GraphParts{.nodes = {Within({.nodes = {Node("Exp", {"nowhere"}, {"e"}, {}, "broken")},
                                          .inputs = {},
                                          .outputs = {ValueInfo("e", "")}},
                                         {"y"}, "within")},
                        .inputs = {},
                        .outputs = {Float("y", {"2"})}},
             model_);
  EXPECT_EQ(graph.status().node(), "broken");
}

TEST_F(Regions, NestingIsLimited) {
  GraphParts body{
      .nodes = {Node("Exp", {"x"}, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}};
  for (int i = 0; i < 100; ++i) {
    body = {.nodes = {Within(body, {"e"})}, .inputs = {}, .outputs = {ValueInfo("e", "")}};
  }
  body.inputs = {Float("x", {"2"})};
  const auto graph = Import(body, model_);
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel);
  EXPECT_NE(graph.status().message().find("nested deeper"), std::string::npos);
}

TEST_F(Regions, GraphAttributesThatTheOperatorLacksAreRefused) {
  const auto graph = Import(GraphParts{
      .nodes = {Node("Relu", {"x"}, {"y"}, {GraphAttr("body", GraphMessage({}))}, "relu")},
      .inputs = {Float("x", {"2"})},
      .outputs = {Float("y", {"2"})}});
  EXPECT_EQ(graph.status().node(), "relu");
}

}  // namespace
}  // namespace asc::onnx
