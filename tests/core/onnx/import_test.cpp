#include "core/onnx/import.h"

#include <gtest/gtest.h>

#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {

// x -> Relu -> Exp -> y
GraphParts Chain() {
  return {.nodes = {Node("Relu", {"x"}, {"r"}, {}, "first"), Node("Exp", {"r"}, {"y"})},
          .inputs = {Float("x", {"N", "3"})},
          .outputs = {Float("y", {"N", "3"})}};
}

TEST(Import, BuildsAChain) {
  const auto graph = Import(Chain(), {.metadata = {{"author", "someone"}}});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Graph& g = **graph;
  EXPECT_EQ(g.name(), "g");
  ASSERT_EQ(g.inputs().size(), 1u);
  EXPECT_EQ(g.value(g.inputs()[0]).type.ToString(), "float32[N, 3]");
  ASSERT_EQ(g.outputs().size(), 1u);
  EXPECT_EQ(g.outputs()[0].name, "y");
  EXPECT_EQ(g.value(g.outputs()[0].value).type.ToString(), "float32[N, 3]");
  const auto nodes = g.Nodes();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(g.node(nodes[0]).name, "first");
  EXPECT_EQ(g.node(nodes[0]).origins, (std::vector<Origin>{{"first", ""}}));
  EXPECT_EQ(g.node(nodes[1]).origins, (std::vector<Origin>{{"Exp#1", ""}}));
  EXPECT_EQ(g.metadata().at("author"), "someone");
  EXPECT_EQ(g.metadata().at("onnx.producer_name"), "onnx_bytes");
  EXPECT_EQ(g.metadata().at("onnx.opset.ai.onnx"), "18");
}

TEST(Import, AcceptsNodesInAnyOrder) {
  GraphParts parts = Chain();
  std::swap(parts.nodes[0], parts.nodes[1]);
  const auto graph = Import(parts);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->node((*graph)->Nodes()[0]).schema->name, "Relu");
}

TEST(Import, RefusesACycle) {
  const auto graph = Import(GraphParts{
      .nodes = {Node("Relu", {"b"}, {"a"}, {}, "n1"), Node("Exp", {"a"}, {"b"}, {}, "n2")},
      .inputs = {Float("x", {"3"})},
      .outputs = {Float("b", {"3"})}});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::kInvalidGraph);
  EXPECT_EQ(graph.status().node(), "n1");
  EXPECT_NE(graph.status().message().find("not acyclic"), std::string::npos);
}

TEST(Import, RefusesAValueMadeTwice) {
  GraphParts parts = Chain();
  parts.nodes.push_back(Node("Exp", {"x"}, {"r"}, {}, "again"));
  EXPECT_EQ(Import(parts).status().node(), "again");
  parts = Chain();
  parts.nodes.push_back(Node("Exp", {"r"}, {"x"}, {}, "over"));
  EXPECT_EQ(Import(parts).status().code(), Code::kInvalidGraph);
}

TEST(Import, RefusesAMissingValueAndNamesTheNearest) {
  GraphParts parts = Chain();
  parts.nodes[1] = Node("Exp", {"q"}, {"y"}, {}, "second");
  const Status status = Import(parts).status();
  EXPECT_EQ(status.code(), Code::kInvalidGraph);
  EXPECT_EQ(status.node(), "second");
  EXPECT_FALSE(status.hint().empty());
}

TEST(Import, RefusesAnUnknownOperatorByName) {
  GraphParts parts = Chain();
  parts.nodes[1] = Node("Rellu", {"r"}, {"y"}, {}, "second");
  const Status status = Import(parts).status();
  EXPECT_EQ(status.code(), Code::kUnsupportedOperator);
  EXPECT_EQ(status.node(), "second");
  EXPECT_NE(status.hint().find("Relu"), std::string::npos);
}

TEST(Import, RefusesAMissingRequiredInput) {
  GraphParts parts = Chain();
  parts.nodes[0] = Node("Relu", {}, {"r"}, {}, "first");
  EXPECT_EQ(Import(parts).status().node(), "first");
  parts.nodes[0] = Node("Relu", {""}, {"r"}, {}, "first");
  EXPECT_EQ(Import(parts).status().node(), "first");
}

TEST(Import, RefusesANodeWithoutOutputs) {
  GraphParts parts = Chain();
  parts.nodes.push_back(Node("Relu", {"x"}, {}, {}, "idle"));
  EXPECT_EQ(Import(parts).status().node(), "idle");
  parts.nodes.back() = Node("Relu", {"x"}, {""}, {}, "idle");
  EXPECT_EQ(Import(parts).status().node(), "idle");
}

TEST(Import, RefusesAnInputWithoutElementType) {
  GraphParts parts = Chain();
  parts.inputs = {ValueInfo("x", TensorType(DataType::kUndefined, {"3"}))};
  EXPECT_EQ(Import(parts).status().code(), Code::kInvalidModel);
  parts.inputs = {ValueInfo("x", "")};
  EXPECT_EQ(Import(parts).status().code(), Code::kInvalidModel);
}

TEST(Import, TurnsListedInitializersIntoConstants) {
  GraphParts parts = Chain();
  parts.inputs.push_back(Float("w", {"2"}));
  parts.initializers = {RawTensor<float>("w", {2}, {1, 2})};
  parts.nodes.push_back(Node("Relu", {"w"}, {"z"}));
  parts.outputs.push_back(Float("z", {"2"}));
  const auto graph = Import(parts, {.ir_version = 3});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->inputs().size(), 1u);
  EXPECT_NE((*graph)->Constant((*graph)->FindValue("w")), nullptr);
}

TEST(Import, DropsConstantsThatNothingUses) {
  GraphParts parts = Chain();
  parts.initializers = {RawTensor<float>("w", {2}, {1, 2})};
  const auto graph = Import(parts);
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE((*graph)->FindValue("w").valid());
}

TEST(Import, OutputMayBeAnInputOrAnInitializer) {
  const auto graph = Import(GraphParts{.nodes = {},
                                       .inputs = {Float("x", {})},
                                       .outputs = {Float("v", {}), Float("x", {})},
                                       .initializers = {RawTensor<float>("v", {}, {0})}});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[1].value, (*graph)->inputs()[0]);
  EXPECT_NE((*graph)->Constant((*graph)->outputs()[0].value), nullptr);
}

TEST(Import, ConstantNodesOfEveryForm) {
  const auto graph = Import(GraphParts{
      .nodes = {Node("Constant", {}, {"a"},
                     {TensorAttr("value", RawTensor<double>("", {2}, {1, 2}))}),
                Node("Constant", {}, {"b"}, {Attr("value_int", 3)}),
                Node("Constant", {}, {"c"}, {Attr("value_float", 2.5f)}),
                Node("Constant", {}, {"d"}, {Attr("value_ints", std::vector<int64_t>{1, 2})}),
                Node("Constant", {}, {"e"}, {Attr("value_floats", std::vector<float>{1, 2, 3})}),
                Node("Constant", {}, {"f"}, {Attr("value_string", "text")}),
                Node("Constant", {}, {"h"}, {Attr("value_strings", Names{"p", "q"})})},
      .inputs = {},
      .outputs = {ValueInfo("a", ""), ValueInfo("b", ""), ValueInfo("c", ""), ValueInfo("d", ""),
                  ValueInfo("e", ""), ValueInfo("f", ""), ValueInfo("h", "")}});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  std::string types;
  for (const GraphOutput& output : (*graph)->outputs())
    types += (*graph)->Constant(output.value)->TypeString() + " ";
  EXPECT_EQ(types, "float64[2] int64[] float32[] int64[2] float32[3] string[] string[2] ");
}

TEST(Import, DeclaredNamesStandForWhatOnlyTheDataDecides) {
  const auto graph =
      Import(GraphParts{.nodes = {Node("NonZero", {"x"}, {"i"}), Node("Neg", {"i"}, {"y"})},
                        .inputs = {Float("x", {"N"})},
                        .outputs = {ValueInfo("y", TensorType(DataType::kInt64, {"1", "7"}))},
                        .value_info = {ValueInfo("i", TensorType(DataType::kInt64, {"1", "M"}))}});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  // A declared number is not believed: it may be that of the run that somebody traced.
  EXPECT_EQ((*graph)->value((*graph)->FindValue("y")).type.ToString(), "int64[1, M]");
}

TEST(Import, UnknownExtentsOfInputsStayThemselves) {
  GraphParts parts = Chain();
  parts.inputs = {Float("x", {"", "3"})};
  parts.value_info = {Float("r", {"M", "3"})};
  parts.outputs = {Float("y", {"", "3"})};
  const auto graph = Import(parts);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Graph& g = **graph;
  const Shape& shape = g.value(g.inputs()[0]).type.shape;
  EXPECT_TRUE(g.value(g.FindValue("r")).type.shape == shape);
  EXPECT_TRUE(g.value(g.FindValue("y")).type.shape == shape);
}

TEST(Import, InferredShapesWinOverDeclaredOnes) {
  GraphParts parts = Chain();
  parts.outputs = {Float("y", {"1", "3"})};
  parts.value_info = {Float("r", {"7", "7", "7"})};
  const auto graph = Import(parts);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->value((*graph)->FindValue("y")).type.ToString(), "float32[N, 3]");
  EXPECT_EQ((*graph)->value((*graph)->FindValue("r")).type.ToString(), "float32[N, 3]");
}

TEST(Import, RefusesAContradictedElementType) {
  GraphParts parts = Chain();
  parts.value_info = {ValueInfo("r", TensorType(DataType::kInt64, {"N", "3"}))};
  EXPECT_EQ(Import(parts).status().code(), Code::kTypeMismatch);
  EXPECT_EQ(Import(parts).status().node(), "first");
}

TEST(Import, RefusesVersionsThatItDoesNotKnow) {
  EXPECT_EQ(Import(Chain(), {.opset = kNewestOpset + 1}).status().code(), Code::kInvalidModel);
  EXPECT_EQ(Import(Chain(), {.ir_version = kNewestIrVersion + 1}).status().code(),
            Code::kInvalidModel);
  EXPECT_EQ(Import(Chain(), {.opset = 0}).status().code(), Code::kInvalidModel);
}

TEST(Import, RefusesWhatIsSaidTwice) {
  GraphParts parts = Chain();
  const auto twice = Import(parts, {.domains = {{"", 17}}});
  EXPECT_EQ(twice.status().code(), Code::kInvalidModel);
  EXPECT_TRUE(Import(parts, {.domains = {{"", 18}, {"ai.onnx", 18}}}).ok());
  parts.nodes[0] =
      Node("LeakyRelu", {"x"}, {"r"}, {Attr("alpha", 0.1f), Attr("alpha", 0.2f)}, "leak");
  EXPECT_EQ(Import(parts).status().node(), "leak");
}

TEST(Import, RefusesAttributesWithoutEnd) {
  GraphParts parts = Chain();
  std::vector<Message> attributes;
  for (int i = 0; i < 100'000; ++i) attributes.push_back(Attr(Cat("a", i), 0.1f));
  parts.nodes[0] = Node("LeakyRelu", {"x"}, {"r"}, attributes, "leak");
  EXPECT_EQ(Import(parts).status().code(), Code::kInvalidModel);
}

GraphParts ScaledBy(std::vector<Message> inputs) {
  return {
      .nodes = {Node("Mul", {"x", "w"}, {"m"}), Node("Reshape", {"m", "s"}, {"y"})},
      .inputs = std::move(inputs),
      .outputs = {Float("y", {"A", "B"})},
      .initializers = {RawTensor<float>("w", {2}, {2, 3}), RawTensor<int64_t>("s", {2}, {2, 1})}};
}
const Message kTarget = ValueInfo("s", TensorType(DataType::kInt64, {"2"}));

TEST(Import, InitializersThatAreInputsAreDefaults) {
  const auto load = [](const GraphParts& parts, const ModelParts& model = {}) {
    return LoadOnnxBytes(AsBuffer(ModelMessage(GraphMessage(parts), model)));
  };
  auto model = load(ScaledBy({Float("w", {"2"}), Float("x", {"2"}), kTarget}));
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  ASSERT_EQ(model->graph->inputs().size(), 1u);
  EXPECT_EQ(model->graph->value(model->graph->FindValue("y")).type.ToString(), "float32[2, 1]");
  ASSERT_EQ(model->overridable.size(), 2u);
  EXPECT_EQ(model->overridable[0].name, "w");
  EXPECT_EQ(model->overridable[0].type.ToString(), "float32[2]");
  EXPECT_EQ(model->overridable[1].value.data<int64_t>()[0], 2);
  const auto open = model->build_with_inputs();
  ASSERT_TRUE(open.ok()) << open.status().ToString();
  std::string inputs;
  for (const ValueId id : (*open)->inputs()) inputs += (*open)->value(id).name + " ";
  EXPECT_EQ(inputs, "x w s ");
  // What follows from the default holds no more.
  EXPECT_FALSE((*open)->value((*open)->FindValue("y")).type.shape.is_static());

  const auto unlisted = load(ScaledBy({Float("x", {"2"})}));
  ASSERT_TRUE(unlisted.ok());
  EXPECT_TRUE(unlisted->overridable.empty());
  EXPECT_FALSE(unlisted->build_with_inputs);
}

TEST(Import, UpToIrVersion3InitializersAreConstants) {
  const auto model = LoadOnnxBytes(
      AsBuffer(ModelMessage(GraphMessage(ScaledBy({Float("w", {"2"}), Float("x", {"2"}), kTarget})),
                            {.opset = 8, .ir_version = 3})));
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_TRUE(model->overridable.empty());
  EXPECT_EQ(model->graph->inputs().size(), 1u);
}

TEST(Import, RefusesWhatIsNoModel) {
  EXPECT_EQ(Import(Message("not a model at all")).status().code(), Code::kInvalidModel);
  EXPECT_EQ(Import(Message()).status().code(), Code::kInvalidModel);
  EXPECT_EQ(ImportOnnxFile("/nowhere/model.onnx").status().code(), Code::kIo);
}

}  // namespace
}  // namespace asc::onnx
