// LayoutAssignment: image operators work on blocks of channels where that moves fewer bytes.
#include "core/passes/min_cut.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::RandomConstant;
using testing::ReadGraph;
using testing::RunPasses;

bool WholeBlocks(const Graph& graph, ValueId id, const Layout& layout) {
  if (!id.valid() || graph.value(id).is_constant()) return true;
  const Shape& shape = graph.value(id).type.shape;
  return shape.rank() == 4 && shape[1].is_constant() && shape[1].value() % layout.c0 == 0;
}

// Convolutions, pools, concatenations of channels and element-wise operators of equal shapes.
bool Accepts(const Graph& graph, const Node& node, const Layout& layout) {
  for (const ValueId id : node.inputs) {
    if (!WholeBlocks(graph, id, layout)) return false;
  }
  if (!WholeBlocks(graph, node.outputs[0], layout)) return false;
  if (node.Is("Conv") || node.Is("MaxPool")) return true;
  if (node.Is("Concat")) return node.attributes.Int("axis", 0) == 1;
  if (node.schema->op_class != OpClass::kElementwise) return false;
  for (const ValueId id : node.inputs) {
    if (!(graph.value(id).type.shape == graph.value(node.outputs[0]).type.shape)) return false;
  }
  return true;
}

PassOptions Options() {
  PassOptions options;
  options.c0[DataType::kFloat32] = {8};
  options.accepts_layout = Accepts;
  return options;
}

size_t CountTransData(const Graph& graph) {
  size_t count = 0;
  for (const NodeId id : graph.Nodes()) count += graph.node(id).Is("TransData", "asc");
  return count;
}

bool Blocked(const Graph& graph, std::string_view name) {
  return graph.value(graph.FindValue(name)).storage.is_blocked();
}

const std::string kConvs = "input %x: float32[N, 8, H, W]\n" + RandomConstant("w", {8, 8, 3, 3}) +
                           RandomConstant("v", {16, 8, 1, 1}) + RandomConstant("u", {8, 16, 1, 1});

TEST(LayoutTest, AChainHasOneTransDataAtEachEnd) {
  const auto graph = ReadGraph(kConvs + R"(
    %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %b = Relu(%a)
    %c = Conv(%b, %v)
    %d = MaxPool(%c) {kernel_shape = [2, 2], strides = [2, 2]}
    %e = Conv(%d, %u)
    %y = Relu(%e)
    output "y" = %y)");
  const PassReport report = RunPasses(*graph, {MakeLayoutAssignment}, Options());
  EXPECT_EQ(report.rules.at("NC1HWC0").applied, 1);
  EXPECT_EQ(CountTransData(*graph), 2u);
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_TRUE(Blocked(*graph, name)) << name;
  EXPECT_EQ(graph->value(graph->FindValue("c")).storage.ToString(), "NC1HWC0(8)");
  EXPECT_FALSE(graph->value(graph->outputs()[0].value).storage.is_blocked());
  EXPECT_EQ(graph->outputs()[0].name, "y");
  EXPECT_FALSE(Blocked(*graph, "x"));
}

TEST(LayoutTest, NarrowerBlocksWhereTheyLeaveLessPadding) {
  const auto storage = [](int64_t channels) {
    const auto graph = ReadGraph(
        Cat("input %x: float32[N, 16, H, W]\n", RandomConstant("w", {channels, 16, 1, 1}),
            RandomConstant("v", {16, channels, 1, 1}), R"(
    %a = Conv(%x, %w)
    %b = Conv(%a, %v)
    %c = Conv(%b, %w)
    output "c" = %c)"));
    PassOptions options = Options();
    options.accepts_layout = [](const Graph&, const Node& node, const Layout&) {
      return node.Is("Conv");
    };
    options.c0[DataType::kFloat32] = {16, 8};
    RunPasses(*graph, {MakeLayoutAssignment}, options);
    return graph->value(graph->FindValue("b")).storage.ToString();
  };
  EXPECT_EQ(storage(32), "NC1HWC0(16)");
  EXPECT_EQ(storage(24), "NC1HWC0(8)");
}

TEST(LayoutTest, BranchesShareTheirTransData) {
  const auto graph = ReadGraph(kConvs + R"(
    %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %b = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %c = Concat(%a, %b) {axis = 1}
    %d = Conv(%c, %u)
    %e = Add(%d, %x)
    %f = Conv(%e, %w) {pads = [1, 1, 1, 1]}
    output "f" = %f)");
  RunPasses(*graph, {MakeLayoutAssignment}, Options());
  EXPECT_EQ(CountTransData(*graph), 2u) << "x goes in once, f comes out once";
  EXPECT_TRUE(Blocked(*graph, "c") && Blocked(*graph, "e"));
}

TEST(LayoutTest, AnInnerValueThatIsAnOutputComesOutOnce) {
  const auto graph = ReadGraph(kConvs + R"(
    %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %b = Conv(%a, %w) {pads = [1, 1, 1, 1]}
    %c = Conv(%b, %w) {pads = [1, 1, 1, 1]}
    %m = ReduceMean(%b)
    output "b" = %b
    output "m" = %m
    output "c" = %c)");
  RunPasses(*graph, {MakeLayoutAssignment}, Options());
  EXPECT_EQ(CountTransData(*graph), 3u);
  EXPECT_TRUE(Blocked(*graph, "b"));
  EXPECT_FALSE(graph->value(graph->outputs()[0].value).storage.is_blocked());
  EXPECT_EQ(graph->outputs()[0].value, graph->node(graph->FindNode("reduce_mean")).inputs[0])
      << "both take the plain form";
}

TEST(LayoutTest, WhereItMovesMoreItStaysPlain) {
  // A convolution alone, element-wise operators alone, channels that do not fill blocks, a type
  // without a block size.
  for (const std::string& body : {
           kConvs + "%y = Conv(%x, %w) output \"y\" = %y",
           std::string(
               "input %x: float32[N, 8, H, W] %a = Relu(%x) %y = Exp(%a) output \"y\" = %y"),
           "input %x: float32[N, 3, H, W]\n" + RandomConstant("w", {3, 3, 3, 3}) +
               "%a = Conv(%x, %w) {pads = [1, 1, 1, 1]} %b = Conv(%a, %w) {pads = [1, 1, 1, 1]} %y "
               "= Conv(%b, %w) output \"y\" = %y",
           std::string("input %x: float64[N, 8, H, W] input %w: float64[8, 8, 1, 1] %a = Conv(%x, "
                       "%w) %b = Conv(%a, %w) %y = Conv(%b, %w) "
                       "output \"y\" = %y"),
       }) {
    SCOPED_TRACE(body);
    testing::ExpectUnchanged(body, {MakeLayoutAssignment}, Options());
  }
}

TEST(LayoutTest, APictureIsReadPlain) {
  const auto graph =
      ReadGraph("input %x: float32[N, 3, H, W]\n" + RandomConstant("w", {8, 3, 3, 3}) +
                RandomConstant("v", {16, 8, 1, 1}) + R"(
    %a = Conv(%x, %w)
    %b = Conv(%a, %v)
    output "y" = %b)");
  PassOptions options = Options();
  options.accepts_layout = [](const Graph&, const Node& node, const Layout&) {
    return node.Is("Conv");
  };
  RunPasses(*graph, {MakeLayoutAssignment}, options);
  EXPECT_TRUE(Blocked(*graph, "a"));
  EXPECT_EQ(CountTransData(*graph), 1u);  // of the result
}

TEST(LayoutTest, NoBlockSizesNoBlocks) {
  PassOptions options = Options();
  options.c0.clear();
  testing::ExpectUnchanged(kConvs +
                               "%a = Conv(%x, %w) {pads = [1, 1, 1, 1]} %b = Conv(%a, %w) {pads = "
                               "[1, 1, 1, 1]} %y = Conv(%b, %w) output \"y\" = %y",
                           {MakeLayoutAssignment}, options);
}

TEST(LayoutTest, APlainOperatorBetweenIsGoneAround) {
  const auto graph = ReadGraph(kConvs + R"(
    %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %b = Conv(%a, %w) {pads = [1, 1, 1, 1]}
    %s = Softmax(%b) {axis = 3}
    %c = Conv(%s, %w) {pads = [1, 1, 1, 1]}
    %d = Conv(%c, %w) {pads = [1, 1, 1, 1]}
    output "d" = %d)");
  RunPasses(*graph, {MakeLayoutAssignment}, Options());
  EXPECT_EQ(CountTransData(*graph), 4u);
  EXPECT_FALSE(Blocked(*graph, "s"));
}

TEST(MinCutTest, CheapestEdgesAreCut) {
  MinCut cut;
  const size_t a = cut.AddVertex(), b = cut.AddVertex(), c = cut.AddVertex();
  cut.AddEdge(MinCut::kSource, a, 5);
  cut.AddEdge(a, b, 2);
  cut.AddEdge(a, c, 1);
  cut.AddEdge(b, MinCut::kSink, MinCut::kInfinite);
  cut.AddEdge(c, MinCut::kSink, 4);
  const std::vector<bool> side = cut.Solve();
  EXPECT_TRUE(side[a]);
  EXPECT_FALSE(side[b]);
  EXPECT_FALSE(side[c]);
}

}  // namespace
}  // namespace asc
