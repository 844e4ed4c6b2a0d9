#include "core/base/strings.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::RandomConstant;
using testing::ReadGraph;
using testing::RunPasses;

// The program of the graph's only VectorProgram, after fusion; empty where there is none.
std::string ProgramOf(std::string_view body) {
  const auto graph = ReadGraph(body);
  if (!graph) return "";
  RunPasses(*graph, {MakeVectorFusion});
  for (const NodeId id : graph->Nodes()) {
    if (graph->node(id).Is("VectorProgram", "asc"))
      return graph->node(id).attributes.String("program", "");
  }
  return "";
}

// Mul, Add, Relu of one shape => VectorProgram
TEST(VectorFusionTest, JoinsElementwiseOperators) {
  ExpectRewrite(R"(
    input %x: float32[2, 5]
    input %s: float32[5]
    constant %c: float32[1] = [0.5]
    %a = Mul(%x, %s)
    %b = Add(%a, %c)
    %y = Relu(%b)
    output "y" = %y)",
                R"(
    input %x: float32[2, 5]
    input %s: float32[5]
    %y = asc.VectorProgram(%x, %s) {
      program = "%0 = mul in0, in1; %1 = add %0, 0.5; %2 = relu %1; float32 %2"}
    output "y" = %y)",
                {MakeVectorFusion});
}

// Operators on narrow floats => rounded after each that computes
TEST(VectorFusionTest, RoundsNarrowFloats) {
  ExpectRewrite(R"(
    input %x: float16[N, 5]
    input %s: float16[5]
    %a = Mul(%x, %s)
    %b = Relu(%a)
    %c = Add(%b, %x)
    %y = Tanh(%c)
    output "y" = %y)",
                R"(
    input %x: float16[N, 5]
    input %s: float16[5]
    %y = asc.VectorProgram(%x, %s) {
      program = "%0 = mul in0, in1; %1 = half %0; %2 = relu %1; %3 = add %2, in0; %4 = half %3; %5 = tanh %4; float16 %5"}
    output "y" = %y)",
                {MakeVectorFusion});
  EXPECT_EQ(ProgramOf(R"(
    input %x: bfloat16[N, 200]
    %f = Cast(%x) {to = 1}
    %e = Exp(%f)
    %h = Cast(%e) {to = 10}
    %y = Neg(%h)
    output "y" = %y)"),
            "%0 = exp in0; %1 = half %0; %2 = neg %1; float16 %2");
  // One alone, too. Softmax is rounded once, and so are three operands of Sum, which no program is.
  EXPECT_EQ(ProgramOf(R"(
    input %x: float16[N, 200]
    %a = Sum(%x, %x, %x)
    %y = Softmax(%a) {axis = -1}
    output "y" = %y)"),
            "%0 = reduce_max in0; %1 = sub in0, %0; %2 = exp %1; %3 = reduce_sum %2; "
            "%4 = reciprocal %3; %5 = mul %2, %4; float16 %5");
  EXPECT_EQ(ProgramOf(R"(
    input %x: float16[N, 200]
    %y = Sum(%x, %x, %x)
    output "y" = %y)"),
            "");
}

// The same where extents are symbols
TEST(VectorFusionTest, DynamicShapes) {
  ExpectRewrite(R"(
    input %x: float32[N, L, 4]
    input %z: float32[N, L, 4]
    %a = Mul(%x, %z)
    %b = Sub(%a, %x)
    %y = Abs(%b)
    output "y" = %y)",
                R"(
    input %x: float32[N, L, 4]
    input %z: float32[N, L, 4]
    %y = asc.VectorProgram(%x, %z) {
      program = "%0 = mul in0, in1; %1 = sub %0, in0; %2 = abs %1; float32 %2"}
    output "y" = %y)",
                {MakeVectorFusion});
}

// A value with another reader => a second result
TEST(VectorFusionTest, ValuesWithOtherReadersAreResults) {
  ExpectRewrite(R"(
    input %x: float32[N, 4]
    %a = Neg(%x)
    %y = Relu(%a)
    output "a" = %a
    output "y" = %y)",
                R"(
    input %x: float32[N, 4]
    %a, %y = asc.VectorProgram(%x) {
      program = "%0 = neg in0; %1 = relu %0; float32 %0; float32 %1"}
    output "a" = %a
    output "y" = %y)",
                {MakeVectorFusion});
}

// Groups with several results, a reader of one of which feeds the next => no cycle
TEST(VectorFusionTest, GroupsDoNotWaitForEachOther) {
  const auto graph = ReadGraph(R"(
    input %x: float32[2, 3, 8]
    constant %k: float32[] = [1.0]
    %a = Neg(%x)
    %b = Exp(%a)
    %c = Abs(%a)
    %d = Add(%b, %k)
    %e = Sign(%d)
    %f = Relu(%d)
    %h = Hardmax(%d) {axis = -1}
    %p = Add(%e, %f)
    %q = Add(%h, %f)
    %r = Sin(%h)
    %s = Ceil(%h)
    output "c" = %c
    output "p" = %p
    output "q" = %q
    output "r" = %r
    output "s" = %s)");
  ASSERT_TRUE(graph);
  RunPasses(*graph, {MakeVectorFusion});
  const auto order = graph->TopologicalOrder();
  ASSERT_TRUE(order.ok()) << order.status().ToString();
  EXPECT_LT(order->size(), 11u);
}

// x less its largest element in the row => VectorProgram
TEST(VectorFusionTest, JoinsReductionsOverTheLastAxis) {
  ExpectRewrite(R"(
    input %x: float32[N, 200]
    constant %last: int64[1] = [-1]
    constant %half: float32[1] = [0.5]
    %m = ReduceMax(%x, %last) {keepdims = 1}
    %d = Sub(%x, %m)
    %y = Mul(%d, %half)
    output "y" = %y)",
                R"(
    input %x: float32[N, 200]
    %y = asc.VectorProgram(%x) {
      program = "%0 = reduce_max in0; %1 = sub in0, %0; %2 = mul %1, 0.5; float32 %2"}
    output "y" = %y)",
                {MakeVectorFusion});
  // What is computed of reductions alone ends the group, and may stand in its middle.
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[N, 200]
    constant %last: int64[1] = [1]
    constant %e: float32[1] = [0.5]
    %n = ReduceL2(%x, %last) {keepdims = 1}
    %c = Max(%n, %e)
    %y = Div(%x, %c)
    output "y" = %y)"),
            "%0 = square in0; %1 = reduce_sum %0; %2 = sqrt %1; %3 = max %2, 0.5; "
            "%4 = div in0, %3; float32 %4");
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[N, 200]
    constant %last: int64[1] = [1]
    %a = Abs(%x)
    %s = ReduceSum(%a, %last) {keepdims = 1}
    %y = Sqrt(%s)
    output "y" = %y)"),
            "%0 = abs in0; %1 = reduce_sum %0; %2 = sqrt %1; float32 %2");
}

// Add, LayerNormalization => VectorProgram with the sum as a result that others read
TEST(VectorFusionTest, JoinsNormalisationsAndSoftmax) {
  ExpectRewrite(R"(
    input %x: float32[N, 16, 64]
    input %z: float32[N, 16, 64]
    input %s: float32[64]
    input %b: float32[64]
    %a = Add(%x, %z)
    %y = LayerNormalization(%a, %s, %b) {axis = -1, epsilon = 0.5}
    output "a" = %a
    output "y" = %y)",
                R"(
    input %x: float32[N, 16, 64]
    input %z: float32[N, 16, 64]
    input %s: float32[64]
    input %b: float32[64]
    %a, %y = asc.VectorProgram(%x, %z, %s, %b) {
      program = "%0 = add in0, in1; %1 = reduce_mean %0; %2 = sub %0, %1; %3 = square %2; %4 = reduce_mean %3; %5 = add %4, 0.5; %6 = sqrt %5; %7 = reciprocal %6; %8 = mul %2, %7; %9 = fma %8, in2, in3; float32 %0; float32 %9"}
    output "a" = %a
    output "y" = %y)",
                {MakeVectorFusion}, {1e-6});
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[16, L]
    %a = Neg(%x)
    %y = Softmax(%a) {axis = -1}
    output "y" = %y)"),
            "%0 = neg in0; %1 = reduce_max %0; %2 = sub %0, %1; %3 = exp %2; %4 = reduce_sum %3; "
            "%5 = reciprocal %4; %6 = mul %3, %5; float32 %6");
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[16, 50]
    input %s: float32[50]
    %n = RMSNormalization(%x, %s) {axis = 1, epsilon = 0.5}
    %l = LogSoftmax(%n) {axis = 1}
    output "y" = %l)"),
            "%0 = square in0; %1 = reduce_mean %0; %2 = add %1, 0.5; %3 = sqrt %2; "
            "%4 = reciprocal %3; %5 = mul in0, %4; %6 = mul %5, in1; %7 = reduce_max %6; "
            "%8 = sub %6, %7; %9 = exp %8; %10 = reduce_sum %9; %11 = log %10; %12 = sub %8, %11; "
            "float32 %12");
  // Another axis, a scale that broadcasts, rows of several axes, short rows.
  for (const std::string_view node :
       {"Softmax(%a) {axis = 0}", "LayerNormalization(%a, %one) {axis = -1}",
        "LayerNormalization(%a, %all) {axis = 0}"}) {
    EXPECT_EQ(ProgramOf(Cat(R"(
    input %x: float32[16, 50]
    input %one: float32[1]
    input %all: float32[16, 50]
    %a = Neg(%x)
    %y = )",
                            node, R"(
    output "y" = %y)")),
              "");
  }
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[16, 8]
    %a = Neg(%x)
    %y = Softmax(%a) {axis = -1}
    output "y" = %y)"),
            "");
  // Rows that may be one or two.
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[N, L]
    %a = Neg(%x)
    %y = Softmax(%a) {axis = -1}
    output "y" = %y)"),
            "");
}

// BatchNormalization with constant statistics, Relu => a scale and a shift for each channel, relu
TEST(VectorFusionTest, BatchNormalisation) {
  const std::string body = Cat("input %x: float32[N, 3, H, W]\n", RandomConstant("s", {3}), "\n",
                               RandomConstant("b", {3}), "\n", RandomConstant("m", {3}), "\n",
                               RandomConstant("v", {3}, 0.5, 2), R"(
    %n = BatchNormalization(%x, %s, %b, %m, %v)
    %y = Relu(%n)
    output "y" = %y)");
  EXPECT_EQ(ProgramOf(body), "%0 = fma in0, ch1, ch2; %1 = relu %0; float32 %1");
}

// Constants along axis 1 are read as channels, so that blocked images can be.
TEST(VectorFusionTest, ChannelConstants) {
  EXPECT_EQ(ProgramOf(R"(
    input %x: float32[N, 3, H, W]
    constant %c: float32[3, 1, 1] = [1, 2, 3]
    %a = Mul(%x, %c)
    %y = Sigmoid(%a)
    output "y" = %y)"),
            "%0 = mul in0, ch1; %1 = sigmoid %0; float32 %1");
}

// Casts are what the program reads and writes.
TEST(VectorFusionTest, CastsAndConditions) {
  ExpectRewrite(R"(
    input %x: float32[N, 3]
    input %p: bool[N, 3]
    input %u: uint8[N, 3]
    input %v: uint8[3]
    %n = IsNaN(%x)
    %e = LessOrEqual(%u, %v)
    %a = Xor(%n, %p)
    %c = Or(%a, %e)
    %y = Where(%c, %x, %x)
    output "c" = %c
    output "y" = %y)",
                R"(
    input %x: float32[N, 3]
    input %p: bool[N, 3]
    input %u: uint8[N, 3]
    input %v: uint8[3]
    %c, %y = asc.VectorProgram(%x, %u, %v, %p) {
      program = "%0 = equal in0, in0; %1 = not %0; %2 = less_or_equal in1, in2; %3 = equal %1, in3; %4 = not %3; %5 = max %4, %2; %6 = select %5, in0, in0; bool %5; float32 %6"}
    output "c" = %c
    output "y" = %y)",
                {MakeVectorFusion});
  // Integers that float32 does not hold.
  EXPECT_EQ(ProgramOf(R"(
    input %x: int64[N, 3]
    input %z: int64[N, 3]
    %c = Equal(%x, %z)
    %y = Not(%c)
    output "y" = %y)"),
            "");

  EXPECT_EQ(ProgramOf(R"(
    input %x: int64[N, 3]
    input %z: float32[N, 3]
    constant %one: float32[1] = [1]
    %f = Cast(%x) {to = 1}
    %c = Less(%f, %z)
    %w = Where(%c, %f, %one)
    %y = Cast(%w) {to = 10}
    output "y" = %y)"),
            "%0 = less in0, in1; %1 = select %0, in0, 1; float16 %1");
}

TEST(VectorFusionTest, LeavesAlone) {
  // One operator.
  ExpectUnchanged(R"(
    input %x: float32[2, 5]
    %y = Relu(%x)
    output "y" = %y)",
                  {MakeVectorFusion});
  // Integers, doubles.
  for (const char* type : {"int64", "float64"}) {
    ExpectUnchanged(Cat("input %x: ", type, R"([2, 5]
    %a = Add(%x, %x)
    %y = Mul(%a, %x)
    output "y" = %y)"),
                    {MakeVectorFusion});
  }
  // The result of the first is smaller than the space of the second: it would be computed often.
  ExpectUnchanged(R"(
    input %x: float32[5]
    input %z: float32[N, 5]
    %a = Exp(%x)
    %y = Add(%a, %z)
    output "y" = %y)",
                  {MakeVectorFusion});
  // Shapes that may differ.
  ExpectUnchanged(R"(
    input %x: float32[A, 5]
    input %z: float32[B, 5]
    %a = Exp(%x)
    %y = Add(%a, %z)
    output "y" = %y)",
                  {MakeVectorFusion});
  // Softmax has a kernel of its own.
  ExpectUnchanged(R"(
    input %x: float32[N, 5]
    %a = Abs(%x)
    %y = Softmax(%a) {axis = -1}
    output "y" = %y)",
                  {MakeVectorFusion});
  // Rows too short to gain.
  ExpectUnchanged(R"(
    input %x: float32[N, 15]
    constant %last: int64[1] = [-1]
    %m = ReduceMax(%x, %last) {keepdims = 1}
    %y = Sub(%x, %m)
    output "y" = %y)",
                  {MakeVectorFusion});
  // A reduction over another axis, and one that drops its axis.
  ExpectUnchanged(R"(
    input %x: float32[4, 5]
    constant %first: int64[1] = [0]
    %m = ReduceMax(%x, %first) {keepdims = 1}
    %y = Sub(%x, %m)
    output "y" = %y)",
                  {MakeVectorFusion});
  // The reader of %a outside has to run before the second operator.
  ExpectUnchanged(R"(
    input %x: float32[N, 4]
    input %w: float32[4, 4]
    %a = Neg(%x)
    %b = MatMul(%a, %w)
    %y = Add(%a, %b)
    output "y" = %y)",
                  {MakeVectorFusion});
}

TEST(VectorFusionTest, CanBeSwitchedOff) {
  constexpr std::string_view kBody = R"(
    input %x: float32[2, 5]
    %a = Neg(%x)
    %y = Relu(%a)
    output "y" = %y)";
  PassOptions options;
  options.disabled = {"Elementwise"};
  ExpectUnchanged(kBody, {MakeVectorFusion}, options);
  EXPECT_NE(FindFusion("Elementwise"), nullptr);
  EXPECT_NE(FindFusion("RowReduction"), nullptr);
}
}  // namespace
}  // namespace asc
