// Variables keep their contents from run to run, are written in place and in order; random numbers are counter-based.
#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
using testing::ExpectFloats;
using testing::F32;
using testing::MakeSession;

// Adds x to a counter; gives the old and the new contents.
std::unique_ptr<Graph> CounterGraph() {
  auto graph = std::make_unique<Graph>();
  const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim(2)})));
  const ValueId counter = graph->AddVariable("counter", F32({2}, {10, 20}));
  const OpRegistry& registry = OpRegistry::Global();
  const NodeId add = graph->AddNode(registry.Find("", "Add"), {counter, x}, 1);
  const NodeId assign = graph->AddNode(registry.Find("asc", "Assign"), {counter, graph->node(add).outputs[0]}, 1);
  // Reads the old version: must run before the write, although it was built after it.
  const NodeId before = graph->AddNode(registry.Find("", "Neg"), {counter}, 1);
  graph->AddOutput(graph->node(before).outputs[0], "negated_before");
  graph->AddOutput(graph->node(assign).outputs[0], "after");
  graph->AddOutput(counter, "before");
  return graph;
}

std::shared_ptr<Session> CounterSession(int level) {
  InstallHostKernels();
  CompileOptions options;
  options.graph_opt_level = level;
  auto executable = Executable::Compile(CounterGraph(), **FindDevice("cpu"), options);
  EXPECT_TRUE(executable.ok()) << executable.status().ToString();
  return Session::Create(*executable).value();
}

TEST(Variables, LiveFromRunToRunAndKeepTheOrderOfReadsAndWrites) {
  for (const int level : {0, 3}) {
    const auto session = CounterSession(level);
    for (int run = 0; run < 3; ++run) {
      const auto out = session->Run({F32({2}, {1, 2})});
      ASSERT_TRUE(out.ok()) << out.status().ToString();
      const float a = 10.0f + static_cast<float>(run), b = 20.0f + 2.0f * static_cast<float>(run);
      ExpectFloats((*out)[0], {2}, {-a, -b});
      ExpectFloats((*out)[1], {2}, {a + 1, b + 2});
      ExpectFloats((*out)[2], {2}, {a, b});
    }
    ExpectFloats(*session->GetVariable("counter"), {2}, {13, 26});
  }
}

TEST(Variables, CanBeReadAndSetByName) {
  const auto session = CounterSession(3);
  EXPECT_TRUE(session->SetVariable("counter", F32({2}, {0, 0})).ok());
  ASSERT_TRUE(session->Run({F32({2}, {1, 2})}).ok());
  ExpectFloats(*session->GetVariable("counter"), {2}, {1, 2});
  EXPECT_EQ(session->SetVariable("counter", F32({3}, {0, 0, 0})).code(), Code::kShapeMismatch);
  const auto missing = session->GetVariable("conter");
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().hint().find("counter"), std::string::npos);
}

TEST(Variables, SessionsOfOneExecutableDoNotShareThem) {
  InstallHostKernels();
  auto executable = Executable::Compile(CounterGraph(), **FindDevice("cpu"), {}).value();
  const auto first = Session::Create(executable).value(), second = Session::Create(executable).value();
  ASSERT_TRUE(first->Run({F32({2}, {1, 2})}).ok());
  ExpectFloats(*second->GetVariable("counter"), {2}, {10, 20});
}

constexpr std::string_view kRandom = R"(graph "main" {
  input %x: float32[N]
  %r: float32[N] = RandomUniformLike "random" (%x)
  output "r" = %r
}
)";

TEST(RandomNumbers, DependOnTheSeedOnlyNotOnThreads) {
  Tensor x = Tensor::Allocate(DataType::kFloat32, {100000}).value();
  std::fill_n(x.data<float>(), x.size(), 0.0f);
  std::optional<Tensor> first;
  for (const int threads : {1, 2}) {
    CompileOptions options;
    options.threads = threads;
    const auto session = MakeSession(kRandom, options);
    RunOptions run;
    run.seed = 42;
    const auto out = session->Run({x}, run);
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    if (!first) first = (*out)[0].tensor();
    EXPECT_TRUE((*out)[0].tensor().ContentEquals(*first));
    // Without a seed each run has other numbers.
    EXPECT_FALSE((*session->Run({x}))[0].tensor().ContentEquals((*session->Run({x}))[0].tensor()));
  }
}
}  // namespace
}  // namespace asc
