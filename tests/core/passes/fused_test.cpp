// Convolutions and matrix products take in what follows them.
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::Canonical;
using testing::ExpectRewrite;
using testing::RandomConstant;
using testing::ReadGraph;
using testing::RunPasses;

const testing::Expectation kRounding{.tolerance = 2e-6, .options = {}, .bindings = {}};
const std::string kOutput = "\noutput \"y\" = %y";

// ---- FusedConv: activation(conv + residual) is one operator ----

const std::string kImage = "input %x: float32[N, 4, H, W]\n" + RandomConstant("w", {4, 4, 3, 3}) +
                           RandomConstant("b", {4});

void ExpectFusedConv(const std::string& before, const std::string& after) {
  SCOPED_TRACE(before);
  ExpectRewrite(kImage + before + kOutput, kImage + after + kOutput, {MakeFusedConv}, kRounding);
}

TEST(FusedConvTest, ActivationsOfAllKinds) {
  const std::string conv = "%c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} ";
  for (const auto& [activation, attributes] : {
           std::pair{"Relu(%c)", "\"Relu\""},
           {"Sigmoid(%c)", "\"Sigmoid\""},
           {"HardSwish(%c)", "\"HardSwish\""},
           {"Swish(%c)", "\"Silu\""},
           {"Tanh(%c)", "\"Tanh\""},
           {"Gelu(%c)", "\"Gelu\""},
           {"Gelu(%c) {approximate = \"tanh\"}", "\"GeluTanh\""},
           {"LeakyRelu(%c) {alpha = 0.3}", "\"LeakyRelu\", activation_params = [0.3]"},
           {"HardSigmoid(%c) {alpha = 0.3, beta = 0.4}",
            "\"HardSigmoid\", activation_params = [0.3, 0.4]"},
       }) {
    ExpectFusedConv(
        conv + "%y = " + activation,
        Cat("%y = asc.FusedConv(%x, %w, %b) {pads = [1, 1, 1, 1], activation = ", attributes, "}"));
  }
  const std::string bounds = "constant %lo: float32[] = [0.0] constant %hi: float32[] = [6.0] ";
  ExpectFusedConv(bounds + conv + "%y = Clip(%c, %lo, %hi)",
                  bounds +
                      "%y = asc.FusedConv(%x, %w, %b) {pads = [1, 1, 1, 1], activation = \"Clip\", "
                      "activation_params = [0.0, 6.0]}");
  ExpectFusedConv(bounds + conv + "%y = Clip(%c, _, %hi)",
                  bounds +
                      "%y = asc.FusedConv(%x, %w, %b) {pads = [1, 1, 1, 1], activation = \"Clip\", "
                      "activation_params = [-inf, 6.0]}");
}

TEST(FusedConvTest, ResidualAdditions) {
  const std::string conv = "%c = Conv(%x, %w) {pads = [1, 1, 1, 1]} ";
  ExpectFusedConv(conv + "%s = Add(%x, %c) %y = Relu(%s)",
                  "%y = asc.FusedConv(%x, %w, _, %x) {pads = [1, 1, 1, 1], activation = \"Relu\"}");
  ExpectFusedConv(conv + "%y = Add(%c, %x)",
                  "%y = asc.FusedConv(%x, %w, _, %x) {pads = [1, 1, 1, 1]}");
  // Of two convolutions that are added, one takes the sum.
  ExpectFusedConv(
      "%c = Conv(%x, %w) %d = Conv(%x, %w, %b) %s = Add(%c, %d) %y = Relu(%s)",
      "%d = Conv(%x, %w, %b) %y = asc.FusedConv(%x, %w, _, %d) {activation = \"Relu\"}");
}

void ExpectKept(const std::string& body, const PassOptions& options = {}) {
  SCOPED_TRACE(body);
  const auto graph = ReadGraph(body);
  const std::string before = Canonical(*graph);
  RunPasses(*graph, {MakeFusedConv, MakeFusedMatMul}, options);
  EXPECT_EQ(Canonical(*graph), before);
}

TEST(FusedConvTest, ValuesWithOtherUsersSurvive) {
  const std::string conv = kImage + "%c = Conv(%x, %w) {pads = [1, 1, 1, 1]} ";
  ExpectKept(conv + "%y = Relu(%c) output \"c\" = %c" + kOutput);
  ExpectKept(conv + "%y = Relu(%c) %z = Exp(%c) output \"z\" = %z" + kOutput);
  ExpectKept(conv + "%y = Add(%c, %c)" + kOutput);
  // The activation's operand is used, so only the addition is taken in.
  ExpectRewrite(conv + "%s = Add(%x, %c) %y = Relu(%s) output \"s\" = %s" + kOutput,
                kImage +
                    "%s = asc.FusedConv(%x, %w, _, %x) {pads = [1, 1, 1, 1]} %y = Relu(%s) output "
                    "\"s\" = %s" +
                    kOutput,
                {MakeFusedConv}, kRounding);
}

TEST(FusedConvTest, WhatDoesNotFitStays) {
  ExpectKept("input %x: float32[N, 4, H, W] input %r: float32[N, 1, 1, 1]\n" +
             RandomConstant("w", {4, 4, 1, 1}) + "%c = Conv(%x, %w) %y = Add(%c, %r)" +
             kOutput);  // broadcasts
  ExpectKept("input %x: float32[N, 4, H, W] input %r: float32[M, 4, H, W]\n" +
             RandomConstant("w", {4, 4, 1, 1}) + "%c = Conv(%x, %w) %y = Add(%c, %r)" +
             kOutput);  // may broadcast
  ExpectKept(kImage + "input %lo: float32[] %c = Conv(%x, %w) %y = Clip(%c, %lo)" + kOutput);
  ExpectKept(
      "input %x: float64[N, 4, H, W] input %w: float64[4, 4, 1, 1] constant %lo: float64[] = [0.1]"
      "%c = Conv(%x, %w) %y = Clip(%c, %lo)" +
      kOutput);  // 0.1 is not exact as float
}

TEST(FusedConvTest, SwitchedOffNamesLeaveTheShorterFusion) {
  const std::string body =
      kImage + "%c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} %s = Add(%x, %c) %y = Relu(%s)" +
      kOutput;
  testing::Expectation expectation = kRounding;
  expectation.options.disabled = {"Conv2d+BiasAdd+Add+ReLU"};
  ExpectRewrite(
      body,
      kImage + "%s = asc.FusedConv(%x, %w, %b, %x) {pads = [1, 1, 1, 1]} %y = Relu(%s)" + kOutput,
      {MakeFusedConv}, expectation);
  PassOptions all;
  all.disabled = {"ALL"};
  ExpectKept(body, all);
  // One node in a scope that does not consent is enough.
  PassOptions scoped;
  scoped.fusion[7].mode = FusionSettings::Mode::kOff;
  ExpectKept(kImage + "%c = Conv(%x, %w, %b) %y = Relu(%c) scope 7" + kOutput, scoped);
}

// ---- FusedMatMul ----

const std::string kRows =
    "input %x: float32[B, S, 4]\n" + RandomConstant("w", {4, 5}) + RandomConstant("b", {5});

void ExpectFusedMatMul(const std::string& before, const std::string& after) {
  SCOPED_TRACE(before);
  ExpectRewrite(before + kOutput, after + kOutput, {MakeFusedMatMul, MakeDeadCodeElimination},
                kRounding);
}

TEST(FusedMatMulTest, BiasResidualAndActivation) {
  ExpectFusedMatMul(kRows + "%m = MatMul(%x, %w) %y = Add(%b, %m)",
                    kRows + "%y = asc.FusedMatMul(%x, %w, %b)");
  ExpectFusedMatMul(kRows + "%m = MatMul(%x, %w) %a = Add(%m, %b) %y = Gelu(%a)",
                    kRows + "%y = asc.FusedMatMul(%x, %w, %b) {activation = \"Gelu\"}");
  ExpectFusedMatMul(
      kRows + "input %r: float32[B, S, 5] %m = MatMul(%x, %w) %a = Add(%m, %b) %y = Add(%r, %a)",
      kRows + "input %r: float32[B, S, 5] %y = asc.FusedMatMul(%x, %w, %b, %r)");
  ExpectFusedMatMul(kRows + "%m = MatMul(%x, %w) %y = Tanh(%m)",
                    kRows + "%y = asc.FusedMatMul(%x, %w) {activation = \"Tanh\"}");
}

TEST(FusedMatMulTest, Gemm) {
  const std::string rows =
      "input %x: float32[B, 4]\n" + RandomConstant("w", {5, 4}) + RandomConstant("b", {5});
  ExpectFusedMatMul(rows + "%g = Gemm(%x, %w, %b) {transB = 1} %y = Relu(%g)",
                    rows + "%y = asc.FusedMatMul(%x, %w, %b) {transB = 1, activation = \"Relu\"}");
  ExpectFusedMatMul(
      rows + "%g = Gemm(%x, %w) {transB = 1, alpha = 0.5} %y = Relu(%g)",
      rows + "%y = asc.FusedMatMul(%x, %w) {transB = 1, alpha = 0.5, activation = \"Relu\"}");
  ExpectKept(rows + "%g = Gemm(%x, %w, %b) {transB = 1, beta = 2.0} %y = Relu(%g)" + kOutput);
}

TEST(FusedMatMulTest, TransposesAndFactorsOfOperands) {
  const std::string two = "input %q: float32[B, 2, S, 4] input %k: float32[B, 2, S, 4]\n";
  ExpectFusedMatMul(two +
                        "%t = Transpose(%k) {perm = [0, 1, 3, 2]} %m = MatMul(%q, %t) constant %c: "
                        "float32[] = [2.0] %y = Div(%m, %c)",
                    two + "%y = asc.FusedMatMul(%q, %k) {transB = 1, alpha = 0.5}");
  ExpectFusedMatMul(two +
                        "constant %c: float32[] = [0.25] %s = Mul(%q, %c) %t = Transpose(%k) {perm "
                        "= [0, 1, 3, 2]} %y = MatMul(%s, %t)",
                    two + "%y = asc.FusedMatMul(%q, %k) {transB = 1, alpha = 0.25}");
  const std::string one = "input %x: float32[K, M]\n" + RandomConstant("w", {3, 5});
  const testing::Expectation k3{.tolerance = 2e-6, .options = {}, .bindings = {{"K", 3}}};
  ExpectRewrite(one + "%t = Transpose(%x) %y = Gemm(%t, %w)" + kOutput,
                one + "%y = Gemm(%x, %w) {transA = 1}" + kOutput,
                {MakeFusedMatMul, MakeDeadCodeElimination}, k3);
  ExpectKept(two +
             "%t = Transpose(%k) {perm = [0, 3, 1, 2]} constant %s: int64[4] = [0, 2, 4, -1] %r = "
             "Reshape(%t, %s) %y = MatMul(%q, %r)" +
             kOutput);
}

TEST(FusedMatMulTest, WhatDoesNotFitStays) {
  ExpectKept(kRows + "input %mask: float32[B, 1, 1] %m = MatMul(%x, %w) %y = Add(%m, %mask)" +
             kOutput);
  ExpectKept(kRows + "input %wide: float32[7, 1, 1, 5] %m = MatMul(%x, %w) %y = Add(%m, %wide)" +
             kOutput);
  ExpectKept(kRows + "%m = MatMul(%x, %w) %y = Add(%m, %b) output \"m\" = %m" + kOutput);
  ExpectKept(
      "input %a: int32[2, 3] input %b: int32[3, 2] constant %c: int32[2] = [1, 2] %m = MatMul(%a, "
      "%b) %y = Add(%m, %c)" +
      kOutput);
}

// ---- LayerNormRecomposition ----

std::string LayerNorm(std::string_view square, std::string_view axes, std::string_view tail) {
  return Cat("input %x: float32[B, S, 6]\n", RandomConstant("g", {6}), RandomConstant("b", {6}),
             "constant %axes: int64[1] = [", axes,
             "] constant %e: float32[] = [1e-5] constant %two: float32[] = [2.0]\n",
             "%m = ReduceMean(%x, %axes) %d = Sub(%x, %m) %q = ", square,
             " %v = ReduceMean(%q, %axes) %w = Add(%v, %e) %r = Sqrt(%w) %n = Div(%d, %r) ", tail,
             kOutput);
}

TEST(LayerNormTest, MeansSquaresAndRootBecomeOne) {
  const std::string head =
      Cat("input %x: float32[B, S, 6]\n", RandomConstant("g", {6}), RandomConstant("b", {6}));
  for (const char* square : {"Pow(%d, %two)", "Mul(%d, %d)"}) {
    for (const char* axes : {"-1", "2"}) {
      ExpectRewrite(
          LayerNorm(square, axes, "%s = Mul(%n, %g) %y = Add(%s, %b)"),
          head + "%y = LayerNormalization(%x, %g, %b) {axis = -1, epsilon = 1e-5}" + kOutput,
          {MakeLayerNormRecomposition}, kRounding);
    }
  }
  ExpectRewrite(LayerNorm("Mul(%d, %d)", "-1", "%y = Mul(%g, %n)"),
                head + "%y = LayerNormalization(%x, %g) {axis = -1, epsilon = 1e-5}" + kOutput,
                {MakeLayerNormRecomposition}, kRounding);
}

TEST(LayerNormTest, OtherNormalisationsStay) {
  const auto kept = [](const std::string& body) {
    SCOPED_TRACE(body);
    testing::ExpectUnchanged(body, {MakeLayerNormRecomposition});
  };
  kept(LayerNorm("Mul(%d, %d)", "1", "%s = Mul(%n, %g) %y = Add(%s, %b)"));   // not the last axis
  kept(LayerNorm("Pow(%d, %e)", "-1", "%s = Mul(%n, %g) %y = Add(%s, %b)"));  // not the square
  kept(
      LayerNorm("Mul(%d, %x)", "-1", "%s = Mul(%n, %g) %y = Add(%s, %b)"));  // not of the deviation
  kept(LayerNorm(
      "Mul(%d, %d)", "-1",
      "%s = Mul(%n, %g) %y = Add(%s, %b) output \"v\" = %v"));  // the variance is asked for
  kept(LayerNorm("Mul(%d, %d)", "-1",
                 "%s = Mul(%n, %g) %t = Add(%s, %b) %y = Add(%t, %d)"));  // so is the deviation
  kept(LayerNorm("Mul(%d, %d)", "-1",
                 "constant %k: float32[] = [2.0] %y = Mul(%n, %k)"));  // no scale per element
}

}  // namespace
}  // namespace asc
