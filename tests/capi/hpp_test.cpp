// The C++ face of the ABI.
#include <gtest/gtest.h>

#include "asc/asc.hpp"

namespace {

asc::Graph ReluGraph() {
  asc::Graph graph("relu");
  const asc_value_id x = graph.Input("x", asc::Type::Tensor(ASC_FLOAT32, {"N", "2"}));
  graph.Output(graph.Add("relu", {x}), "y");
  return graph;
}

class HppTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(asc_handle_count(), before_); }
  const int64_t before_ = asc_handle_count();
};

TEST_F(HppTest, BuildsCompilesAndRuns) {
  const asc::Session session =
      asc::Session::Compile(ReluGraph(), "cpu", asc::CompileOptions().Set("threads", 1));
  ASSERT_EQ(session.Inputs().size(), 1u);
  EXPECT_EQ(session.Inputs()[0].name, "x");
  EXPECT_EQ(session.Inputs()[0].type.ToString(), "float32[N, 2]");
  EXPECT_EQ(session.Outputs()[0].name, "y");
  const asc::Value x = asc::Value::Tensor<float>({1, 2}, {-1, 2});
  const std::vector<asc::Value> y = session.Run({x});
  EXPECT_EQ(y[0].Shape(), (asc::Dims{1, 2}));
  EXPECT_EQ(y[0].Data<float>()[0], 0);
  EXPECT_EQ(y[0].Data<float>()[1], 2);
  EXPECT_THROW(y[0].Data<double>(), std::invalid_argument);
  EXPECT_EQ(session.RunAsync({x}).Wait()[0].Count(), 2u);
  EXPECT_NE(session.Summary().find("Relu"), std::string::npos);
}

// y = x * scale, reshaped to target, which both have defaults.
TEST_F(HppTest, InputsWithADefaultMayFollow) {
  const asc::Session session = asc::Session::LoadFile(TEST_DATA "/scaled.onnx");
  ASSERT_EQ(session.Overridable().size(), 2u);
  EXPECT_EQ(session.Overridable()[0].name, "scale");
  const asc::Value x = asc::Value::Tensor<float>({4}, {1, 2, 3, 4});
  EXPECT_EQ(session.Run({x})[0].Data<float>()[3], 8);
  const asc::Value target = asc::Value::Tensor<int64_t>({2}, {4, 1});
  EXPECT_EQ(session.Run({x, asc::Value(), target})[0].Shape(), (asc::Dims{4, 1}));
}

TEST_F(HppTest, FailuresAreExceptions) {
  const asc::Session session = asc::Session::Compile(ReluGraph());
  try {
    session.Run({asc::Value::Tensor<float>({1, 3}, {1, 2, 3})});
    FAIL() << "no exception";
  } catch (const asc::Error& error) {
    EXPECT_EQ(error.code(), ASC_SHAPE_MISMATCH);
    EXPECT_NE(std::string(error.what()).find("E5001"), std::string::npos);
    EXPECT_NE(error.message().find("'x'"), std::string::npos);
  }
  EXPECT_THROW(asc::Session::LoadFile("nowhere.onnx"), asc::Error);
  EXPECT_THROW(asc::Graph().Add("rellu", {}), asc::Error);
  asc::CancelToken token;
  token.Cancel();
  EXPECT_THROW(session.Run({asc::Value::Tensor<float>({1, 2}, {1, 2})},
                           asc::RunOptions().SetCancelToken(token)),
               asc::Error);
}

TEST_F(HppTest, ValuesOfEveryKind) {
  const asc::Value strings = asc::Value::Strings({2}, {"a", "b"});
  EXPECT_EQ(strings.String(1), "b");
  asc::Value tensor = asc::Value::Tensor(ASC_INT64, {2});
  tensor.MutableData<int64_t>()[1] = 7;
  const asc::Value sequence = asc::Value::Sequence({tensor, tensor});
  EXPECT_EQ(sequence.Kind(), ASC_SEQUENCE);
  EXPECT_EQ(sequence.Item(1).Data<int64_t>()[1], 7);
  EXPECT_EQ(asc::Value::Optional(asc::Value()).Count(), 0u);
  EXPECT_EQ(asc::Value::Optional(tensor).Count(), 1u);
}

TEST_F(HppTest, HandlesAreSharedAndMoved) {
  asc::Value a = asc::Value::Tensor(ASC_INT8, {1});
  asc::Value b = a;
  EXPECT_EQ(a.get(), b.get());
  const asc::Value c = std::move(a);
  EXPECT_FALSE(a);  // NOLINT: that is what is tested
  b = asc::Value();
  EXPECT_EQ(c.Count(), 1u);
}

TEST_F(HppTest, AttributesAndVariables) {
  asc::Graph graph;
  const asc_value_id v = graph.Variable(asc::Value::Tensor<float>({2, 2}, {1, 2, 3, 4}), "v");
  graph.Output(graph.Add("softmax", {v}, asc::Attributes().Set("dim", 0)), "y");
  graph.Output(
      graph.Add("transpose", {v}, asc::Attributes().Set("perm", std::vector<int64_t>{1, 0})), "t");
  const asc::Session session = asc::Session::Compile(graph);
  session.SetVariable("v", asc::Value::Tensor<float>({2, 2}, {0, 5, 0, 6}));
  EXPECT_EQ(session.GetVariable("v").Data<float>()[3], 6);
  const std::vector<asc::Value> results = session.Run({});
  EXPECT_EQ(results[0].Data<float>()[0], 0.5f);
  EXPECT_EQ(results[1].Data<float>()[2], 5);
  EXPECT_NE(graph.ToText().find("Softmax"), std::string::npos);
}

TEST_F(HppTest, GraphsGoOutAsOnnx) {
  asc::Graph graph;
  graph.Output(graph.Add("gelu", {graph.Variable(asc::Value::Tensor<float>({2}, {1, 2}), "v")}),
               "y");
  const asc::Value model = graph.ExportBytes(asc::ExportOptions().Set("opset", 21));
  EXPECT_GT(model.Data<uint8_t>()[0], 0);
  EXPECT_THROW(graph.ExportBytes(asc::ExportOptions().Set("opset", 13)), asc::Error);
  EXPECT_THROW(graph.Export("/no/such/folder/model.onnx"), asc::Error);
  const asc::Session session = asc::Session::Compile(graph);
  EXPECT_NE(session.SourceGraph().ToText().find("Gelu"), std::string::npos);
  EXPECT_FALSE(session.OptimizedGraph().ToText().empty());
}

TEST_F(HppTest, ProfilersSeeRuns) {
  asc::Graph graph;
  graph.Output(graph.Add("tanh", {graph.Variable(asc::Value::Tensor<float>({2}, {1, 2}), "v")}),
               "y");
  const asc::Session session = asc::Session::Compile(graph);
  const asc::Profiler profiler = asc::Profiler::Make();
  profiler.SetPeaks(1e9, 1e9);
  EXPECT_THROW(profiler.Stop(), asc::Error);
  profiler.Start();
  session.Run({});
  profiler.Stop();
  EXPECT_NE(profiler.Report().find("\"operator\":\"Tanh\""), std::string::npos);
  EXPECT_NE(profiler.Trace().find("\"cat\":\"step\""), std::string::npos);
}

}  // namespace
