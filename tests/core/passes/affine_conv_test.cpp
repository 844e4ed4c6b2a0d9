// AffineConv: Conv(x * s + t, w, b) becomes Conv(x, w * s, b + sum(w * t)).
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Interpret;
using testing::RandomConstant;
using testing::ReadGraph;
using testing::RunPasses;

// Both operators go into the convolution, and the results are equal to rounding.
void ExpectFolds(const std::string& body) {
  SCOPED_TRACE(body);
  const auto graph = ReadGraph(body), original = ReadGraph(body);
  ASSERT_TRUE(graph);
  RunPasses(*graph, {MakeAffineConv});
  EXPECT_EQ(graph->node_count(), 1u);
  std::vector<float> items(2 * 4 * 5 * 5);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<float>(i * 37 % 100) / 50 - 1;
  const Tensor x = Tensor::FromValues<float>({2, 4, 5, 5}, std::span<const float>(items));
  const auto want = Interpret(*original, {x}), got = Interpret(*graph, {x});
  ASSERT_TRUE(want.ok() && got.ok());
  const auto a = (*want)[0].tensor().values<float>(), b = (*got)[0].tensor().values<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

std::string Body(std::string_view constants, std::string_view operators, std::string_view conv,
                 std::string_view weight_extents, std::string_view batch = "N") {
  const bool grouped = weight_extents == "grouped";
  return Cat("input %x: float32[", batch, ", 4, 5, 5]\n",
             RandomConstant("w", grouped ? Dims{6, 2, 1, 1} : Dims{3, 4, 3, 3}), "\n", constants,
             "\n", operators, "\n%y = Conv(", conv, "\noutput \"y\" = %y");
}

TEST(AffineConvTest, GoesIntoWeightsAndBias) {
  constexpr std::string_view kScalars =
      "constant %s: float32[1] = [0.5]\nconstant %t: float32[1, 1] = [-2]";
  const std::string channels =
      Cat(RandomConstant("s", {4, 1, 1}), "\n", RandomConstant("t", {1, 4, 1, 1}));
  for (const char* batch : {"2", "N"}) {
    for (const std::string& constants : {std::string(kScalars), channels}) {
      for (const char* operators :
           {"%a = Mul(%x, %s)\n%b = Add(%a, %t)", "%a = Add(%s, %x)\n%b = Mul(%t, %a)",
            "%a = Sub(%x, %s)\n%b = Sub(%t, %a)"}) {
        ExpectFolds(Body(constants, operators, "%b, %w)", "", batch));
        ExpectFolds(Body(constants, operators, "%b, %w) {group = 2}", "grouped", batch));
        ExpectFolds(Body(Cat(constants, "\n", RandomConstant("c", {3})), operators,
                         "%b, %w, %c) {strides = [2, 2]}", "", batch));
      }
    }
  }
}

TEST(AffineConvTest, LeavesAlone) {
  constexpr std::string_view kScalar = "constant %s: float32[1] = [0.5]";
  // Padding would be shifted too.
  ExpectUnchanged(Body(kScalar, "%a = Add(%x, %s)", "%a, %w) {pads = [1, 1, 1, 1]}", ""),
                  {MakeAffineConv});
  ExpectUnchanged(Body(kScalar, "%a = Add(%x, %s)", "%a, %w) {auto_pad = \"SAME_UPPER\"}", ""),
                  {MakeAffineConv});
  // Another user.
  ExpectUnchanged(Body(kScalar, "%a = Mul(%x, %s)\noutput \"a\" = %a", "%a, %w)", ""),
                  {MakeAffineConv});
  // Constants for each row.
  ExpectUnchanged(Body(RandomConstant("s", {5, 1}), "%a = Mul(%x, %s)", "%a, %w)", ""),
                  {MakeAffineConv});
  // Weights that come with the run.
  ExpectUnchanged(R"(
    input %x: float32[N, 4, 5, 5]
    input %w: float32[3, 4, 3, 3]
    constant %s: float32[1] = [0.5]
    %a = Mul(%x, %s)
    %y = Conv(%a, %w)
    output "y" = %y)",
                  {MakeAffineConv});
}
}  // namespace
}  // namespace asc
