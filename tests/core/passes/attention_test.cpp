// FusedAttention: softmax of a masked product, times values, is one operator.
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::ReadGraph;
using testing::RunPasses;

const testing::Expectation kRounding{.tolerance = 2e-6, .options = {}, .bindings = {}};
const std::string kHeads = R"(
  input %q: float32[B, 2, S, 4]
  input %k: float32[B, 2, K, 4]
  input %v: float32[B, 2, K, 4]
)";
const std::string kOutput = "\noutput \"y\" = %y";

void ExpectAttention(const std::string& inputs, const std::string& before,
                     const std::string& after) {
  SCOPED_TRACE(before);
  ExpectRewrite(inputs + before + kOutput, inputs + after + kOutput,
                {MakeFusedMatMul, MakeFusedAttention, MakeDeadCodeElimination}, kRounding);
}
void ExpectKept(const std::string& text, const PassOptions& options = {}) {
  SCOPED_TRACE(text);
  ExpectUnchanged(text, {MakeFusedAttention}, options);
}

// MatMul(Softmax(MatMul(q, Transpose(k)) / c), v) => FusedAttention(q, k, v)
TEST(FusedAttentionTest, ScaledProduct) {
  const std::string after = "%y = asc.FusedAttention(%q, %k, %v) {scale = 0.5}";
  const std::string keys = "%t = Transpose(%k) {perm = [0, 1, 3, 2]} ";
  const std::string weights = " %w = Softmax(%z) {axis = 3} %y = MatMul(%w, %v)";
  ExpectAttention(
      kHeads,
      keys + "constant %c: float32[] = [2.0] %s = MatMul(%q, %t) %z = Div(%s, %c)" + weights,
      after);
  ExpectAttention(
      kHeads,
      keys + "constant %c: float32[] = [0.5] %p = Mul(%q, %c) %z = MatMul(%p, %t)" + weights,
      after);
  // The root of the factor on either side.
  ExpectAttention(
      kHeads,
      keys +
          "constant %c: float32[1] = [0.5] constant %d: float32[] = [1.0] %p = Mul(%q, %c) "
          "%r = Mul(%t, %d) %z = MatMul(%p, %r)" +
          weights,
      after);
}

// Transposes of heads, before and after, are read and written through.
TEST(FusedAttentionTest, TakesInTransposes) {
  const std::string inputs = R"(
    input %a: float32[B, S, 2, 4]
    input %b: float32[B, K, 2, 4]
    input %c: float32[B, K, 2, 4]
  )";
  ExpectAttention(inputs, R"(
    %q = Transpose(%a) {perm = [0, 2, 1, 3]}
    %k = Transpose(%b) {perm = [0, 2, 3, 1]}
    %v = Transpose(%c) {perm = [0, 2, 1, 3]}
    %s = MatMul(%q, %k)
    %w = Softmax(%s)
    %o = MatMul(%w, %v)
    %y = Transpose(%o) {perm = [0, 2, 1, 3]})",
                  R"(
    %y = asc.FusedAttention(%a, %b, %c) {q_perm = [0, 2, 1, 3], k_perm = [0, 2, 1, 3],
      v_perm = [0, 2, 1, 3], y_perm = [0, 2, 1, 3]})");
  // One matrix of three: the place along the first axis after a Transpose.
  ExpectAttention("input %x: float32[B, S, 3, 2, 4]", R"(
    constant %zero: int64[] = [0] constant %one: int64[] = [1] constant %two: int64[] = [-1]
    %t = Transpose(%x) {perm = [2, 0, 3, 1, 4]}
    %q = Gather(%t, %zero) %k = Gather(%t, %one) %v = Gather(%t, %two)
    %r = Transpose(%k) {perm = [0, 1, 3, 2]}
    %s = MatMul(%q, %r)
    %w = Softmax(%s)
    %y = MatMul(%w, %v))",
                  R"(
    %y = asc.FusedAttention(%x, %x, %x) {q_perm = [2, 0, 3, 1, 4], k_perm = [2, 0, 3, 1, 4],
      v_perm = [2, 0, 3, 1, 4], q_index = 0, k_index = 1, v_index = 2})");
}

// Attention between channels: rows of the operands and of the result would be read and written in strides.
TEST(FusedAttentionTest, TransposesThatScatterRowsStay) {
  const std::string inputs = R"(
    input %a: float32[B, S, 2, 4]
    input %b: float32[B, S, 2, 4]
    input %c: float32[2, 4, B, S]
  )";
  const std::string operands = R"(
    %q = Transpose(%a) {perm = [0, 2, 3, 1]}
    %v = Transpose(%c) {perm = [2, 0, 3, 1]})";
  ExpectAttention(inputs, operands + R"(
    %k = Transpose(%b) {perm = [0, 2, 1, 3]}
    %s = MatMul(%q, %k)
    %w = Softmax(%s)
    %u = Transpose(%v) {perm = [0, 1, 3, 2]}
    %o = MatMul(%w, %u)
    %y = Transpose(%o) {perm = [0, 3, 1, 2]})",
                  R"(
    %q = Transpose(%a) {perm = [0, 2, 3, 1]}
    %o = asc.FusedAttention(%q, %b, %c) {k_perm = [0, 2, 3, 1], v_perm = [2, 0, 1, 3]}
    %y = Transpose(%o) {perm = [0, 3, 1, 2]})");
}

// Additive masks, and conditions of Where, come after the product.
TEST(FusedAttentionTest, Masks) {
  const std::string inputs = kHeads + "input %m: float32[B, 1, 1, K] input %t: bool[1, 1, S, K]\n";
  const std::string product = "%s = asc.FusedMatMul(%q, %k) {transB = 1, alpha = 0.5} ";
  const std::string weights = " %w = Softmax(%z) %y = MatMul(%w, %v)";
  const std::string fill = "constant %f: float32[] = [-3.0] ";
  ExpectAttention(inputs, product + "%z = Add(%s, %m)" + weights,
                  "%y = asc.FusedAttention(%q, %k, %v, _, %m) {scale = 0.5}");
  ExpectAttention(inputs, product + "%z = Add(%m, %s)" + weights,
                  "%y = asc.FusedAttention(%q, %k, %v, _, %m) {scale = 0.5}");
  ExpectAttention(inputs, product + fill + "%z = Where(%t, %s, %f)" + weights,
                  "%y = asc.FusedAttention(%q, %k, %v, %t) {scale = 0.5, fill = -3.0}");
  ExpectAttention(
      inputs, product + fill + "%z = Where(%t, %f, %s)" + weights,
      "%y = asc.FusedAttention(%q, %k, %v, %t) {scale = 0.5, fill = -3.0, fill_where = 1}");
  ExpectAttention(inputs, product + fill + "%f1 = Where(%t, %s, %f) %z = Add(%f1, %m)" + weights,
                  "%y = asc.FusedAttention(%q, %k, %v, %t, %m) {scale = 0.5, fill = -3.0}");
  // A mask of the scores' own shape is the product's addend by now.
  const std::string full = kHeads + "input %m: float32[B, 2, S, K]\n";
  ExpectAttention(
      full, "%s = asc.FusedMatMul(%q, %k, _, %m) {transB = 1} %w = Softmax(%s) %y = MatMul(%w, %v)",
      "%y = asc.FusedAttention(%q, %k, %v, _, %m)");
}

// Where(IsNaN(w), 0, w) of the weights: what masks rows whole.
TEST(FusedAttentionTest, ClearsNan) {
  ExpectAttention(kHeads, R"(
    constant %zero: float32[] = [0.0]
    %s = asc.FusedMatMul(%q, %k) {transB = 1}
    %w = Softmax(%s)
    %n = IsNaN(%w)
    %c = Where(%n, %zero, %w)
    %y = MatMul(%c, %v))",
                  "%y = asc.FusedAttention(%q, %k, %v) {clear_nan = 1}");
}

// Nothing is known of the lengths, and a mask may make the scores larger: what was right stays right.
TEST(FusedAttentionTest, DynamicShapes) {
  const std::string inputs = R"(
    input %q: float32[A, B, C, D]
    input %k: float32[E, F, G, D]
    input %v: float32[H, I, J, L]
    input %m: float32[M, N]
  )";
  testing::Expectation expectation = kRounding;
  expectation.bindings = {{"A", 2}, {"B", 1}, {"C", 3}, {"D", 4}, {"E", 1}, {"F", 3}, {"G", 1},
                          {"H", 2}, {"I", 3}, {"J", 5}, {"L", 2}, {"M", 1}, {"N", 5}};
  ExpectRewrite(inputs + R"(
    %s = asc.FusedMatMul(%q, %k) {transB = 1}
    %z = Add(%s, %m)
    %w = Softmax(%z)
    %y = MatMul(%w, %v))" +
                    kOutput,
                inputs + "%y = asc.FusedAttention(%q, %k, %v, _, %m)" + kOutput,
                {MakeFusedAttention}, expectation);
}

TEST(FusedAttentionTest, ValuesWithOtherUsersSurvive) {
  const std::string product =
      kHeads + "%s = asc.FusedMatMul(%q, %k) {transB = 1} %w = Softmax(%s) ";
  ExpectKept(product + "%y = MatMul(%w, %v) output \"w\" = %w" + kOutput);
  ExpectKept(product + "%y = MatMul(%w, %v) output \"s\" = %s" + kOutput);
  ExpectKept(product + "%a = MatMul(%w, %v) %b = MatMul(%w, %k) %y = Add(%a, %b)" + kOutput);
  // Operands may have other users, and so may what is before their Transpose.
  ExpectAttention("input %a: float32[B, S, 2, 4]\n", R"(
    %q = Transpose(%a) {perm = [0, 2, 1, 3]}
    %s = asc.FusedMatMul(%q, %q) {transB = 1}
    %w = Softmax(%s)
    %y = MatMul(%w, %q)
    %e = Exp(%q)
    output "e" = %e)",
                  R"(
    %y = asc.FusedAttention(%a, %a, %a) {q_perm = [0, 2, 1, 3], k_perm = [0, 2, 1, 3], v_perm = [0, 2, 1, 3]}
    %q = Transpose(%a) {perm = [0, 2, 1, 3]}
    %e = Exp(%q)
    output "e" = %e)");
}

TEST(FusedAttentionTest, OtherFormsStay) {
  const std::string scores = kHeads + "%s = asc.FusedMatMul(%q, %k) {transB = 1} ";
  ExpectKept(scores + "%w = Softmax(%s) {axis = 2} %y = MatMul(%w, %v)" + kOutput);
  ExpectKept(scores + "%r = Relu(%s) %w = Softmax(%r) %y = MatMul(%w, %v)" + kOutput);
  // A mask of more axes makes more axes.
  ExpectKept(
      scores +
      "input %m: float32[M, 1, 1, 1, K] %z = Add(%s, %m) %w = Softmax(%z) %y = MatMul(%w, %v)" +
      kOutput);
  // Weights that do not change are packed once by a matrix product.
  ExpectKept(
      "input %q: float32[S, 2] constant %k: float32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
      "input %v: float32[3, 4] %s = asc.FusedMatMul(%q, %k) {transB = 1} %w = Softmax(%s) %y = "
      "MatMul(%w, %v)" +
      kOutput);
  ExpectKept(
      "input %q: float16[S, 2] input %k: float16[K, 2] input %v: float16[K, 4]\n"
      "%s = asc.FusedMatMul(%q, %k) {transB = 1} %w = Softmax(%s) %y = MatMul(%w, %v)" +
      kOutput);
  // Nodes whose first output is absent are looked at too.
  ExpectKept(
      "input %x: float32[S, 1, 2] constant %w: float32[1, 4, 2] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, "
      "0.7, 0.8]\n"
      "constant %r: float32[1, 4, 1] = [0.1, 0.2, 0.3, 0.4]\n"
      "_, %y = LSTM(%x, %w, %r) {hidden_size = 1}" +
      kOutput);
  PassOptions off;
  off.disabled = {"Attention"};
  ExpectKept(scores + "%w = Softmax(%s) %y = MatMul(%w, %v)" + kOutput, off);
}
}  // namespace
}  // namespace asc
