// Shape rules of If, Loop, Scan and SequenceMap.
#include "core/graph/infer.h"
#include "core/ops/registry.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

const OpSchema* Op(std::string_view name) { return OpRegistry::Global().Find("", name); }

ValueId AddOp(Graph& graph, std::string_view name, std::vector<ValueId> inputs,
              AttributeMap attributes = {}) {
  return graph.node(graph.AddNode(Op(name), std::move(inputs), 1, std::move(attributes)))
      .outputs[0];
}

ValueType Float(std::string_view shape) {
  return ValueType::Tensor(DataType::kFloat32, ParseShape(shape));
}

// A body (iteration, condition, x) -> (condition, f(x), scan...).
std::unique_ptr<Graph> LoopBody(const std::function<ValueId(Graph&, ValueId)>& f, bool scan) {
  auto body = std::make_unique<Graph>("body");
  body->AddInput("i", ValueType());
  const ValueId condition = body->AddInput("go", ValueType());
  const ValueId x = body->AddInput("x", ValueType());
  body->AddOutput(AddOp(*body, "Identity", {condition}), "go_on");
  body->AddOutput(f(*body, x), "y");
  if (scan) body->AddOutput(AddOp(*body, "Identity", {x}), "seen");
  return body;
}

struct Built {
  Graph graph;
  NodeId node;
  Status status;
  std::string Type(size_t i) const {
    return graph.value(graph.node(node).outputs[i]).type.ToString();
  }
};

std::unique_ptr<Built> BuildLoop(const std::function<ValueId(Graph&, ValueId)>& f,
                                 std::string_view shape, int64_t trips) {
  auto built = std::make_unique<Built>();
  Graph& graph = built->graph;
  const ValueId x = graph.AddInput("x", Float(shape));
  const ValueId m = graph.AddConstant("m", Tensor::Scalar<int64_t>(trips));
  built->node = graph.AddNode(Op("Loop"), {m, ValueId(), x}, 2);
  graph.AddRegion(built->node, "body", LoopBody(f, true), {});
  built->status = InferGraph(graph);
  return built;
}

// An unknown's number says nothing.
std::string WithoutNumbers(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '?') {
      while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]))) ++i;
    }
  }
  return out;
}

TEST(Loop, KeepsShapesThatStay) {
  const auto built =
      BuildLoop([](Graph& body, ValueId x) { return AddOp(body, "Relu", {x}); }, "[N, 3]", 5);
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(built->Type(0), "float32[N, 3]");
  EXPECT_EQ(WithoutNumbers(built->Type(1)), "float32[?, N, 3]");  // the body may stop early
}

TEST(Loop, OpensExtentsThatGrow) {
  const auto grow = [](Graph& body, ValueId x) {
    AttributeMap axis;
    axis.Set("axis", int64_t{1});
    return AddOp(body, "Concat", {x, x}, std::move(axis));
  };
  const auto built = BuildLoop(grow, "[N, 3]", 5);
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(WithoutNumbers(built->Type(0)), "float32[N, ?]");
  EXPECT_EQ(WithoutNumbers(built->Type(1)), "float32[?, N, ?]");
}

TEST(Loop, OpensRanksThatGrow) {
  const auto grow = [](Graph& body, ValueId x) {
    return AddOp(body, "Unsqueeze", {x, body.AddConstant("axes", I64({1}, {0}))});
  };
  const auto built = BuildLoop(grow, "[3]", 5);
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(built->Type(0), "float32[*]");
}

TEST(Loop, WithoutTripsKeepsTheInitialValues) {
  const auto built =
      BuildLoop([](Graph& body, ValueId x) { return AddOp(body, "Relu", {x}); }, "[2]", 0);
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(built->Type(0), "float32[2]");
  EXPECT_EQ(built->Type(1), "float32[0, 2]");
}

TEST(Loop, TakesAnOptionalThatTheBodyFills) {
  Graph graph;
  const ValueId x = graph.AddInput("x", ValueType::Optional(Float("[*]")));
  const ValueId m = graph.AddInput("m", ValueType::Tensor(DataType::kInt64, ParseShape("[]")));
  const NodeId node = graph.AddNode(Op("Loop"), {m, ValueId(), x}, 1);
  const auto fill = [](Graph& body, ValueId) { return body.AddConstant("c", F32({2}, {1, 2})); };
  graph.AddRegion(node, "body", LoopBody(fill, false), {});
  const Status status = InferGraph(graph);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(graph.value(graph.node(node).outputs[0]).type.ToString(), "float32[2]");
}

TEST(Loop, RefusesTypesThatChange) {
  const auto change = [](Graph& body, ValueId x) { return AddOp(body, "Shape", {x}); };
  EXPECT_EQ(BuildLoop(change, "[2]", 1)->status.code(), Code::kTypeMismatch);
}

std::unique_ptr<Graph> Branch(std::string_view op, std::vector<Tensor> constants, bool captures) {
  auto graph = std::make_unique<Graph>("branch");
  std::vector<ValueId> inputs;
  if (captures) inputs.push_back(graph->AddInput("captured", ValueType()));
  for (const Tensor& tensor : constants) inputs.push_back(graph->AddConstant("c", tensor));
  graph->AddOutput(AddOp(*graph, op, inputs), "out");
  return graph;
}

std::unique_ptr<Built> BuildIf(std::unique_ptr<Graph> yes, std::unique_ptr<Graph> no,
                               bool captures) {
  auto built = std::make_unique<Built>();
  Graph& graph = built->graph;
  const ValueId x = graph.AddInput("x", Float("[N, 1, 3]"));
  const ValueId condition =
      graph.AddInput("c", ValueType::Tensor(DataType::kBool, ParseShape("[]")));
  built->node = graph.AddNode(Op("If"), {condition}, 1);
  const std::vector<ValueId> captured = captures ? std::vector<ValueId>{x} : std::vector<ValueId>{};
  graph.AddRegion(built->node, "then_branch", std::move(yes), captured);
  graph.AddRegion(built->node, "else_branch", std::move(no), captured);
  built->status = InferGraph(graph);
  return built;
}

TEST(If, JoinsItsBranches) {
  const auto same = BuildIf(Branch("Relu", {}, true), Branch("Exp", {}, true), true);
  ASSERT_TRUE(same->status.ok()) << same->status.ToString();
  EXPECT_EQ(same->Type(0), "float32[N, 1, 3]");
  const auto ranks =
      BuildIf(Branch("Relu", {}, true), Branch("Squeeze", {I64({1}, {1})}, true), true);
  ASSERT_TRUE(ranks->status.ok()) << ranks->status.ToString();
  EXPECT_EQ(ranks->Type(0), "float32[*]");
  const auto extents = BuildIf(Branch("Relu", {}, true), Branch("Transpose", {}, true), true);
  EXPECT_EQ(WithoutNumbers(extents->Type(0)), "float32[?, 1, ?]");
  EXPECT_EQ(BuildIf(Branch("Relu", {}, true), Branch("Shape", {}, true), true)->status.code(),
            Code::kTypeMismatch);
}

TEST(If, KnowsCapturedConstants) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Float("[N, 1, 3]"));
  const ValueId axes = graph.AddConstant("axes", I64({1}, {1}));
  const ValueId condition =
      graph.AddInput("c", ValueType::Tensor(DataType::kBool, ParseShape("[]")));
  const NodeId node = graph.AddNode(Op("If"), {condition}, 1);
  for (const std::string_view name : {"then_branch", "else_branch"}) {
    auto branch = std::make_unique<Graph>("branch");
    const ValueId inner = branch->AddInput("x", ValueType());
    const ValueId inner_axes = branch->AddInput("axes", ValueType());
    branch->AddOutput(AddOp(*branch, "Squeeze", {inner, inner_axes}), "out");
    graph.AddRegion(node, name, std::move(branch), {x, axes});
  }
  const Status status = InferGraph(graph);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(graph.value(graph.node(node).outputs[0]).type.ToString(), "float32[N, 3]");
}

// Body (state, item) -> (state + item, item).
std::unique_ptr<Built> BuildScan(AttributeMap attributes, std::string_view sequence) {
  auto built = std::make_unique<Built>();
  Graph& graph = built->graph;
  const ValueId state = graph.AddInput("s", Float("[3]"));
  const ValueId x = graph.AddInput("x", Float(sequence));
  attributes.Set("num_scan_inputs", int64_t{1});
  built->node = graph.AddNode(Op("Scan"), {state, x}, 2, std::move(attributes));
  auto body = std::make_unique<Graph>("body");
  const ValueId s = body->AddInput("s", ValueType()), item = body->AddInput("item", ValueType());
  body->AddOutput(AddOp(*body, "Add", {s, item}), "next");
  body->AddOutput(AddOp(*body, "Identity", {item}), "out");
  graph.AddRegion(built->node, "body", std::move(body), {});
  built->status = InferGraph(graph);
  return built;
}

TEST(Scan, StacksAsManyItemsAsItWalks) {
  const auto built = BuildScan({}, "[T, 3]");
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(built->Type(0), "float32[3]");
  EXPECT_EQ(built->Type(1), "float32[T, 3]");
}

TEST(Scan, WalksAndStacksAlongAnyAxis) {
  AttributeMap attributes;
  attributes.Set("scan_input_axes", std::vector<int64_t>{-1});
  attributes.Set("scan_output_axes", std::vector<int64_t>{1});
  const auto built = BuildScan(std::move(attributes), "[3, T]");
  ASSERT_TRUE(built->status.ok()) << built->status.ToString();
  EXPECT_EQ(built->Type(1), "float32[3, T]");
}

TEST(Scan, RefusesBadAttributes) {
  AttributeMap axes, directions;
  axes.Set("scan_input_axes", std::vector<int64_t>{5});
  directions.Set("scan_input_directions", std::vector<int64_t>{2});
  EXPECT_EQ(BuildScan(std::move(axes), "[T, 3]")->status.code(), Code::kInvalidArgument);
  EXPECT_EQ(BuildScan(std::move(directions), "[T, 3]")->status.code(), Code::kInvalidArgument);
}

TEST(SequenceMap, MapsElementTypes) {
  Graph graph;
  const ValueId x = graph.AddInput("x", ValueType::Sequence(Float("[N, 3]")));
  const NodeId node = graph.AddNode(Op("SequenceMap"), {x}, 1);
  auto body = std::make_unique<Graph>("body");
  const ValueId item = body->AddInput("item", ValueType());
  body->AddOutput(AddOp(*body, "Transpose", {item}), "out");
  graph.AddRegion(node, "body", std::move(body), {});
  const Status status = InferGraph(graph);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(graph.value(graph.node(node).outputs[0]).type.ToString(), "sequence(float32[3, N])");
}

}  // namespace
}  // namespace asc::testing
