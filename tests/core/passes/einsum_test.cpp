// Einsum of two operands => Transpose, Reshape, MatMul; or Mul and ReduceSum
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;

const testing::Expectation kRounding{.tolerance = 2e-6, .options = {}, .bindings = {}};

std::string Graph(const std::string& a, const std::string& b, const std::string& equation) {
  return "input %a: float32[" + a + "]\ninput %b: float32[" + b + "]\n" +
         "%y = Einsum(%a, %b) {equation = \"" + equation + "\"} output \"y\" = %y";
}
void Expect(const std::string& a, const std::string& b, const std::string& equation,
            const std::string& constants, const std::string& body) {
  SCOPED_TRACE(equation);
  ExpectRewrite(Graph(a, b, equation),
                "input %a: float32[" + a + "]\ninput %b: float32[" + b + "]\n" + constants + "\n" +
                    body + " output \"y\" = %y",
                {MakeEinsumLowering}, kRounding);
}

TEST(EinsumLoweringTest, OneAxisOfEachKindNeedsNoReshape) {
  Expect("3, 4", "4, 5", "ij,jk->ik", "", "%y = MatMul(%a, %b)");
  Expect("2, 3, 4", "2, 4, 5", "...ij,...jk->...ik", "", "%y = MatMul(%a, %b)");
  Expect("2, 3, 4", "2, 5, 4", "bid,bjd->bij", "",
         "%t = Transpose(%b) {perm = [0, 2, 1]} %y = MatMul(%a, %t)");
  // The output as the product of the operands in the other order.
  Expect("3, 4", "4, 5", "ij,jk->ki", "",
         R"(%s = Transpose(%b) {perm = [1, 0]} %t = Transpose(%a) {perm = [1, 0]}
            %y = MatMul(%s, %t))");
  Expect("2, 3, 6, 4", "2, 5, 6, 4", "bqhd,bkhd->bhqk", "",
         R"(%s = Transpose(%a) {perm = [0, 2, 1, 3]} %t = Transpose(%b) {perm = [0, 2, 3, 1]}
            %y = MatMul(%s, %t))");
}

TEST(EinsumLoweringTest, SeveralAxesAreOne) {
  Expect("2, 3, 4", "4, 5", "abc,cd->abd",
         "constant %s: int64[2] = [6, 4] constant %u: int64[3] = [2, 3, 5]",
         R"(%r = Reshape(%a, %s) {allowzero = 1} %p = MatMul(%r, %b)
            %y = Reshape(%p, %u) {allowzero = 1})");
  Expect("2, 3", "2, 3, 5", "ab,abd->d",
         "constant %s: int64[2] = [1, 6] constant %t: int64[2] = [6, 5]"
         " constant %u: int64[1] = [5]",
         R"(%r = Reshape(%a, %s) {allowzero = 1} %q = Reshape(%b, %t) {allowzero = 1}
            %p = MatMul(%r, %q) %y = Reshape(%p, %u) {allowzero = 1})");
}

TEST(EinsumLoweringTest, SumsOfProducts) {
  Expect("3, 4", "3, 4", "ij,ij->i", "constant %x: int64[1] = [1]",
         "%p = Mul(%a, %b) %y = ReduceSum(%p, %x) {keepdims = 0}");
  Expect("3, 4", "4, 3", "ij,ji->", "constant %x: int64[2] = [0, 1]",
         R"(%t = Transpose(%b) {perm = [1, 0]} %p = Mul(%a, %t)
            %y = ReduceSum(%p, %x) {keepdims = 0})");
}

TEST(EinsumLoweringTest, LeavesTheRest) {
  for (const auto& [a, b, equation] :
       {std::array{"3, 3", "3, 5", "ii,ij->j"},    // a diagonal
        std::array{"3, 4", "4, 5", "ij,jk->k"},    // a label that is summed in one operand alone
        std::array{"3", "4", "i,j->ij"},           // nothing is summed
        std::array{"3, 1", "4, 5", "ij,jk->ik"},   // broadcasting
        std::array{"N, 4", "4, 5", "ij,jk->ik"}})  // an extent that is not known
    ExpectUnchanged(Graph(a, b, equation), {MakeEinsumLowering});
  ExpectUnchanged(
      "input %a: float16[3, 4] input %b: float16[4, 5] %y = Einsum(%a, %b) {equation = "
      "\"ij,jk->ik\"} output \"y\" = %y",
      {MakeEinsumLowering});
}
}  // namespace
}  // namespace asc
