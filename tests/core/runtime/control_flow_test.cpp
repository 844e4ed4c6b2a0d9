// If, Loop and Scan run; captured values reach their bodies; shapes that only the data knows flow on.
#include "core/graph/verify.h"
#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
using testing::CompileText;
using testing::ExpectFloats;
using testing::F32;
using testing::I64;
using testing::MakeSession;

constexpr std::string_view kIf = R"(graph "main" {
  input %c: bool[]
  input %x: float32[N]
  %y: float32[N] = If "choose" (%c)
    region "then_branch" (%x) graph "then" {
      input %a: float32[N]
      %b: float32[N] = Neg "neg" (%a)
      output "b" = %b
    }
    region "else_branch" (%x) graph "else" {
      input %a: float32[N]
      output "a" = %a
    }
  output "y" = %y
}
)";

TEST(ControlFlow, IfRunsOneBranchWithItsCaptures) {
  const auto session = MakeSession(kIf);
  for (const bool condition : {true, false}) {
    const auto out = session->Run({Tensor::Scalar<bool>(condition), F32({2}, {1, 2})});
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    ExpectFloats((*out)[0], {2}, condition ? std::vector<float>{-1, -2} : std::vector<float>{1, 2});
  }
}

TEST(ControlFlow, ResultsNeverShareMemoryWithInputs) {
  const auto session = MakeSession(kIf);
  const Tensor x = F32({2}, {1, 2});
  const auto out = session->Run({Tensor::Scalar<bool>(false), x});
  ASSERT_TRUE(out.ok());
  EXPECT_NE((*out)[0].tensor().raw(), x.raw());
}

// Doubles `v` while trips last and the sum is below a bound; collects each value.
constexpr std::string_view kLoop = R"(graph "main" {
  input %trips: int64[]
  input %v: float32[2]
  input %bound: float32[]
  %last: float32[2], %all: float32[?0, 2] = Loop "loop" (%trips, _, %v)
    region "body" (%bound) graph "body" {
      input %i: int64[]
      input %go: bool[]
      input %state: float32[2]
      input %limit: float32[]
      %twice: float32[2] = Add "twice" (%state, %state)
      %axes: int64[1] = Constant "axes" () {value_ints = [0]}
      %sum: float32[] = ReduceSum "sum" (%twice, %axes) {keepdims = 0}
      %more: bool[] = Less "less" (%sum, %limit)
      output "more" = %more
      output "state" = %twice
      output "item" = %twice
    }
  output "last" = %last
  output "all" = %all
}
)";

TEST(ControlFlow, LoopStopsByTripsOrByCondition) {
  const auto session = MakeSession(kLoop);
  auto out = session->Run({I64({}, {3}), F32({2}, {1, 2}), F32({}, {1000})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {2}, {8, 16});
  ExpectFloats((*out)[1], {3, 2}, {2, 4, 4, 8, 8, 16});
  out = session->Run({I64({}, {5}), F32({2}, {1, 2}), F32({}, {10})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[1], {2, 2}, {2, 4, 4, 8});
}

TEST(ControlFlow, LoopWithoutTripsGivesEmptyScanOutputsOfTheBodysShape) {
  const auto out = MakeSession(kLoop)->Run({I64({}, {0}), F32({2}, {1, 2}), F32({}, {10})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {2}, {1, 2});
  ExpectFloats((*out)[1], {0, 2}, {});
}

TEST(ControlFlow, ScanWalksAxesInBothDirections) {
  const auto session = MakeSession(R"(graph "main" {
    input %s: float32[]
    input %x: float32[3, N]
    %end: float32[], %sums: float32[N] = Scan "scan" (%s, %x) {num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1]}
      region "body" () graph "body" {
        input %acc: float32[]
        input %column: float32[3]
        %axes: int64[1] = Constant "axes" () {value_ints = [0]}
        %sum: float32[] = ReduceSum "sum" (%column, %axes) {keepdims = 0}
        %next: float32[] = Add "add" (%acc, %sum)
        output "next" = %next
        output "item" = %next
      }
    output "end" = %end
    output "sums" = %sums
  })");
  const auto out = session->Run({F32({}, {1}), F32({3, 2}, {1, 10, 2, 20, 3, 30})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {}, {67});
  ExpectFloats((*out)[1], {2}, {61, 67});
}

TEST(ControlFlow, BodiesWithOtherInputsThanAreGivenAreRefused) {
  for (const std::string_view more : {"", "input %more: float32[]"}) {
    const auto made = CompileText(Cat(R"(graph "main" {
      input %s: float32[]
      input %x: float32[3]
      %end: float32[], %all: float32[3] = Scan "scan" (%s, %x) {num_scan_inputs = 1}
        region "body" () graph "body" {
          input %acc: float32[]
          input %item: float32[]
          )", more, R"(
          %next: float32[] = Add "add" (%acc, %item)
          output "next" = %next
          output "item" = %next
        }
      output "end" = %end
    })"));
    EXPECT_EQ(made.ok(), more.empty()) << made.status().ToString();
  }
}

// `depth` loops in each other, as text.
std::string NestedLoops(int depth) {
  const std::string inner = depth == 0 ? "%t: float32[] = Neg \"neg\" (%s)\n"
                                       : Cat("%t: float32[] = Loop \"loop\" (_, %c, %s)\n region \"body\" () graph \"body\" {\n",
                                             "input %i: int64[]\n", NestedLoops(depth - 1), "}\n");
  return Cat("input %c: bool[]\n input %s: float32[]\n", inner, "output \"c\" = %c\n output \"t\" = %t\n");
}

// Inference takes time that grows with each level: hostile files would make it endless.
TEST(ControlFlow, LoopsNestOnlySoDeep) {
  const auto graph_of = [](int depth) { return testing::ReadGraph(Cat("graph \"main\" {\n", NestedLoops(depth), "}")); };
  EXPECT_TRUE(Verify(*graph_of(kDeepestLoop)).ok()) << Verify(*graph_of(kDeepestLoop)).ToString();
  EXPECT_EQ(Verify(*graph_of(kDeepestLoop + 1)).code(), Code::kInvalidGraph);
}

TEST(ControlFlow, ShapesThatOnlyTheDataKnowsFlowIntoOtherKernels) {
  const auto session = MakeSession(R"(graph "main" {
    input %x: float32[N]
    %where: int64[1, ?0] = NonZero "nonzero" (%x)
    %axis: int64[1] = Constant "axis" () {value_ints = [0]}
    %flat: int64[?0] = Squeeze "squeeze" (%where, %axis)
    %kept: float32[?0] = Gather "gather" (%x, %flat)
    %y: float32[?0] = Neg "neg" (%kept)
    output "y" = %y
  })");
  auto out = session->Run({F32({4}, {0, 5, 0, 7})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {2}, {-5, -7});
  out = session->Run({F32({4}, {0, 0, 0, 0})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {0}, {});
}
}  // namespace
}  // namespace asc
