#include "core/ops/vector_program.h"

#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::InferText;
using testing::RunOp;
using testing::RunOp1;

Result<std::vector<AnyValue>> RunAll(const std::string& text, const testing::OpInputs& inputs,
                                     size_t outputs = 1) {
  return RunOp("VectorProgram", inputs, {{"program", text}}, outputs, "asc");
}
Tensor Run1(const std::string& text, const testing::OpInputs& inputs) {
  return RunOp1("VectorProgram", inputs, {{"program", text}}, "asc");
}

TEST(VectorProgram, TextReadsBack) {
  constexpr std::string_view kText =
      "%0 = sub in0, in1; %1 = reduce_mean %0; %2 = clip %0, -inf, 0.1; %3 = select %2, ch2, -3; "
      "%4 = fma %3, nan, %1; float32 %4; bool %1";
  const auto program = VectorProgram::Parse(kText);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_TRUE(program->Verify(3, 2).ok());
  EXPECT_EQ(program->ToText(), kText);
  // Blanks and line ends are free.
  const auto spaced = VectorProgram::Parse(" %0=add in0,\n1;\n float32 %0 ;\n");
  ASSERT_TRUE(spaced.ok()) << spaced.status().ToString();
  EXPECT_EQ(spaced->ToText(), "%0 = add in0, 1; float32 %0");
}

TEST(VectorProgram, TextThatIsNoProgram) {
  for (const char* text :
       {"add", "%", "%1 = add in0, 1", "%0 = frobnicate in0", "%0 = add in0", "%0 = add in0 1",
        "%0 = add in, 1", "%0 = add in99999999999999999999, 1", "%0 = clip in0, 1", "%0 add in0, 1",
        "%0 = add in0, 1 float32 %0", "%0 = neg in0; float31 %0", "%0 = neg in0; float32 0",
        "%0 = neg in0; float32 %", "%0 = neg in0 @", "%0 = clip in0, in0, 1"}) {
    const auto program = VectorProgram::Parse(text);
    ASSERT_FALSE(program.ok()) << text;
    EXPECT_EQ(program.status().code(), Code::kInvalidModel) << text;
  }
  std::string longest;
  for (int i = 0; i < 200; ++i) longest += Cat("%", i, " = neg in0; ");
  EXPECT_FALSE(VectorProgram::Parse(longest).ok());
  std::string outputs = "%0 = neg in0";
  for (int i = 0; i < 20; ++i) outputs += "; float32 %0";
  EXPECT_FALSE(VectorProgram::Parse(outputs).ok());
}

TEST(VectorProgram, VerifierRefusesWhatIsNotSafe) {
  const auto refuses = [](std::string_view text, size_t inputs = 1, size_t outputs = 1) {
    const auto program = VectorProgram::Parse(text);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    const Status status = program->Verify(inputs, outputs);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
  };
  refuses("");
  refuses("float32 %0");
  refuses("%0 = neg in0");                    // no output
  refuses("%0 = neg in0; float32 %0", 1, 2);  // one too few
  refuses("%0 = neg in0; float32 %0", 0);     // no input
  refuses("%0 = neg in0; float32 %0", 33);    // too many
  refuses("%0 = neg in0; float32 %0", 2);     // one is never read
  refuses("%0 = neg in1; float32 %0");        // not there
  refuses("%0 = neg in-1; float32 %0");
  refuses("%0 = neg %0; float32 %0");                // itself
  refuses("%0 = neg %1; %1 = neg in0; float32 %0");  // later
  refuses("%0 = neg %-1; float32 %0");
  refuses("%0 = neg in0; float32 %1");
  refuses("%0 = neg in0; float32 %-1");
  refuses("%0 = neg in0; int64 %0");  // not written
  refuses("%0 = neg in0; string %0");
  refuses("%0 = add in0, ch0; float32 %0");  // both ways
  refuses("%0 = neg ch0; float32 %0");       // no space
  refuses("%0 = reduce_sum in0; %1 = reduce_sum %0; float32 %1");
  refuses("%0 = reduce_sum 1; %1 = add %0, in0; float32 %1");
}

TEST(VectorProgram, Values) {
  const Tensor x = F32({2, 3}, {1, -2, 3, 4, 5, -6}), row = F32({3}, {1, 2, 3});
  ExpectTensor(Run1("%0 = mul in0, in1; %1 = relu %0; float32 %1", {x, row}), {2, 3},
               {1, 0, 9, 4, 10, 0}, 0);
  // Reductions are over the last axis, which stays with extent 1.
  const auto both =
      RunAll("%0 = reduce_mean in0; %1 = sub in0, %0; float32 %1; float32 %0", {x}, 2);
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  ExpectTensor((*both)[0].tensor(), {2, 3}, {1. / 3, -8. / 3, 7. / 3, 3, 4, -7}, 1e-6);
  ExpectTensor((*both)[1].tensor(), {2, 1}, {2. / 3, 1}, 1e-6);
  ExpectTensor(Run1("%0 = less in0, 2; bool %0", {x}), {2, 3}, {1, 1, 0, 0, 0, 1}, 0);
  ExpectTensor(
      Run1("%0 = add in0, ch1; float32 %0", {F32({1, 2, 1, 2}, {1, 2, 3, 4}), F32({2}, {10, 20})}),
      {1, 2, 1, 2}, {11, 12, 23, 24}, 0);
}

TEST(VectorProgram, NanStays) {
  const Tensor x = F32({1, 3}, {NAN, 1, 2});
  for (const char* op : {"relu", "abs", "sigmoid", "hard_swish", "sign", "gelu", "reduce_max",
                         "reduce_min", "reduce_sum"}) {
    const Tensor y = Run1(Cat("%0 = ", op, " in0; float32 %0"), {x});
    EXPECT_TRUE(std::isnan(y.data<float>()[0])) << op;
  }
  for (const char* text : {"max in0, 1", "max 1, in0", "min in0, 1", "min 1, in0"}) {
    const Tensor y = Run1(Cat("%0 = ", text, "; float32 %0"), {x});
    EXPECT_TRUE(std::isnan(y.data<float>()[0])) << text;
  }
}

TEST(VectorProgram, ShapeRule) {
  const auto infer = [](const std::string& text, const std::vector<testing::TypedInput>& inputs) {
    return InferText("VectorProgram", inputs, {{"program", text}}, 0, "asc");
  };
  const DataType f = DataType::kFloat32;
  EXPECT_EQ(infer("%0 = add in0, in1; float32 %0", {{f, "[N, 1]"}, {f, "[4]"}}), "float32[N, 4]");
  EXPECT_EQ(infer("%0 = add in0, ch1; float16 %0", {{f, "[N, 6, H]"}, {f, "[6]"}}),
            "float16[N, 6, H]");
  EXPECT_EQ(infer("%0 = reduce_max in0; float32 %0", {{f, "[N, L]"}}), "float32[N, 1]");
  const auto fails = [&](const std::string& text, const std::vector<testing::TypedInput>& inputs,
                         std::string_view code) {
    EXPECT_NE(infer(text, inputs).find(code), std::string::npos) << infer(text, inputs);
  };
  fails("%0 = add in0, in1; float32 %0", {{f, "[3]"}, {f, "[4]"}}, "E5001");
  fails("%0 = add in0, ch1; float32 %0", {{f, "[N, 6, H]"}, {f, "[5]"}}, "E5001");
  fails("%0 = add in0, ch1; float32 %0", {{f, "[N]"}, {f, "[N]"}}, "E5001");
  fails("%0 = reduce_max in0; float32 %0", {{f, "[]"}}, "E5001");
  fails("%0 = neg in1; float32 %0", {{f, "[3]"}}, "E5003");
  fails("nonsense", {{f, "[3]"}}, "E5006");
}
}  // namespace
}  // namespace asc
