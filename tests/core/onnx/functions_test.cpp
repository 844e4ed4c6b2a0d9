#include <gtest/gtest.h>

#include "tests/core/onnx/onnx_bytes.h"
#include "tests/core/onnx/run_graph.h"

namespace asc::onnx {
namespace {

GraphParts Calls(const std::vector<Message>& nodes, const Names& outputs = {"y"}) {
  GraphParts parts{.nodes = nodes, .inputs = {Float("x", {"2"})}, .outputs = {}};
  for (const std::string& output : outputs) parts.outputs.push_back(ValueInfo(output, ""));
  return parts;
}

ModelParts With(const std::vector<Message>& functions) {
  return {.functions = functions, .domains = {{"mine", 1}}};
}

Message Call(std::string_view function, const Names& inputs, const Names& outputs,
             const std::vector<Message>& attributes = {}, std::string_view name = "call",
             std::string_view overload = "") {
  return Node(function, inputs, outputs, attributes, name, "mine", overload);
}

std::vector<float> Output(const Graph& graph, const std::string& name,
                          std::initializer_list<float> x) {
  const auto outputs = RunGraph(graph, {{"x", Tensor::FromValues<float>({2}, x)}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status().ToString();
    return {};
  }
  const auto values = outputs->at(name).tensor().values<float>();
  return {values.begin(), values.end()};
}

TEST(Functions, AreInlinedWithTheCallsOrigin) {
  const auto graph = Import(
      Calls({Call("Twice", {"x"}, {"y"}), Call("Twice", {"y"}, {"z"}, {}, "again")}, {"z"}),
      With({Function({.domain = "mine",
                      .name = "Twice",
                      .inputs = {"a"},
                      .outputs = {"c"},
                      .nodes = {Node("Add", {"b", "b"}, {"c"}), Node("Relu", {"a"}, {"b"})}})}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->node_count(), 4u);
  const auto nodes = (*graph)->Nodes();
  EXPECT_EQ((*graph)->node(nodes[0]).OriginText(), "call");
  EXPECT_EQ((*graph)->node(nodes[3]).OriginText(), "again");
  EXPECT_EQ(Output(**graph, "z", {-1, 2}), (std::vector<float>{0, 8}));
}

TEST(Functions, ParametersComeFromTheCallOrTheDefault) {
  const Message function =
      Function({.domain = "mine",
                .name = "Leak",
                .inputs = {"a"},
                .outputs = {"b"},
                .nodes = {Node("LeakyRelu", {"a"}, {"b"},
                               {ReferenceAttr("alpha", "slope", AttributeKind::kFloat)})},
                .defaults = {Attr("slope", 0.25f)}});
  const auto graph =
      Import(Calls({Call("Leak", {"x"}, {"y"}, {Attr("slope", 0.5f)}), Call("Leak", {"x"}, {"z"})},
                   {"y", "z"}),
             With({function}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{-0.5f, 2}));
  EXPECT_EQ(Output(**graph, "z", {-1, 2}), (std::vector<float>{-0.25f, 2}));
}

TEST(Functions, AParameterThatIsNotGivenLeavesTheOperatorsDefault) {
  const auto graph = Import(
      Calls({Call("Leak", {"x"}, {"y"})}),
      With({Function({.domain = "mine",
                      .name = "Leak",
                      .inputs = {"a"},
                      .outputs = {"b"},
                      .nodes = {Node("LeakyRelu", {"a"}, {"b"},
                                     {ReferenceAttr("alpha", "slope", AttributeKind::kFloat)})},
                      .attributes = {"slope"}})}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{-0.01f, 2}));
}

TEST(Functions, OverloadsAreDifferentFunctions) {
  const auto make = [](std::string overload, std::string_view op) {
    return Function({.domain = "mine",
                     .name = "F",
                     .inputs = {"a"},
                     .outputs = {"b"},
                     .nodes = {Node(op, {"a"}, {"b"})},
                     .overload = std::move(overload)});
  };
  const auto graph = Import(
      Calls({Call("F", {"x"}, {"y"}, {}, "one", "relu"), Call("F", {"x"}, {"z"}, {}, "two", "neg")},
            {"y", "z"}),
      With({make("relu", "Relu"), make("neg", "Neg")}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{0, 2}));
  EXPECT_EQ(Output(**graph, "z", {-1, 2}), (std::vector<float>{1, -2}));
  EXPECT_EQ(Import(Calls({Call("F", {"x"}, {"y"})}), With({make("a", "Relu"), make("a", "Neg")}))
                .status()
                .code(),
            Code::kInvalidModel);
}

TEST(Functions, CallFunctionsAndHandInputsThrough) {
  const auto graph =
      Import(Calls({Call("Outer", {"x"}, {"y", "z", "w"})}, {"y", "z", "w"}),
             With({Function({.domain = "mine",
                             .name = "Outer",
                             .inputs = {"a"},
                             .outputs = {"b", "a", "b"},
                             .nodes = {Call("Inner", {"a"}, {"b"})}}),
                   Function({.domain = "mine",
                             .name = "Inner",
                             .inputs = {"p"},
                             .outputs = {"q"},
                             .nodes = {Node("Neg", {"p"}, {"x"}), Node("Relu", {"x"}, {"q"})}})}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{1, 0}));
  EXPECT_EQ(Output(**graph, "z", {-1, 2}), (std::vector<float>{-1, 2}));
  EXPECT_EQ(Output(**graph, "w", {-1, 2}), (std::vector<float>{1, 0}));
}

TEST(Functions, AbsentInputsStayAbsent) {
  const auto graph = Import(Calls({Call("Bound", {"x"}, {"y"})}),
                            With({Function({.domain = "mine",
                                            .name = "Bound",
                                            .inputs = {"a", "low"},
                                            .outputs = {"b"},
                                            .nodes = {Node("Clip", {"a", "low"}, {"b"})}})}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{-1, 2}));
}

TEST(Functions, HaveOpsetsOfTheirOwn) {
  const auto graph =
      Import(Calls({Call("Bound", {"x"}, {"y"})}),
             With({Function({.domain = "mine",
                             .name = "Bound",
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .nodes = {Node("Clip", {"a"}, {"b"}, {Attr("max", 1.0f)})},
                             .opset = 6})}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Output(**graph, "y", {-1, 2}), (std::vector<float>{-1, 1}));
}

TEST(Functions, RecursionIsRefused) {
  const auto direct = Import(Calls({Call("F", {"x"}, {"y"})}),
                             With({Function({.domain = "mine",
                                             .name = "F",
                                             .inputs = {"a"},
                                             .outputs = {"b"},
                                             .nodes = {Call("F", {"a"}, {"b"})}})}));
  EXPECT_EQ(direct.status().code(), Code::kInvalidModel);
  EXPECT_EQ(direct.status().node(), "call");
  const auto mutual = Import(Calls({Call("F", {"x"}, {"y"})}),
                             With({Function({.domain = "mine",
                                             .name = "F",
                                             .inputs = {"a"},
                                             .outputs = {"b"},
                                             .nodes = {Call("G", {"a"}, {"b"})}}),
                                   Function({.domain = "mine",
                                             .name = "G",
                                             .inputs = {"a"},
                                             .outputs = {"b"},
                                             .nodes = {Call("F", {"a"}, {"b"})}})}));
  EXPECT_NE(mutual.status().message().find("calls itself"), std::string::npos);
}

TEST(Functions, DoublingCallsAreStopped) {
  std::vector<Message> functions = {Function({.domain = "mine",
                                              .name = "F0",
                                              .inputs = {"a"},
                                              .outputs = {"b"},
                                              .nodes = {Node("Relu", {"a"}, {"b"})}})};
  for (int i = 1; i < 60; ++i) {
    const std::string below = Cat("F", i - 1);
    functions.push_back(
        Function({.domain = "mine",
                  .name = Cat("F", i),
                  .inputs = {"a"},
                  .outputs = {"c"},
                  .nodes = {Call(below, {"a"}, {"b"}), Call(below, {"b"}, {"c"})}}));
  }
  const auto graph = Import(Calls({Call("F59", {"x"}, {"y"})}), With(functions));
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel);
  EXPECT_NE(graph.status().message().find("nodes once functions are expanded"), std::string::npos);
}

TEST(Functions, BodiesAreClosed) {
  const auto graph = Import(Calls({Call("F", {"x"}, {"y"})}),
                            With({Function({.domain = "mine",
                                            .name = "F",
                                            .inputs = {"a"},
                                            .outputs = {"b"},
                                            .nodes = {Node("Relu", {"x"}, {"b"})}})}));
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel);
}

TEST(Functions, CallsThatDoNotFitAreRefused) {
  const auto functions = With({Function({.domain = "mine",
                                         .name = "F",
                                         .inputs = {"a"},
                                         .outputs = {"b"},
                                         .nodes = {Node("Relu", {"a"}, {"b"})}})});
  EXPECT_EQ(Import(Calls({Call("F", {"x", "x"}, {"y"})}), functions).status().code(),
            Code::kInvalidModel);
  EXPECT_EQ(Import(Calls({Call("F", {"x"}, {"y", "z"})}), functions).status().code(),
            Code::kInvalidModel);
  EXPECT_EQ(Import(Calls({Call("F", {"x"}, {"y"}, {Attr("q", 1)})}), functions).status().code(),
            Code::kInvalidModel);
  EXPECT_EQ(
      Import(Calls({Node("Relu", {"x"}, {"y"}, {ReferenceAttr("q", "p", AttributeKind::kInt)})}))
          .status()
          .code(),
      Code::kInvalidModel);
}

}  // namespace
}  // namespace asc::onnx
