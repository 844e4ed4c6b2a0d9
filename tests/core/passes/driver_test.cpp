#include "core/passes/driver.h"

#include <filesystem>
#include <fstream>

#include "core/graph/text.h"
#include "core/passes/dump.h"
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ReadGraph;
using testing::RunPasses;

constexpr std::string_view kThreeIdentities = R"(
  input %x: float32[2]
  %a = Identity "a" (%x) scope 1 from "ua"
  %b = Identity "b" (%a) scope 1 from "ub"
  %c = Identity "c" (%b)
  %y = Relu "r" (%c) from "ur"
  output "y" = %y)";

TEST(DriverTest, CountsAndStopsAfterTheNthRewrite) {
  const auto graph = ReadGraph(kThreeIdentities);
  PassOptions options;
  options.rewrite_limit = 2;
  const PassReport report =
      RunPasses(*graph, {MakeNoOpElimination, MakeDeadCodeElimination}, options);
  EXPECT_EQ(graph->node_count(), 2u);
  EXPECT_EQ(report.rules.at("No-op Identity").applied, 2);
  ASSERT_EQ(report.passes.size(), 1u) << "the second pass does not start";
  EXPECT_EQ(report.passes[0].nodes_before, 4u);
  EXPECT_EQ(report.passes[0].nodes_after, 2u);
  EXPECT_NE(report.notes.at(0).find("stopped after 2 rewrites"), std::string::npos);
}

TEST(DriverTest, PassesAreSwitchedOffByName) {
  const auto graph = ReadGraph(kThreeIdentities);
  PassOptions options;
  options.disabled = {"NoOpElimination"};
  RunPasses(*graph, {MakeNoOpElimination}, options);
  EXPECT_EQ(graph->node_count(), 4u);
}

TEST(DriverTest, UnknownNamesAreRefusedWithTheNearest) {
  PassOptions options;
  options.disabled = {"ConstantFoldin"};
  const Status status = CheckPassOptions(options);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.hint(), "did you mean 'ConstantFolding'?");
  options.disabled = {"ALL"};
  EXPECT_TRUE(CheckPassOptions(options).ok());
  options.fusion[1].disabled = {"Bogus"};
  EXPECT_FALSE(CheckPassOptions(options).ok());
}

// What a patch makes known reaches all that follows from it.
TEST(DriverTest, FactsFollowPatches) {
  const auto graph = ReadGraph(R"(
    input %x: float32[6]
    input %other: float32[N]
    constant %a: int64[2] = [2, 1]
    constant %b: int64[2] = [0, 2]
    %target = BitwiseOr(%a, %b)
    %r = Reshape(%x, %target)
    %s = Relu(%r)
    %y = Exp(%s)
    %z = Relu(%other)
    output "y" = %y
    output "z" = %z)");
  EXPECT_FALSE(graph->value(graph->outputs()[0].value).type.shape.is_static());
  RunPasses(*graph, {MakeConstantFolding});
  EXPECT_EQ(graph->value(graph->outputs()[0].value).type.ToString(), "float32[2, 3]");
  EXPECT_EQ(graph->value(graph->outputs()[1].value).type.ToString(), "float32[N]");
}

TEST(DriverTest, LevelZeroDoesNothing) {
  const auto graph = ReadGraph(kThreeIdentities);
  const std::string before = ToText(*graph);
  PassOptions options;
  options.graph_opt_level = 0;
  PassDriver driver(options);
  ASSERT_TRUE(driver.Run(*graph).ok());
  EXPECT_EQ(ToText(*graph), before);
}

TEST(DriverTest, DumpsBeforeAndAfterEachPassWithAllWriters) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "asc_dump_test";
  std::filesystem::remove_all(folder);
  RegisterDumpWriter("count", [](const Graph& graph, const std::string& path) {
    return WriteTextFile(path, std::to_string(graph.node_count()));
  });
  const auto graph = ReadGraph(kThreeIdentities);
  PassOptions options;
  options.dump_path = folder.string();
  RunPasses(*graph, {MakeNoOpElimination, MakeDeadCodeElimination}, options);
  for (const char* stem : {"000_NoOpElimination_before", "000_NoOpElimination_after",
                           "001_DeadCodeElimination_before", "final"}) {
    for (const char* ending : {".txt", ".dot", ".count"}) {
      EXPECT_TRUE(std::filesystem::exists(folder / (std::string(stem) + ending))) << stem << ending;
    }
  }
  std::ifstream counted(folder / "000_NoOpElimination_after.count");
  std::string count;
  counted >> count;
  EXPECT_EQ(count, "1");
  std::ifstream report(folder / "fusion_result.json");
  const std::string json((std::istreambuf_iterator<char>(report)),
                         std::istreambuf_iterator<char>());
  EXPECT_NE(json.find("\"effect_times\": 3"), std::string::npos) << json;
  options.dump_path = (folder / "000_NoOpElimination_after.count" / "below_a_file").string();
  PassDriver driver(options);
  EXPECT_EQ(driver.Run(*ReadGraph(kThreeIdentities)).code(), Code::kIo);
  std::filesystem::remove_all(folder);
}

// A pass that does what the test says, once per node.
class ScriptedPass : public NodePass {
 public:
  explicit ScriptedPass(std::function<void(PassContext&, const Node&)> visit)
      : visit_(std::move(visit)) {}
  std::string_view name() const override { return "Scripted"; }
  void Visit(PassContext& context, const Node& node) override { visit_(context, node); }

 private:
  std::function<void(PassContext&, const Node&)> visit_;
};

Status RunScript(Graph& graph, std::function<void(PassContext&, const Node&)> visit,
                 PassReport* report = nullptr) {
  PassOptions options;
  options.verify = true;
  PassDriver driver(options);
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<ScriptedPass>(std::move(visit)));
  const Status status = driver.Run(graph, passes);
  if (report != nullptr) *report = driver.report();
  return status;
}

TEST(PatchTest, NewNodesTakeNamesOriginsAndScope) {
  const auto graph = ReadGraph(kThreeIdentities);
  ASSERT_TRUE(RunScript(*graph, [](PassContext& context, const Node& node) {
                const Node* user =
                    node.Is("Identity")
                        ? &context.graph().node(context.graph().value(node.outputs[0]).uses[0].node)
                        : nullptr;
                if (user == nullptr || !user->Is("Identity")) return;
                Patch patch("Join", node);
                patch.Remove(node.id);
                patch.Remove(user->id);
                patch.Replace(user->outputs[0], patch.AddNode(node.schema, {node.inputs[0]}));
                EXPECT_TRUE(context.Submit(patch));
              }).ok());
  // a+b, then ab+c.
  const Node& joined = graph->node(graph->FindNode("a"));
  EXPECT_EQ(joined.OriginText(), "ua+ub");
  EXPECT_EQ(graph->value(joined.outputs[0]).name, "c");
  EXPECT_GT(joined.scope, 1) << "scopes 1 and 0 join into one of their own";
}

TEST(PatchTest, TwoRewritesNeverTouchOneNodeInARound) {
  const auto graph = ReadGraph(kThreeIdentities);
  std::vector<std::string> applied;
  int rounds = 0;
  ASSERT_TRUE(RunScript(*graph, [&](PassContext& context, const Node& node) {
                if (node.Is("Relu")) ++rounds;
                if (!node.Is("Identity")) return;
                Patch patch("Drop", node);
                patch.Remove(node.id);
                patch.Replace(node.outputs[0], node.inputs[0]);
                // Each patch relies on the last node, so only one fits into a round.
                patch.Match(context.graph().FindNode("r"));
                const std::string name = node.name;
                if (context.Submit(patch)) applied.push_back(name);
              }).ok());
  EXPECT_EQ(applied, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(PatchTest, BadPatchesAreRefusedAndLeaveTheGraph) {
  const auto graph = ReadGraph(kThreeIdentities);
  const std::string before = ToText(*graph);
  PassReport report;
  ASSERT_TRUE(
      RunScript(
          *graph,
          [](PassContext& context, const Node& node) {
            if (node.Is("Relu")) {
              Patch output("Output goes", node);
              output.Remove(node.id);
              EXPECT_FALSE(context.Submit(output));
              return;
            }
            Patch used("Used goes", node);
            used.Remove(node.id);
            EXPECT_FALSE(context.Submit(used));
            Patch type("Type changes", node);
            const ValueId other = type.AddConstant(Tensor::FromValues<int32_t>({2}, {1, 2}), "c");
            type.Replace(node.outputs[0], other);
            type.Remove(node.id);
            EXPECT_FALSE(context.Submit(type));
            Patch shape("Shape changes", node);
            shape.Replace(node.outputs[0],
                          shape.AddConstant(Tensor::FromValues<float>({3}, {1, 2, 3}), "c"));
            shape.Remove(node.id);
            EXPECT_FALSE(context.Submit(shape));
            Patch schema("Too many inputs", node);
            schema.Replace(node.outputs[0],
                           schema.AddNode(node.schema, {node.inputs[0], node.inputs[0]}));
            schema.Remove(node.id);
            EXPECT_FALSE(context.Submit(schema));
            Patch missing("No operator", node);
            missing.Replace(node.outputs[0], missing.AddNode(nullptr, {node.inputs[0]}));
            EXPECT_FALSE(context.Submit(missing));
            Patch dangling("Dangling", node);
            dangling.Replace(node.outputs[0], ValueId{99});
            EXPECT_FALSE(context.Submit(dangling));
          },
          &report)
          .ok());
  EXPECT_EQ(ToText(*graph), before);
  EXPECT_EQ(report.rules.at("Used goes").matched(), 3);
  EXPECT_EQ(report.rules.at("Used goes").applied, 0);
  EXPECT_NE(report.rules.at("Used goes").reasons.at("ua").find("still used by node 'b'"),
            std::string::npos);
}

TEST(PatchTest, AnIllegalRewriteIsFoundByTheVerifier) {
  const auto graph = ReadGraph(kThreeIdentities);
  const Status status = RunScript(*graph, [](PassContext& context, const Node& node) {
    if (node.name != "a") return;
    Patch patch("Cycle", node);
    patch.SetInput(node.id, 0, context.graph().FindValue("c"));
    context.Submit(patch);
  });
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_NE(status.message().find("pass Scripted left an illegal graph"), std::string::npos)
      << status.ToString();
}

TEST(FusionScopesTest, ConsentOfAllScopesIsNeeded) {
  PassOptions options;
  options.fusion[1].disabled = {"A"};
  options.fusion[2].mode = FusionSettings::Mode::kConservative;
  options.fusion[3].disabled = {"ALL"};
  options.fusion[4].mode = FusionSettings::Mode::kOff;
  FusionScopes scopes(options, 5);
  const FusionInfo a{"A", "P", "", FusionSettings::Mode::kDefault};
  const FusionInfo b{"B", "P", "", FusionSettings::Mode::kConservative};
  EXPECT_EQ(scopes.WhyNot(a, 0), "");
  EXPECT_EQ(scopes.WhyNot(a, 1), "'A' is switched off for fusion scope 1");
  EXPECT_EQ(scopes.WhyNot(b, 1), "");
  EXPECT_EQ(scopes.WhyNot(a, 2), "the mode of fusion scope 2 is conservative, 'A' needs default");
  EXPECT_EQ(scopes.WhyNot(b, 2), "");
  EXPECT_NE(scopes.WhyNot(b, 3), "");
  EXPECT_NE(scopes.WhyNot(b, 4), "");
  const int joined = scopes.Join({0, 2});
  EXPECT_EQ(joined, 5);
  EXPECT_EQ(scopes.Join({2, 0}), 5);
  EXPECT_EQ(scopes.Join({2}), 2);
  EXPECT_NE(scopes.WhyNot(a, joined), "");
  EXPECT_NE(scopes.WhyNot(a, scopes.Join({joined, 1})), "");
}

}  // namespace
}  // namespace asc
