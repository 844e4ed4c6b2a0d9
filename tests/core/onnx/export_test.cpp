#include "core/onnx/export.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/graph/builder.h"
#include "core/graph/infer.h"
#include "core/graph/text.h"
#include "core/onnx/operator_forms.h"
#include "core/ops/registry.h"
#include "tests/core/onnx/onnx_bytes.h"
#include "tests/core/onnx/run_graph.h"

namespace asc::onnx {
namespace {

ValueType Floats(std::vector<Dim> dims) {
  return ValueType::Tensor(DataType::kFloat32, Shape(std::move(dims)));
}

ValueId Add(Graph& graph, std::string_view op, std::vector<ValueId> inputs,
            std::string_view name = "", std::string_view domain = "",
            AttributeMap attributes = {}) {
  NodeSpec spec;
  spec.schema = OpRegistry::Global().Find(domain, op);
  spec.inputs = std::move(inputs);
  spec.attributes = std::move(attributes);
  spec.name = name;
  const Result<NodeId> node = BuildNode(graph, std::move(spec));
  EXPECT_TRUE(node.ok()) << node.status().ToString();
  return node.ok() ? graph.node(*node).outputs[0] : ValueId();
}

std::shared_ptr<Buffer> BufferOf(const std::string& bytes) {
  auto kept = std::make_shared<std::string>(bytes);
  return Buffer::Wrap(
      kept->data(), kept->size(), [kept] {}, true);
}

// What comes back of a graph.
std::unique_ptr<Graph> Again(const Graph& graph, const ExportOptions& options = {}) {
  const Result<std::string> bytes = ExportOnnxBytes(graph, options);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  if (!bytes.ok()) return nullptr;
  Result<std::unique_ptr<Graph>> again = ImportOnnxBytes(BufferOf(*bytes));
  EXPECT_TRUE(again.ok()) << again.status().ToString();
  return again.ok() ? std::move(again).value() : nullptr;
}

TEST(Export, KeepsNamesTypesAndMetadata) {
  Graph graph("net");
  const ValueId x = graph.AddInput("x", Floats({Dim::Symbol("N"), 3, Dim::Unknown()}));
  graph.AddOutput(Add(graph, "Relu", {x}, "act"), "result");
  graph.metadata() = {
      {"author", "someone"}, {"onnx.doc_string", "a net"}, {"onnx.model_version", "7"}};
  const auto again = Again(graph);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->name(), "net");
  EXPECT_EQ(again->value(again->inputs()[0]).name, "x");
  const Shape& shape = again->value(again->inputs()[0]).type.shape;
  EXPECT_EQ(shape[0], Dim::Symbol("N"));
  EXPECT_EQ(shape[1], Dim(3));
  EXPECT_TRUE(shape[2].is_unknown());
  EXPECT_EQ(again->outputs()[0].name, "result");
  EXPECT_EQ(again->node(again->Nodes()[0]).name, "act");
  EXPECT_EQ(again->metadata().at("author"), "someone");
  EXPECT_EQ(again->metadata().at("onnx.doc_string"), "a net");
  EXPECT_EQ(again->metadata().at("onnx.model_version"), "7");
  EXPECT_EQ(again->metadata().at("onnx.producer_name"), "pyasc");
  EXPECT_EQ(again->metadata().at("onnx.opset.ai.onnx"), "13");
}

TEST(Export, OutputsMayBeInputsConstantsAndRepeated) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  const ValueId c = graph.AddConstant("c", Tensor::FromValues<float>({2}, {1, 2}));
  const ValueId y = Add(graph, "Neg", {x}, "y");
  graph.AddOutput(x, "x");
  graph.AddOutput(x, "same");
  graph.AddOutput(c, "c");
  graph.AddOutput(y, "first");
  graph.AddOutput(y, "second");
  const auto again = Again(graph);
  ASSERT_NE(again, nullptr);
  const auto results = RunGraph(*again, {{"x", Tensor::FromValues<float>({2}, {3, 4})}});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), 5u);
  EXPECT_EQ(results->at("x").tensor().data<float>()[0], 3);
  EXPECT_EQ(results->at("same").tensor().data<float>()[1], 4);
  EXPECT_EQ(results->at("c").tensor().data<float>()[1], 2);
  EXPECT_EQ(results->at("first").tensor().data<float>()[0], -3);
  EXPECT_EQ(results->at("second").tensor().data<float>()[1], -4);
}

TEST(Export, OutputTakesTheNameOfAnotherValue) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({1}));
  const ValueId a = Add(graph, "Neg", {x}, "a");
  graph.AddOutput(Add(graph, "Exp", {a}, "b"), "a");
  const auto again = Again(graph);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->outputs()[0].name, "a");
  EXPECT_EQ(again->Producer(again->outputs()[0].value)->schema->name, "Exp");
}

TEST(Export, RefusesAnOutputThatHasAnInputsName) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({1}));
  graph.AddOutput(Add(graph, "Neg", {x}, "a"), "x");
  const Status status = ExportOnnxBytes(graph).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("'x'"), std::string::npos) << status.ToString();
  EXPECT_FALSE(status.hint().empty());
}

TEST(Export, KeepsElementsOfEveryType) {
  for (const DataType type : types::kAll.Types()) {
    SCOPED_TRACE(std::string(DataTypeName(type)));
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{3, 5}}) {
      Tensor tensor = Tensor::Allocate(type, dims).value();
      if (type == DataType::kString) {
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.data<std::string>()[i] = Cat("s", i, std::string(1, '\0'), "\xff");
      } else {
        auto* bytes = static_cast<uint8_t*>(tensor.raw());
        const bool narrow = type == DataType::kBool;
        const bool six = type == DataType::kFloat6E2M3 || type == DataType::kFloat6E3M2;
        for (size_t i = 0; i < tensor.bytes(); ++i)
          bytes[i] = static_cast<uint8_t>((i * 73 + 29) % (narrow ? 2 : six ? 64 : 256));
        // The last byte of packed types may have bits of no element.
        if (IsSubByte(type) && tensor.bytes() > 0) {
          const auto bits = static_cast<unsigned>(tensor.size() * BitWidth(type) % 8);
          if (bits != 0) bytes[tensor.bytes() - 1] &= static_cast<uint8_t>((1u << bits) - 1);
        }
      }
      Graph graph;
      graph.AddOutput(graph.AddConstant("c", tensor), "y");
      const auto again = Again(graph);
      ASSERT_NE(again, nullptr);
      const Tensor* constant =
          again->Constant(again->Nodes().empty() ? again->outputs()[0].value
                                                 : again->node(again->Nodes()[0]).inputs[0]);
      ASSERT_NE(constant, nullptr);
      EXPECT_TRUE(constant->ContentEquals(tensor)) << constant->TypeString();
    }
  }
}

TEST(Export, TakesTheOldestOpsetThatWillDo) {
  const auto opset = [](std::string_view op, DataType type, AttributeMap attributes = {}) {
    Graph graph;
    const ValueId x = graph.AddInput("x", ValueType::Tensor(type, Shape(Dims{2, 4})));
    graph.AddOutput(Add(graph, op, {x}, "y", "", std::move(attributes)), "y");
    return OldestOpset(graph, graph.node(graph.Nodes()[0]));
  };
  const auto with = [](std::string_view name, AttributeValue value) {
    AttributeMap attributes;
    attributes.Set(name, std::move(value));
    return attributes;
  };
  EXPECT_EQ(opset("Identity", DataType::kFloat32), 13);
  EXPECT_EQ(opset("Identity", DataType::kFloat8E5M2), 19);
  EXPECT_EQ(opset("Identity", DataType::kUInt4), 21);
  EXPECT_EQ(opset("Relu", DataType::kFloat32), 13);
  EXPECT_EQ(opset("Relu", DataType::kInt32), 14);
  EXPECT_EQ(opset("Gelu", DataType::kFloat32), 20);
  const auto float_type = static_cast<int64_t>(DataType::kFloat32);
  EXPECT_EQ(opset("Cast", DataType::kInt64, with("to", float_type)), 13);
  AttributeMap narrow = with("to", static_cast<int64_t>(DataType::kFloat8E8M0));
  narrow.Set("round_mode", std::string("down"));
  EXPECT_EQ(opset("Cast", DataType::kFloat32, narrow), 24);
  EXPECT_EQ(opset("Shape", DataType::kFloat32), 13);
  EXPECT_EQ(opset("Shape", DataType::kFloat32, with("start", int64_t{1})), 15);
  EXPECT_EQ(opset("ReduceMax", DataType::kFloat32), 18);
  EXPECT_EQ(opset("ReduceMax", DataType::kBool), 20);
}

TEST(Export, RefusesAnOpsetThatLacksAnOperator) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  graph.AddOutput(Add(graph, "Gelu", {x}, "act"), "y");
  const Status status = ExportOnnxBytes(graph, {.opset = 17}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("too old for Gelu"), std::string::npos) << status.ToString();
  EXPECT_EQ(status.node(), "act");
  EXPECT_EQ(Again(graph, {.opset = 28})->metadata().at("onnx.opset.ai.onnx"), "28");
  EXPECT_FALSE(ExportOnnxBytes(graph, {.opset = 29}).ok());
  EXPECT_FALSE(ExportOnnxBytes(graph, {.opset = 9}).ok());
}

TEST(Export, RegionsUseOuterNamesAndShareBigConstants) {
  Graph graph;
  const ValueId condition = graph.AddInput("c", ValueType::Tensor(DataType::kBool, Shape(Dims{})));
  const ValueId x = graph.AddInput("x", Floats({512}));
  const Tensor big = Tensor::Allocate(DataType::kFloat32, {512}).value();
  std::vector<Region> regions;
  for (const char* name : {"then_branch", "else_branch"}) {
    auto body = std::make_unique<Graph>(name);
    const ValueId inner = body->AddInput("x", Floats({512}));
    const ValueId w = body->AddConstant("w", big);
    const ValueId sum = Add(*body, name[0] == 't' ? "Add" : "Mul", {inner, w}, "y");
    body->AddOutput(name[0] == 't' ? sum : inner, "out");
    regions.push_back({name, std::move(body), {x}});
  }
  NodeSpec spec;
  spec.schema = OpRegistry::Global().Find("", "If");
  spec.inputs = {condition};
  spec.regions = std::move(regions);
  spec.name = "y";
  const auto node = BuildNode(graph, std::move(spec));
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  graph.AddOutput(graph.node(*node).outputs[0], "y");
  const auto bytes = ExportOnnxBytes(graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  EXPECT_LT(bytes->size(), 2 * big.bytes()) << "the constant is there more than once";
  const auto again = ImportOnnxBytes(BufferOf(*bytes));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  const asc::Node& same = (*again)->node((*again)->Nodes()[0]);
  ASSERT_EQ(same.regions.size(), 2u);
  for (const Region& region : same.regions) ASSERT_EQ(region.captures.size(), 1u);
}

TEST(Export, VariablesAreInputsWithADefaultAndOutputs) {
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  const ValueId count = graph.AddVariable("sum", Tensor::FromValues<float>({2}, {1, 1}));
  const ValueId next = Add(graph, "Add", {count, x}, "next");
  Add(graph, "Assign", {count, next}, "store", "asc");
  graph.AddOutput(next, "y");
  const auto bytes = ExportOnnxBytes(graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const auto model = LoadOnnxBytes(BufferOf(*bytes));
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  ASSERT_EQ(model->overridable.size(), 1u);
  EXPECT_EQ(model->overridable[0].name, "sum");
  ASSERT_EQ(model->graph->outputs().size(), 2u);
  EXPECT_EQ(model->graph->outputs()[1].name, "sum_next");
  const auto results = RunGraph(*model->graph, {{"x", Tensor::FromValues<float>({2}, {3, 4})}});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->at("sum_next").tensor().data<float>()[1], 5);
}

TEST(Export, WritesOperatorsOfOtherDomainsAsTheyAre) {
  OpSchema schema = *OpRegistry::Global().Find("", "Relu");
  schema.domain = "com.example";
  schema.name = "ExportedRelu";
  schema.method = "exported_relu";
  schema.since_version = 3;
  ASSERT_TRUE(OpRegistry::Global().Register(std::move(schema)).ok());
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  graph.AddOutput(Add(graph, "ExportedRelu", {x}, "act", "com.example"), "y");
  const auto again = Again(graph);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->node(again->Nodes()[0]).schema->FullName(), "com.example.ExportedRelu");
  EXPECT_EQ(again->metadata().at("onnx.opset.com.example"), "3");
}

TEST(Export, RefusesOperatorsOfADeviceOnly) {
  OpSchema schema = *OpRegistry::Global().Find("", "Relu");
  schema.domain = "asc";
  schema.name = "OfThisDeviceOnly";
  schema.method = "of_this_device_only";
  ASSERT_TRUE(OpRegistry::Global().Register(std::move(schema)).ok());
  Graph graph;
  const ValueId x = graph.AddInput("x", Floats({2}));
  graph.AddOutput(Add(graph, "OfThisDeviceOnly", {x}, "special", "asc"), "y");
  const Status status = ExportOnnxBytes(graph).status();
  EXPECT_EQ(status.code(), Code::kUnsupportedOperator);
  EXPECT_EQ(status.node(), "special");
}

class ExportFile : public ::testing::Test {
 protected:
  ExportFile() {
    std::string name = (std::filesystem::temp_directory_path() / "asc_export_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ExportFile() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

Graph& WithWeights(Graph& graph) {
  Tensor w = Tensor::Allocate(DataType::kFloat32, {64, 16}).value();
  for (int64_t i = 0; i < w.size(); ++i) w.data<float>()[i] = static_cast<float>(i);
  const ValueId x = graph.AddInput("x", Floats({2, 64}));
  const ValueId y = Add(graph, "MatMul", {x, graph.AddConstant("w", w)}, "y");
  const ValueId z = Add(graph, "MatMul", {x, graph.AddConstant("same", w)}, "z");
  graph.AddOutput(Add(graph, "Add", {y, z}, "sum"));
  return graph;
}

TEST_F(ExportFile, KeepsBigWeightsBesideTheModel) {
  Graph graph;
  WithWeights(graph);
  const std::string path = Path("net.onnx");
  ASSERT_TRUE(ExportOnnxFile(graph, path).ok());
  EXPECT_EQ(FileCount(), 1u);
  ASSERT_TRUE(ExportOnnxFile(graph, path, {.external_data_over = 0}).ok());
  EXPECT_EQ(FileCount(), 2u);
  EXPECT_EQ(std::filesystem::file_size(path + ".data"), 64u * 16 * 4)
      << "shared weights are there once";
  EXPECT_LT(std::filesystem::file_size(path), 1024u);
  const auto again = ImportOnnxFile(path);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  const ValueId w = (*again)->FindValue("w");
  ASSERT_TRUE(w.valid());
  EXPECT_EQ((*again)->value(w).constant.data<float>()[100], 100);
}

TEST_F(ExportFile, LeavesWhatWasThereWhenItFails) {
  Graph graph;
  WithWeights(graph);
  const Status nowhere = ExportOnnxFile(graph, Path("no_such_folder/net.onnx"));
  EXPECT_EQ(nowhere.code(), Code::kIo);
  std::filesystem::create_directory(Path("folder.onnx"));
  std::ofstream(Path("folder.onnx/file")) << "here";
  const Status folder = ExportOnnxFile(graph, Path("folder.onnx"));
  EXPECT_EQ(folder.code(), Code::kIo);
  EXPECT_NE(folder.message().find("folder.onnx"), std::string::npos);
  EXPECT_EQ(FileCount(), 1u) << "something is left over";
}

}  // namespace
}  // namespace asc::onnx
