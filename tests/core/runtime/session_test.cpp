#include "core/runtime/session.h"

#include <gtest/gtest.h>

#include <set>

#include "core/graph/builder.h"
#include "core/ops/registry.h"
#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
Tensor F32(const Dims& dims, std::initializer_list<float> values) { return Tensor::FromValues<float>(dims, values); }

ValueId Add(Graph& graph, std::string_view op, std::vector<ValueId> inputs) {
  NodeSpec spec;
  spec.schema = OpRegistry::Global().Find("", op);
  spec.inputs = std::move(inputs);
  Result<NodeId> node = BuildNode(graph, std::move(spec));
  EXPECT_TRUE(node.ok()) << node.status().ToString();
  return graph.node(*node).outputs[0];
}

std::shared_ptr<Session> Compile(std::unique_ptr<Graph> graph, CompileOptions options = {}) {
  Result<Device*> device = FindDevice("cpu");
  Result<std::shared_ptr<Executable>> executable = Executable::Compile(std::move(graph), **device, options);
  EXPECT_TRUE(executable.ok()) << executable.status().ToString();
  return Session::Create(*executable).value();
}

TEST(Session, RunsAChain) {
  auto graph = std::make_unique<Graph>();
  const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim::Symbol("N")})));
  graph->AddOutput(Add(*graph, "Relu", {Add(*graph, "Exp", {x})}), "y");
  const auto session = Compile(std::move(graph));
  for (int n = 1; n < 4; ++n) {
    const auto outputs = session->Run({F32({2}, {0.0f, 0.0f})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    EXPECT_EQ((*outputs)[0].tensor().data<float>()[1], 1.0f);
  }
  EXPECT_EQ(session->executable().plans_made(), 1);
}

TEST(Session, OutputThatIsAnInputIsACopy) {
  auto graph = std::make_unique<Graph>();
  const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim(2)})));
  graph->AddOutput(x, "same");
  graph->AddOutput(Add(*graph, "Relu", {x}), "y");
  const auto session = Compile(std::move(graph));
  const Tensor input = F32({2}, {-1.0f, 2.0f});
  const auto outputs = session->Run({input});
  ASSERT_TRUE(outputs.ok());
  EXPECT_NE((*outputs)[0].tensor().raw(), input.raw());
  EXPECT_TRUE((*outputs)[0].tensor().ContentEquals(input));
  EXPECT_EQ((*outputs)[1].tensor().data<float>()[0], 0.0f);
}

// Tensors of a caller that pass through in a sequence are copied; so are those that two outputs hold.
TEST(Session, SequencesShareNoMemoryWithInputsOrEachOther) {
  const auto session = testing::MakeSession(R"(graph "main" {
    input %s: sequence(float32[*])
    input %x: float32[2]
    %longer: sequence(float32[*]) = SequenceInsert "insert" (%s, %x)
    output "longer" = %longer
    output "same" = %s
  })");
  const Tensor item = F32({2}, {1, 2}), x = F32({2}, {3, 4});
  const AnyValue given = AnyValue::MakeSequence({item});
  const auto out = session->Run({given, x});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  std::set<const void*> memory = {item.raw(), x.raw()};
  std::vector<float> firsts;
  for (const AnyValue& output : *out) {
    for (const AnyValue& part : output.sequence()) {
      EXPECT_TRUE(memory.insert(part.tensor().raw()).second) << "output shares memory";
      firsts.push_back(part.tensor().data<float>()[0]);
    }
  }
  EXPECT_EQ(firsts, (std::vector<float>{1, 3, 1}));
  EXPECT_EQ(given.sequence()[0].tensor().raw(), item.raw());  // what the caller holds stays as it is
}

TEST(Session, OptionalsShareNoMemoryWithInputs) {
  const auto session = testing::MakeSession(R"(graph "main" {
    input %o: optional(float32[*])
    output "same" = %o
  })");
  const Tensor held = F32({2}, {1, 2});
  const auto out = session->Run({AnyValue::MakeOptional(held)});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  const Tensor& got = (*out)[0].optional_value().tensor();
  EXPECT_TRUE(got.ContentEquals(held));
  EXPECT_NE(got.raw(), held.raw());
  EXPECT_TRUE((*session->Run({AnyValue::None()}))[0].is_none());
}

TEST(Session, RefusesWrongInputsByName) {
  auto graph = std::make_unique<Graph>();
  const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim(2), Dim::Symbol("N")})));
  graph->AddOutput(Add(*graph, "Relu", {x}), "y");
  const auto session = Compile(std::move(graph));
  const auto wrong_shape = session->Run({F32({3, 1}, {1, 2, 3})});
  EXPECT_EQ(wrong_shape.status().code(), Code::kShapeMismatch);
  EXPECT_NE(wrong_shape.status().message().find("'x'"), std::string::npos);
  const auto wrong_type = session->Run({Tensor::FromValues<int32_t>({2, 1}, {1, 2})});
  EXPECT_EQ(wrong_type.status().code(), Code::kTypeMismatch);
  EXPECT_TRUE(session->Run({F32({2, 1}, {1, 2})}).ok());
}

// Kernels trust element types: what is inside sequences, optionals and maps is checked like plain tensors.
TEST(Session, RefusesItemsOfWrongTypesByName) {
  const auto session = testing::MakeSession(R"(graph "main" {
    input %s: sequence(float32[*])
    input %o: optional(float32[*])
    output "s" = %s
    output "o" = %o
  })");
  const Tensor good = F32({1}, {1}), bad = Tensor::FromValues<double>({1}, {1});
  EXPECT_TRUE(session->Run({AnyValue::MakeSequence({good}), good}).ok());
  for (const auto& [sequence, optional] : {std::pair(AnyValue::MakeSequence({good, bad}), AnyValue(good)),
                                           std::pair(AnyValue::MakeSequence({AnyValue::MakeSequence({good})}), AnyValue(good)),
                                           std::pair(AnyValue::MakeSequence({good}), AnyValue(bad)),
                                           std::pair(AnyValue::MakeSequence({good}), AnyValue::MakeOptional(bad))}) {
    const auto out = session->Run({sequence, optional});
    EXPECT_EQ(out.status().code(), Code::kTypeMismatch) << out.status().ToString();
    EXPECT_NE(out.status().message().find("input '"), std::string::npos);
  }
}

TEST(Session, AsynchronousRunsKeepTheirInputsAndCanBeCancelled) {
  auto graph = std::make_unique<Graph>();
  const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim(1)})));
  graph->AddOutput(Add(*graph, "Relu", {x}), "y");
  const auto session = Compile(std::move(graph));
  std::vector<Future> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(session->RunAsync({F32({1}, {static_cast<float>(i)})}));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(futures[i].Wait().ok());
    EXPECT_EQ((*futures[i].Wait())[0].tensor().data<float>()[0], static_cast<float>(i));
  }
  RunOptions options;
  options.cancel = std::make_shared<CancelToken>();
  options.cancel->Cancel();
  EXPECT_EQ(session->RunAsync({F32({1}, {1})}, options).Wait().status().code(), Code::kCancelled);
  EXPECT_TRUE(session->Run({F32({1}, {1})}).ok());
}
}  // namespace
}  // namespace asc
