// Activations written as several operators become one.
#include "tests/core/passes/pass_test.h"

namespace asc {
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;

const std::string kInput = "input %x: float32[N, 4]\n";
const std::string kOutput = "\noutput \"y\" = %y";
const testing::Expectation kRounding{.tolerance = 2e-6, .options = {}, .bindings = {}};

void ExpectOne(const std::string& nodes, const std::string& activation) {
  SCOPED_TRACE(nodes);
  ExpectRewrite(kInput + nodes + kOutput, kInput + activation + kOutput,
                {MakeActivationRecomposition, MakeDeadCodeElimination}, kRounding);
}
void ExpectKept(const std::string& nodes, const PassOptions& options = {}) {
  SCOPED_TRACE(nodes);
  ExpectUnchanged(kInput + nodes + kOutput, {MakeActivationRecomposition}, options);
}

TEST(RecompositionTest, Silu) {
  ExpectOne("%s = Sigmoid(%x) %y = Mul(%x, %s)", "%y = Swish(%x)");
  ExpectOne("%s = Sigmoid(%x) %y = Mul(%s, %x)", "%y = Swish(%x)");
  ExpectOne("constant %a: float32[] = [1.702] %t = Mul(%a, %x) %s = Sigmoid(%t) %y = Mul(%x, %s)",
            "%y = Swish(%x) {alpha = 1.702}");
}

TEST(RecompositionTest, SiluOfSomethingElseStays) {
  ExpectKept("%r = Relu(%x) %s = Sigmoid(%r) %y = Mul(%x, %s)");
  ExpectKept("%s = Sigmoid(%x) %y = Mul(%x, %s) output \"s\" = %s");
  ExpectKept("constant %k: float32[] = [2.0] %s = Sigmoid(%x) %t = Mul(%x, %s) %y = Mul(%t, %s)");
}

const std::string kThreeSix =
    "constant %three: float32[] = [3.0] constant %six: float32[] = [6.0] constant %zero: float32[] "
    "= [0.0]\n"
    "%a = Add(%x, %three) %c = Clip(%a, %zero, %six)\n";

TEST(RecompositionTest, HardSwishAndHardSigmoid) {
  ExpectOne(kThreeSix + "%m = Mul(%x, %c) %y = Div(%m, %six)", "%y = HardSwish(%x)");
  ExpectOne(kThreeSix + "%d = Div(%c, %six) %y = Mul(%x, %d)", "%y = HardSwish(%x)");
  ExpectOne(kThreeSix + "constant %k: float32[] = [0.16666667] %m = Mul(%c, %x) %y = Mul(%k, %m)",
            "%y = HardSwish(%x)");
  ExpectOne("%h = HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5} %y = Mul(%x, %h)",
            "%y = HardSwish(%x)");
  ExpectOne(kThreeSix + "%y = Div(%c, %six)",
            "%y = HardSigmoid(%x) {alpha = 0.16666667, beta = 0.5}");
  ExpectOne(
      "constant %k: float32[] = [0.2] constant %b: float32[] = [0.5] constant %lo: float32[] = "
      "[0.0] constant %hi: float32[] = [1.0]"
      "%m = Mul(%x, %k) %a = Add(%m, %b) %y = Clip(%a, %lo, %hi)",
      "%y = HardSigmoid(%x) {alpha = 0.2, beta = 0.5}");
}

TEST(RecompositionTest, OtherClipsStay) {
  ExpectKept("%h = HardSigmoid(%x) {alpha = 0.2, beta = 0.5} %y = Mul(%x, %h)");
  ExpectKept(
      "constant %three: float32[] = [3.0] constant %six: float32[] = [6.0] constant %low: "
      "float32[] = [1.0]"
      "%a = Add(%x, %three) %c = Clip(%a, %low, %six) %m = Mul(%x, %c) %y = Div(%m, %six)");
  ExpectKept(kThreeSix + "%m = Mul(%x, %c) %y = Div(%m, %three)");
  ExpectKept(kThreeSix + "%m = Mul(%x, %c) %y = Div(%m, %six) output \"c\" = %c");
}

const std::string kErf =
    "constant %half: float32[] = [0.5] constant %one: float32[1] = [1.0] constant %root: float32[] "
    "= [1.4142135]"
    "%d = Div(%x, %root) %e = Erf(%d) %s = Add(%e, %one)\n";

TEST(RecompositionTest, GeluByErf) {
  ExpectOne(kErf + "%m = Mul(%x, %s) %y = Mul(%m, %half)", "%y = Gelu(%x)");
  ExpectOne(kErf + "%h = Mul(%half, %x) %y = Mul(%h, %s)", "%y = Gelu(%x)");
  ExpectOne(kErf + "%h = Mul(%s, %half) %y = Mul(%x, %h)", "%y = Gelu(%x)");
}

TEST(RecompositionTest, GeluByTanh) {
  const std::string tail = "%t = Tanh(%i) %s = Add(%one, %t) %h = Mul(%half, %x) %y = Mul(%h, %s)";
  const std::string head =
      "constant %half: float32[] = [0.5] constant %one: float32[] = [1.0] constant %k: float32[] = "
      "[0.7978846]"
      "constant %c: float32[] = [0.044715] constant %three: float32[] = [3.0]\n";
  const std::string gelu = "%y = Gelu(%x) {approximate = \"tanh\"}";
  ExpectOne(head + "%p = Pow(%x, %three) %q = Mul(%p, %c) %a = Add(%x, %q) %i = Mul(%a, %k)" + tail,
            gelu);
  ExpectOne(
      head +
          "%p = Mul(%x, %x) %r = Mul(%p, %x) %q = Mul(%c, %r) %a = Add(%q, %x) %i = Mul(%k, %a)" +
          tail,
      gelu);
  ExpectOne(
      head +
          "%p = Mul(%x, %x) %q = Mul(%c, %p) %a = Add(%q, %one) %l = Mul(%x, %a) %i = Mul(%k, %l)" +
          tail,
      gelu);
  ExpectKept(head + "%p = Pow(%x, %half) %q = Mul(%p, %c) %a = Add(%x, %q) %i = Mul(%a, %k)" +
             tail);
}

TEST(RecompositionTest, OtherConstantsAreNoGelu) {
  ExpectKept(
      "constant %half: float32[] = [0.5] constant %one: float32[1] = [1.0] constant %root: "
      "float32[] = [1.5]"
      "%d = Div(%x, %root) %e = Erf(%d) %s = Add(%e, %one) %m = Mul(%x, %s) %y = Mul(%m, %half)");
  ExpectKept(kErf + "%y = Mul(%x, %s)");
  ExpectKept(kErf + "%r = Relu(%x) %m = Mul(%r, %s) %y = Mul(%m, %half)");
}

TEST(RecompositionTest, ScopesSwitchItOff) {
  PassOptions options;
  options.fusion[0].disabled = {"GELU"};
  ExpectKept(kErf + "%m = Mul(%x, %s) %y = Mul(%m, %half)", options);
}

}  // namespace
}  // namespace asc
