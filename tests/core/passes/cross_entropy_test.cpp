// SoftmaxCrossEntropyLoss(x, t) => NegativeLogLikelihoodLoss(LogSoftmax(x, axis = 1), t)
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;

const testing::Expectation kRounding{.tolerance = 2e-6, .options = {}, .bindings = {}};
const std::string kLabels = "constant %t: int64[3] = [1, 0, 3]\n";

TEST(CrossEntropyTest, TakesTheFastSoftmax) {
  ExpectRewrite("input %x: float32[3, 4]\n" + kLabels +
                    R"(%y = SoftmaxCrossEntropyLoss(%x, %t) {reduction = "sum"} output "y" = %y)",
                "input %x: float32[3, 4]\n" + kLabels + R"(%l = LogSoftmax(%x) {axis = 1}
                %y = NegativeLogLikelihoodLoss(%l, %t) {reduction = "sum"} output "y" = %y)",
                {MakeCrossEntropy}, kRounding);
}

TEST(CrossEntropyTest, KeepsLabelsThatDoNotCountWeightsAndLogProbabilities) {
  const std::string weights = "constant %w: float32[4] = [1.0, 2.0, 0.5, 4.0]\n";
  ExpectRewrite("input %x: float32[3, 4]\n" + kLabels + weights +
                    R"(%y, %p = SoftmaxCrossEntropyLoss(%x, %t, %w) {ignore_index = 0}
                    output "y" = %y output "p" = %p)",
                "input %x: float32[3, 4]\n" + kLabels + weights + R"(%p = LogSoftmax(%x) {axis = 1}
                %y = NegativeLogLikelihoodLoss(%p, %t, %w) {ignore_index = 0}
                output "y" = %y output "p" = %p)",
                {MakeCrossEntropy}, kRounding);
}

TEST(CrossEntropyTest, FreeExtents) {
  // Three labels: the symbol is bound to 3.
  ExpectRewrite("input %x: float32[N, 4]\n" + kLabels +
                    R"(%y = SoftmaxCrossEntropyLoss(%x, %t) {reduction = "none"} output "y" = %y)",
                "input %x: float32[N, 4]\n" + kLabels + R"(%l = LogSoftmax(%x) {axis = 1}
      %y = NegativeLogLikelihoodLoss(%l, %t) {reduction = "none"} output "y" = %y)",
                {MakeCrossEntropy}, kRounding);
}

TEST(CrossEntropyTest, NarrowTypesWouldBeRoundedTwice) {
  ExpectUnchanged("input %x: float16[3, 4]\n" + kLabels +
                      R"(%y = SoftmaxCrossEntropyLoss(%x, %t) output "y" = %y)",
                  {MakeCrossEntropy});
  ExpectUnchanged("input %x: float64[3, 4]\n" + kLabels +
                      R"(%y = SoftmaxCrossEntropyLoss(%x, %t) output "y" = %y)",
                  {MakeCrossEntropy});
}
}  // namespace
}  // namespace asc
