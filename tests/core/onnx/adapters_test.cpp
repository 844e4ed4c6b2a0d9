// Older forms of operators give what their definition of the time says.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/onnx/onnx_bytes.h"
#include "tests/core/onnx/run_graph.h"

namespace asc::onnx {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

Tensor F32(const Dims& dims, const Floats& values) {
  return Tensor::FromValues<float>(dims, std::span<const float>(values));
}

struct Case {
  std::string op;
  int64_t opset;
  std::vector<Message> attributes = {};
  std::vector<Tensor> inputs = {};         // x0, x1, ...
  std::vector<Message> initializers = {};  // further inputs of the node, by their names
  Names more_inputs = {};                  // names of these, in order
  size_t outputs = 1;
};

// Imports a model of one node and runs it.
std::vector<Tensor> RunOld(const Case& test) {
  GraphParts parts;
  Names inputs, outputs;
  std::map<std::string, AnyValue> given;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const std::string name = Cat("x", i);
    Names dims;
    for (const int64_t dim : test.inputs[i].dims()) dims.push_back(Cat(dim));
    parts.inputs.push_back(ValueInfo(name, TensorType(test.inputs[i].dtype(), dims)));
    inputs.push_back(name);
    given[name] = test.inputs[i];
  }
  inputs.insert(inputs.end(), test.more_inputs.begin(), test.more_inputs.end());
  for (size_t i = 0; i < test.outputs; ++i) {
    outputs.push_back(Cat("y", i));
    parts.outputs.push_back(ValueInfo(outputs.back(), ""));
  }
  parts.initializers = test.initializers;
  parts.nodes = {Node(test.op, inputs, outputs, test.attributes, "old")};
  const auto graph = Import(parts, {.opset = test.opset, .ir_version = 4});
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().ToString();
    return std::vector<Tensor>(test.outputs);
  }
  for (const NodeId id : (*graph)->Nodes()) {
    EXPECT_EQ((*graph)->node(id).OriginText(), "old");
  }
  const auto results = RunGraph(**graph, given);
  if (!results.ok()) {
    ADD_FAILURE() << results.status().ToString();
    return std::vector<Tensor>(test.outputs);
  }
  std::vector<Tensor> tensors;
  for (const std::string& name : outputs) tensors.push_back(results->at(name).tensor());
  return tensors;
}

void ExpectFloats(const Tensor& got, const Dims& dims, const Floats& want) {
  ASSERT_TRUE(got.defined());
  ASSERT_EQ(got.dtype(), DataType::kFloat32);
  EXPECT_EQ(ToString(got.dims()), ToString(dims));
  ASSERT_EQ(static_cast<size_t>(got.size()), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got.data<float>()[i], want[i], 1e-5f) << "element " << i;
  }
}

Status Refusal(const Case& test) {
  GraphParts parts;
  Names inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    inputs.push_back(Cat("x", i));
    parts.inputs.push_back(ValueInfo(inputs.back(), TensorType(test.inputs[i].dtype())));
  }
  parts.outputs = {ValueInfo("y", "")};
  parts.nodes = {Node(test.op, inputs, {"y"}, test.attributes, "old")};
  return Import(parts, {.opset = test.opset}).status();
}

// ---- element-wise ----
TEST(Adapters, AddOfOpset6AlignsFromItsAxis) {
  const Tensor a = F32({2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor b = F32({2}, {1, 2});
  const auto y = RunOld({"Add", 6, {Attr("broadcast", 1), Attr("axis", 0)}, {a, b}});
  ExpectFloats(y[0], {2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2});
  const auto z = RunOld({"Add", 6, {Attr("broadcast", 1), Attr("axis", 1)}, {a, b}});
  ExpectFloats(z[0], {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2});
  const auto suffix = RunOld({"Add", 6, {Attr("broadcast", 1)}, {a, b}});
  ExpectFloats(suffix[0], {2, 2, 2}, {1, 2, 1, 2, 1, 2, 1, 2});
}

TEST(Adapters, ConsumedInputsAreDropped) {
  const auto y = RunOld({"Relu", 1, {Attr("consumed_inputs", Ints{0})}, {F32({2}, {-1, 2})}});
  ExpectFloats(y[0], {2}, {0, 2});
}

TEST(Adapters, CastOfOpset1NamesItsType) {
  const auto y = RunOld({"Cast", 1, {Attr("to", "INT32")}, {F32({2}, {1.5f, -1.5f})}});
  ASSERT_EQ(y[0].dtype(), DataType::kInt32);
  EXPECT_EQ(y[0].data<int32_t>()[1], -1);
  const Status status = Refusal({"Cast", 1, {Attr("to", "INTEGER")}, {F32({2}, {1, 2})}});
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_EQ(status.node(), "old");
}

TEST(Adapters, ClipBoundsBecomeInputsOfTheDataType) {
  ExpectFloats(
      RunOld({"Clip", 6, {Attr("min", -1.0f), Attr("max", 1.0f)}, {F32({3}, {-5, 0, 5})}})[0], {3},
      {-1, 0, 1});
  ExpectFloats(RunOld({"Clip", 6, {Attr("max", 1.0f)}, {F32({3}, {-5, 0, 5})}})[0], {3},
               {-5, 0, 1});
  const auto y =
      RunOld({"Clip", 6, {Attr("min", 0.0f)}, {Tensor::FromValues<double>({2}, {-1, 3})}});
  EXPECT_EQ(y[0].dtype(), DataType::kFloat64);
}

TEST(Adapters, SeluOfOpset1HasItsOwnConstants) {
  ExpectFloats(RunOld({"Selu", 1, {}, {F32({1}, {1})}})[0], {1}, {1.0507f});
}

TEST(Adapters, PReluOfOpset6HasASlopeForEachChannel) {
  const Tensor x = F32({1, 2, 2, 1}, {-1, -1, -1, -1});
  ExpectFloats(RunOld({"PRelu", 6, {}, {x, F32({2}, {0.5f, 2})}})[0], {1, 2, 2, 1},
               {-0.5f, -0.5f, -2, -2});
  ExpectFloats(RunOld({"PRelu", 6, {}, {x, F32({1}, {3})}})[0], {1, 2, 2, 1}, {-3, -3, -3, -3});
}

// ---- shapes ----
TEST(Adapters, SqueezeAndUnsqueezeAxesBecomeInputs) {
  EXPECT_EQ(
      ToString(
          RunOld({"Squeeze", 11, {Attr("axes", Ints{0, -1})}, {F32({1, 2, 1}, {1, 2})}})[0].dims()),
      "[2]");
  EXPECT_EQ(ToString(RunOld({"Squeeze", 1, {}, {F32({1, 2, 1}, {1, 2})}})[0].dims()), "[2]");
  EXPECT_EQ(
      ToString(RunOld({"Unsqueeze", 1, {Attr("axes", Ints{0, 2})}, {F32({2}, {1, 2})}})[0].dims()),
      "[1, 2, 1]");
}

TEST(Adapters, ReshapeOfOpset1HasItsShapeAsAttribute) {
  const auto y =
      RunOld({"Reshape", 1, {Attr("shape", Ints{0, -1})}, {F32({2, 1, 2}, {1, 2, 3, 4})}});
  EXPECT_EQ(ToString(y[0].dims()), "[2, 2]");
  EXPECT_EQ(Refusal({"Reshape", 1, {}, {F32({1}, {1})}}).code(), Code::kInvalidModel);
}

TEST(Adapters, SliceOfOpset1HasAttributes) {
  const Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectFloats(RunOld({"Slice",
                       1,
                       {Attr("starts", Ints{1}), Attr("ends", Ints{1000}), Attr("axes", Ints{1})},
                       {x}})[0],
               {2, 2}, {2, 3, 5, 6});
  ExpectFloats(
      RunOld({"Slice", 9, {Attr("starts", Ints{0, -1}), Attr("ends", Ints{1, 3})}, {x}})[0], {1, 1},
      {3});
}

TEST(Adapters, ConcatOfOpset1JoinsOnAxis1) {
  const Tensor x = F32({2, 1}, {1, 2});
  ExpectFloats(RunOld({"Concat", 1, {}, {x, x}})[0], {2, 2}, {1, 1, 2, 2});
}

TEST(Adapters, PadAttributesBecomeInputs) {
  const Tensor x = F32({2}, {1, 2});
  ExpectFloats(RunOld({"Pad", 1, {Attr("paddings", Ints{1, 0}), Attr("value", 9.0f)}, {x}})[0], {3},
               {9, 1, 2});
  ExpectFloats(RunOld({"Pad", 2, {Attr("pads", Ints{0, 1})}, {x}})[0], {3}, {1, 2, 0});
}

TEST(Adapters, SplitSizes) {
  const Tensor x = F32({4}, {1, 2, 3, 4});
  auto y = RunOld({.op = "Split",
                   .opset = 2,
                   .attributes = {Attr("split", Ints{1, 3})},
                   .inputs = {x},
                   .outputs = 2});
  ExpectFloats(y[1], {3}, {2, 3, 4});
  y = RunOld({.op = "Split", .opset = 11, .inputs = {x}, .outputs = 2});
  ExpectFloats(y[1], {2}, {3, 4});
  y = RunOld({.op = "Split", .opset = 13, .inputs = {x}, .outputs = 2});
  ExpectFloats(y[0], {2}, {1, 2});
  y = RunOld({.op = "Split",
              .opset = 1,
              .inputs = {x},
              .initializers = {RawTensor<int64_t>("s", {2}, {3, 1})},
              .more_inputs = {"s"},
              .outputs = 2});
  ExpectFloats(y[1], {1}, {4});
}

TEST(Adapters, TileOfOpset1RepeatsOneAxis) {
  const auto y = RunOld(
      {.op = "Tile",
       .opset = 1,
       .inputs = {F32({1, 2}, {1, 2})},
       .initializers = {RawTensor<int64_t>("tiles", {}, {2}), RawTensor<int64_t>("axis", {}, {1})},
       .more_inputs = {"tiles", "axis"}});
  ExpectFloats(y[0], {1, 4}, {1, 2, 1, 2});
}

// ---- normalisation ----
TEST(Adapters, SoftmaxOfOpset11GoesOverAllLaterAxes) {
  const Tensor x = F32({1, 2, 2}, {0, 0, 0, 0});
  ExpectFloats(RunOld({"Softmax", 11, {}, {x}})[0], {1, 2, 2}, {0.25f, 0.25f, 0.25f, 0.25f});
  ExpectFloats(RunOld({"Softmax", 11, {Attr("axis", 2)}, {x}})[0], {1, 2, 2},
               {0.5f, 0.5f, 0.5f, 0.5f});
  ExpectFloats(RunOld({"Softmax", 11, {Attr("axis", -2)}, {x}})[0], {1, 2, 2},
               {0.25f, 0.25f, 0.25f, 0.25f});
  ExpectFloats(RunOld({"LogSoftmax", 1, {}, {x}})[0], {1, 2, 2}, Floats(4, std::log(0.25f)));
  ExpectFloats(RunOld({"Hardmax", 11, {Attr("axis", 0)}, {x}})[0], {1, 2, 2}, {1, 0, 0, 0});
  // One axis with ones behind it is that axis.
  ExpectFloats(RunOld({"Softmax", 1, {}, {F32({1, 2, 1}, {0, 0})}})[0], {1, 2, 1}, {0.5f, 0.5f});
  ExpectFloats(RunOld({"Softmax", 11, {}, {F32({0, 2, 3}, {})}})[0], {0, 2, 3}, {});
}

TEST(Adapters, SoftmaxKeepsSymbolicShapes) {
  const auto graph = Import(GraphParts{.nodes = {Node("Softmax", {"x"}, {"y"})},
                                       .inputs = {Float("x", {"N", "C", "L"})},
                                       .outputs = {ValueInfo("y", "")}},
                            {.opset = 11});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->value((*graph)->outputs()[0].value).type.ToString(), "float32[N, C, L]");
}

TEST(Adapters, BatchNormalizationOfAllVersions) {
  const Tensor x = F32({1, 2, 2}, {1, 2, 3, 4});
  const Tensor ones = F32({2}, {1, 1}), zeros = F32({2}, {0, 0}), mean = F32({2}, {1, 3});
  const std::vector<Tensor> inputs = {x, ones, zeros, mean, ones};
  const Message epsilon = Attr("epsilon", 0.0f);
  const Floats want = {0, 1, 0, 1};
  ExpectFloats(RunOld({"BatchNormalization",
                       1,
                       {epsilon, Attr("is_test", 1), Attr("consumed_inputs", Ints{0, 0, 0, 1, 1})},
                       inputs})[0],
               {1, 2, 2}, want);
  ExpectFloats(
      RunOld(
          {"BatchNormalization", 6, {epsilon, Attr("is_test", 1), Attr("spatial", 1)}, inputs})[0],
      {1, 2, 2}, want);
  ExpectFloats(RunOld({"BatchNormalization", 7, {epsilon}, inputs})[0], {1, 2, 2}, want);
  ExpectFloats(RunOld({"BatchNormalization", 9, {epsilon}, inputs})[0], {1, 2, 2}, want);
  const Tensor each = F32({2, 2}, {1, 1, 1, 1}), none = F32({2, 2}, {0, 0, 0, 0});
  ExpectFloats(RunOld({"BatchNormalization",
                       7,
                       {epsilon, Attr("spatial", 0)},
                       {x, each, none, F32({2, 2}, {1, 1, 1, 2}), each}})[0],
               {1, 2, 2}, {0, 1, 2, 2});
}

TEST(Adapters, GemmOfOpset6) {
  const Tensor a = F32({1, 2}, {1, 2}), b = F32({2, 1}, {3, 4}), c = F32({1}, {5});
  ExpectFloats(RunOld({"Gemm", 6, {Attr("broadcast", 1)}, {a, b, c}})[0], {1, 1}, {16});
}

TEST(Adapters, LpPoolOfOpset1HasAFloatingP) {
  ExpectFloats(RunOld({"GlobalLpPool", 1, {Attr("p", 2.0f)}, {F32({1, 1, 2}, {3, 4})}})[0],
               {1, 1, 1}, {5});
  EXPECT_EQ(Refusal({"GlobalLpPool", 1, {Attr("p", 2.5f)}, {F32({1, 1, 2}, {3, 4})}}).code(),
            Code::kInvalidModel);
}

// ---- reductions ----
TEST(Adapters, ReductionAxesBecomeInputs) {
  const Tensor x = F32({2, 2}, {1, 2, 3, 4});
  ExpectFloats(RunOld({"ReduceSum", 11, {Attr("axes", Ints{1}), Attr("keepdims", 0)}, {x}})[0], {2},
               {3, 7});
  ExpectFloats(RunOld({"ReduceMean", 13, {Attr("axes", Ints{-2})}, {x}})[0], {1, 2}, {2, 3});
  ExpectFloats(RunOld({"ReduceMax", 17, {}, {x}})[0], {1, 1}, {4});
  ExpectFloats(RunOld({"ReduceMin", 1, {Attr("axes", Ints{})}, {x}})[0], {1, 1}, {1});
}

TEST(Adapters, TopKOfOpset1HasItsCountAsAttribute) {
  const auto y = RunOld({.op = "TopK",
                         .opset = 1,
                         .attributes = {Attr("k", 2)},
                         .inputs = {F32({3}, {1, 3, 2})},
                         .outputs = 2});
  ExpectFloats(y[0], {2}, {3, 2});
}

// ---- resize ----
TEST(Adapters, UpsampleOfAllVersions) {
  const Tensor x = F32({1, 1, 1, 2}, {1, 2});
  const Floats want = {1, 1, 2, 2};
  ExpectFloats(
      RunOld({"Upsample", 1, {Attr("height_scale", 1.0f), Attr("width_scale", 2.0f)}, {x}})[0],
      {1, 1, 1, 4}, want);
  ExpectFloats(RunOld({"Upsample", 7, {Attr("scales", Floats{1, 1, 1, 2})}, {x}})[0], {1, 1, 1, 4},
               want);
  const Message scales = RawTensor<float>("s", {4}, {1, 1, 1, 2});
  ExpectFloats(RunOld({.op = "Upsample",
                       .opset = 9,
                       .inputs = {x},
                       .initializers = {scales},
                       .more_inputs = {"s"}})[0],
               {1, 1, 1, 4}, want);
  ExpectFloats(RunOld({.op = "Resize",
                       .opset = 10,
                       .attributes = {Attr("mode", "linear")},
                       .inputs = {x},
                       .initializers = {scales},
                       .more_inputs = {"s"}})[0],
               {1, 1, 1, 4}, {1, 1.5f, 2, 2});
}

TEST(Adapters, ResizeOfOpset10RoundsUpWhereItShrinks) {
  const Tensor x = F32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto resize = [&](const Floats& scales) {
    return RunOld({.op = "Resize",
                   .opset = 10,
                   .inputs = {x},
                   .initializers = {RawTensor<float>("s", {4}, scales)},
                   .more_inputs = {"s"}})[0];
  };
  ExpectFloats(resize({1, 1, 0.6f, 0.6f}), {1, 1, 1, 2}, {1, 3});
  ExpectFloats(resize({1, 1, 2, 0.6f}), {1, 1, 4, 2}, {1, 3, 1, 3, 5, 7, 5, 7});
}

// ---- what has more than one output, or none to compare with ----
TEST(Adapters, DropoutIsInferenceUnlessItWasTrained) {
  const Tensor x = F32({2}, {1, 2});
  ExpectFloats(RunOld({"Dropout", 1, {Attr("is_test", 1), Attr("ratio", 0.9f)}, {x}})[0], {2},
               {1, 2});
  ExpectFloats(RunOld({"Dropout", 10, {Attr("ratio", 0.9f)}, {x}})[0], {2}, {1, 2});
  const auto y = RunOld({.op = "Dropout", .opset = 7, .inputs = {x}, .outputs = 2});
  ExpectFloats(y[1], {2}, {1, 1});  // the mask had the data's type
}

TEST(Adapters, GroupNormalizationOfOpset18HasParametersForGroups) {
  // Two groups of two channels.
  const Tensor x = F32({1, 4, 1}, {-1, 1, -1, 1});
  const auto y = RunOld({"GroupNormalization",
                         18,
                         {Attr("num_groups", 2), Attr("epsilon", 0.0f)},
                         {x, F32({2}, {1, 3}), F32({2}, {0, 10})}});
  ExpectFloats(y[0], {1, 4, 1}, {-1, 1, 7, 13});
}

TEST(Adapters, BatchedScanBecomesTwo) {
  const Message body = GraphMessage({.nodes = {Node("Add", {"s", "v"}, {"t"})},
                                     .inputs = {Float("s", {"2"}), Float("v", {"2"})},
                                     .outputs = {ValueInfo("t", ""), ValueInfo("t", "")}});
  const auto graph =
      Import(GraphParts{.nodes = {Node("Scan", {"", "init", "x"}, {"final", "all"},
                                       {GraphAttr("body", body), Attr("num_scan_inputs", 1),
                                        Attr("directions", Ints{1})},
                                       "scan")},
                        .inputs = {Float("init", {"B", "2"}), Float("x", {"B", "T", "2"})},
                        .outputs = {ValueInfo("final", ""), ValueInfo("all", "")}},
             {.opset = 8});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto type = [&](const char* name) {
    return (*graph)->value((*graph)->FindValue(name)).type.ToString();
  };
  EXPECT_EQ(type("final"), "float32[B, 2]");
  EXPECT_EQ(type("all"), "float32[B, T, 2]");
  const auto& outer = (*graph)->node((*graph)->FindNode("scan"));
  EXPECT_EQ(outer.attributes.Int("num_scan_inputs", 0), 2);
  const Graph& batch = *outer.regions.at(0).graph;
  const auto& inner = batch.node(batch.Nodes().at(0));
  EXPECT_EQ(inner.schema->name, "Scan");
  EXPECT_EQ(inner.attributes.Ints("scan_input_directions"), Ints{1});
}

}  // namespace
}  // namespace asc::onnx
