#include "core/graph/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/graph/verify.h"
#include "tests/core/graph/sample_ops.h"

namespace asc {
namespace {

ParseOptions Options() {
  ParseOptions options;
  options.find_op = [](std::string_view domain, std::string_view name) {
    return SampleOp(domain, name);
  };
  return options;
}

// Parses and prints again: the text must be the same, and so must the values.
std::unique_ptr<Graph> RoundTrip(const Graph& graph, const TextOptions& text = {},
                                 const ParseOptions& parse = Options()) {
  const std::string written = ToText(graph, text);
  auto read = ParseText(written, parse);
  EXPECT_TRUE(read.ok()) << read.status().ToString() << "\n" << written;
  if (!read.ok()) return nullptr;
  EXPECT_EQ(ToText(**read, text), written);
  for (const ValueId id : graph.Values()) {
    const Value& value = graph.value(id);
    const ValueId twin = (*read)->FindValue(value.name);
    EXPECT_TRUE(twin.valid()) << value.name;
    if (!twin.valid()) continue;
    EXPECT_TRUE((*read)->value(twin).constant.ContentEquals(value.constant)) << value.name;
    EXPECT_EQ((*read)->value(twin).source, value.source);
    EXPECT_EQ((*read)->value(twin).variable, value.variable);
  }
  return std::move(*read);
}

TEST(TextTest, WritesAReadableForm) {
  Graph graph("main");
  graph.metadata()["producer"] = "a \"tool\"";
  const ValueId x = graph.AddInput("x", Floats({Dim::Symbol("N"), 4}));
  const ValueId w = graph.AddConstant("w", Tensor::FromValues<float>({2}, {1, -0.5}));
  const ValueId y = Apply(graph, SampleOp("Add"), {x, w});
  Node& node = graph.node(graph.Nodes()[0]);
  node.origins = {{"add1", "net.py:7"}, {"bias", ""}};
  node.scope = 2;
  graph.AddOutput(y, "y");
  ASSERT_TRUE(InferGraph(graph).ok());
  EXPECT_EQ(ToText(graph), R"(graph "main" {
  metadata "producer" = "a \"tool\""
  input %x: float32[N, 4]
  constant %w: float32[2] = [1.0, -0.5]
  %add_out: float32[N, 4] = Add "add" (%x, %w) scope 2 from "add1" at "net.py:7", "bias"
  output "y" = %add_out
}
)");
  const auto read = RoundTrip(graph);
  const Node& twin = read->node(read->FindNode("add"));
  EXPECT_EQ(twin.origins, node.origins);
  EXPECT_EQ(twin.scope, 2);
  EXPECT_TRUE(Verify(*read).ok());
}

TEST(TextTest, TypesSymbolsFormatsAndLayouts) {
  Graph graph;
  const Dim n = Dim::Symbol("batch size"), u = Dim::Unknown(), v = Dim::Unknown();
  const ValueId x = graph.AddInput("a b", Floats({n, Dim::FloorDiv(n + Dim(2), 3), v * u + v, u}));
  graph.value(x).origin_format = Format::kNCHW;
  const ValueId y = Apply(graph, SampleOp("Relu"), {x});
  graph.value(y).type = Floats({Dim::Max(n, Dim::Symbol("max")), u, v, 1});
  graph.value(y).origin_format = Format::kNCHW;
  graph.value(y).storage = Layout{Format::kNC1HWC0, 16};
  graph.AddInput("sequence",
                 ValueType::Sequence(ValueType::Optional(ValueType::Tensor(DataType::kString))));
  graph.AddInput("map", ValueType::Map(DataType::kInt64, Floats({})));
  graph.AddInput("untyped", ValueType());
  graph.AddInput("1:0\n", Floats({Dim::Symbol("sym.0"), Dim::Symbol("3"), Dim::Symbol("")}));
  const ValueId shape =
      graph.AddInput("shape", ValueType::Tensor(DataType::kInt64, Shape(Dims{2})));
  graph.value(shape).dims = {n, u};
  graph.AddOutput(y, "out put");
  const auto read = RoundTrip(graph);
  ASSERT_NE(read, nullptr);
  const Value& twin = read->value(read->FindValue("a b"));
  EXPECT_EQ(twin.type.shape[0], n);
  EXPECT_EQ(twin.type.shape[1], Dim::FloorDiv(n + Dim(2), 3));
  EXPECT_FALSE(twin.type.shape[3] == u) << "unknowns of a text are new ones";
  const Value& relu = read->value(read->FindValue("relu_out"));
  EXPECT_EQ(relu.type.shape[1], twin.type.shape[3]) << "the same number is the same unknown";
  EXPECT_EQ(relu.storage, (Layout{Format::kNC1HWC0, 16}));
  EXPECT_EQ((*read->value(read->FindValue("shape")).dims)[0], n);
}

TEST(TextTest, ConstantsOfEveryTypeAreExact) {
  Graph graph;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  graph.AddConstant("f", Tensor::FromValues<float>({4}, {0.1f, -0.0f, kInf, 1e-45f}));
  graph.AddConstant("nan", Tensor::FromValues<float>({2}, {kNan, 1}));
  graph.AddConstant("d", Tensor::FromValues<double>({2}, {0.1, 1e300}));
  graph.AddConstant("h", Tensor::FromValues<Half>({2}, {Half(0.1f), Half(65504)}));
  graph.AddConstant("b", Tensor::FromValues<bool>({2}, {true, false}));
  graph.AddConstant("s", Tensor::FromValues<std::string>({2}, {"a\"\\\n\x01", "\xc3\xa4"}));
  graph.AddConstant("i", Tensor::FromValues<int64_t>({2}, {INT64_MIN, INT64_MAX}));
  graph.AddConstant("u", Tensor::FromValues<uint64_t>({1}, {UINT64_MAX}));
  graph.AddConstant("empty", Tensor::FromValues<int32_t>({0, 3}, {}));
  graph.AddConstant("scalar", Tensor::Scalar<int8_t>(-7));
  for (int i = 1; i < kDataTypeCount; ++i) {
    const auto dtype = static_cast<DataType>(i);
    if (dtype == DataType::kString || dtype == DataType::kBool) continue;
    auto tensor = Tensor::Allocate(dtype, {3});
    ASSERT_TRUE(tensor.ok());
    for (size_t byte = 0; byte < tensor->bytes(); ++byte)
      static_cast<uint8_t*>(tensor->raw())[byte] = static_cast<uint8_t>(byte + 1);
    graph.AddConstant(Cat("all_", DataTypeName(dtype)), *tensor);
  }
  RoundTrip(graph);
}

TEST(TextTest, LargeConstantsByContentOrInFull) {
  Graph graph;
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.1f;
  const Tensor big = Tensor::FromValues<float>({4, 25}, std::span<const float>(values));
  graph.AddOutput(graph.AddConstant("big", big));
  RoundTrip(graph, {.most_inline_elements = 32, .all_constants = true});

  const Result<std::unique_ptr<Graph>> without = ParseText(ToText(graph), Options());
  EXPECT_EQ(without.status().code(), Code::kInvalidModel);
  EXPECT_NE(without.status().ToString().find("content hash"), std::string::npos);
  ParseOptions options = Options();
  options.find_constant = [&](uint64_t hash) {
    return hash == big.ContentHash() ? std::optional(big) : std::nullopt;
  };
  RoundTrip(graph, {}, options);
}

TEST(TextTest, AttributesOfEveryType) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({1}));
  AttributeMap attributes;
  attributes.Set("i", int64_t{-3});
  attributes.Set("f", 2.0f);
  attributes.Set("s", std::string("a\nb"));
  attributes.Set("is", std::vector<int64_t>{1, -2});
  attributes.Set("fs",
                 std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), -0.0f, 1e20f});
  attributes.Set("ss", std::vector<std::string>{"", "x, y"});
  attributes.Set("t", Tensor::FromValues<int64_t>({2}, {1, 2}));
  attributes.Set("y", ValueType::Sequence(Floats({Dim::Symbol("N")})));
  AttributeMap empty;
  empty.Set("is", std::vector<int64_t>());
  empty.Set("fs", std::vector<float>());
  empty.Set("ss", std::vector<std::string>());
  empty.Set("t", Tensor());
  empty.Set("f", std::numeric_limits<float>::infinity());
  const ValueId y = Apply(graph, SampleOp("Attributes"), {x}, attributes);
  graph.AddOutput(Apply(graph, SampleOp("Attributes"), {y}, empty));
  const auto read = RoundTrip(graph);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->node(read->FindNode("attributes")).attributes, attributes);
  EXPECT_EQ(read->node(read->FindNode("attributes_1")).attributes, empty);
}

TEST(TextTest, AbsentOperandsRegionsAndVariables) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  const ValueId mode = graph.AddInput("mode", ValueType::Tensor(DataType::kBool, Shape(Dims{})));
  const NodeId dropout = graph.AddNode(SampleOp("Dropout"), {x, ValueId(), mode}, 2);
  graph.RemoveOutput(dropout, 0);
  graph.AddOutput(graph.node(dropout).outputs[1], "mask");
  const ValueId v0 = graph.AddVariable("v", Tensor::FromValues<float>({2}, {1, 2}));
  graph.RenameValue(v0, "v0");
  const NodeId branch = graph.AddNode(SampleOp("If"), {mode}, 1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto body = std::make_unique<Graph>("b");
    const ValueId inner = body->AddInput("x", Floats({2}));
    body->AddOutput(Apply(*body, SampleOp("Relu"), {inner}), "same");
    body->AddOutput(inner, "same");
    graph.AddRegion(branch, name, std::move(body), {x});
  }
  const ValueId v1 = Apply(graph, SampleOp("asc", "Assign"), {v0, graph.node(branch).outputs[0]});
  graph.AddOutput(v1, "new");
  ASSERT_TRUE(Verify(graph, Facts::kPartial).ok()) << Verify(graph, Facts::kPartial).ToString();
  const auto read = RoundTrip(graph);
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(Verify(*read, Facts::kPartial).ok());
  EXPECT_EQ(read->value(read->variables()[0].final).name, graph.value(v1).name);
  EXPECT_FALSE(read->node(read->FindNode("dropout")).outputs[0].valid());
}

TEST(TextTest, BlanksAndCommentsAreFree) {
  const auto read =
      ParseText("# a comment\ngraph\"g\"{input %x:float32[ N,2 ]output \"y\"=%x}", Options());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->outputs()[0].name, "y");
}

TEST(TextTest, RefusesBadTextWithItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "found the end"},
      {"graph \"g\" {\n  input %x: float31[2]\n}", "line 2, column 13"},
      {"graph \"g\" { input %x: float32[2 }", "expected"},
      {"graph \"g\" { output \"y\" = %x }", "used before it is defined"},
      {"graph \"g\" { input %x: int8[1] input %x: int8[1] }", "defined twice"},
      {"graph \"g\" { input %x: int8[1] %y: int8[1] = Bogus \"b\" (%x) }", "no operator 'Bogus'"},
      {"graph \"g\" { input %x: int8[1] %x: int8[1] = Relu \"b\" (%x) }", "defined twice"},
      {"graph \"g\" { constant %c: int8[9223372036854775807, 9] = bytes \"\" }", "not possible"},
      {"graph \"g\" { constant %c: int8[-1] = [] }", "does not have"},
      {"graph \"g\" { constant %c: int8[1] = [300] }", "integer in range"},
      {"graph \"g\" { constant %c: int8[3] = [1, 2] }", "does not have the 2 elements"},
      {"graph \"g\" { constant %c: int8[4] = bytes \"AAAA\" }", "needs 4 bytes"},
      {"graph \"g\" { constant %c: int8[N] = [1] }", "static shape"},
      {"graph \"g\" { constant %c: string[1] = bytes \"AAAA\" }", "base64"},
      {"graph \"g\" { input %x: int8[1] stored NC1HWC0(0) }", "a layout"},
      {"graph \"g\" { metadata \"k = 1 }", "no end"},
      {"graph \"g\" { } }", "the end of the text"},
  };
  for (const auto& [text, part] : cases) {
    const auto read = ParseText(text, Options());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.status().ToString().find(part), std::string::npos) << text << "\n"
                                                                      << read.status().ToString();
  }
}

TEST(TextTest, HostileNestingAndSizesAreRefused) {
  std::string deep = "graph \"g\" { input %x: ";
  for (int i = 0; i < 100000; ++i) deep += "sequence(";
  EXPECT_FALSE(ParseText(deep, Options()).ok());
  std::string regions = "graph \"g\" {";
  for (int i = 0; i < 100000; ++i)
    regions += "= If \"a\" () region \"then_branch\" () graph \"b\" {";
  EXPECT_FALSE(ParseText(regions, Options()).ok());
  std::string product = "graph \"g\" { input %x: float32[(a+b+c+d+e+f+g+h)";
  for (int i = 0; i < 100; ++i) product += "*(a+b+c+d+e+f+g+h)";
  (void)ParseText(product + "] }", Options());  // must end soon
}

TEST(TextTest, EveryPrefixAndEveryFlippedByteEndsInAStatus) {
  Graph graph("main");
  const ValueId x = graph.AddInput("x", Floats({Dim::Symbol("N"), Dim::Unknown()}));
  graph.value(x).storage = Layout{Format::kFractalNz, 8};
  const ValueId w = graph.AddConstant("w", Tensor::FromValues<float>({2}, {1, -0.5}));
  AttributeMap attributes;
  attributes.Set("fs", std::vector<float>{1, 2});
  attributes.Set("t", Tensor::FromValues<int64_t>({2}, {1, 2}));
  const ValueId y =
      Apply(graph, SampleOp("Attributes"), {Apply(graph, SampleOp("Add"), {x, w})}, attributes);
  graph.AddOutput(y, "y");
  const std::string text = ToText(graph);
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(ParseText(text.substr(0, i), Options()).ok() && i < text.size() - 1);
    for (const char c : {'\0', '"', '%', '[', '9', '-', '(', '}', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      const auto read = ParseText(changed, Options());
      if (read.ok()) (void)Verify(**read, Facts::kPartial);
    }
  }
}

}  // namespace
}  // namespace asc
