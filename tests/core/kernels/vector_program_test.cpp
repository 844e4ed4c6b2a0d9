// Vector programs against the reference kernel: functions, broadcasting, reductions, element types,
// layouts, tails, and programs made at random.
#include "core/ops/vector_program.h"

#include <bit>
#include <random>

#include "core/kernels/vector/program.h"
#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
using Inputs = std::vector<std::optional<Tensor>>;

KernelCase Program(std::string_view text, Inputs inputs, size_t outputs = 1) {
  KernelCase test;
  test.op = "VectorProgram";
  test.domain = "asc";
  test.inputs = std::move(inputs);
  test.attributes.Set("program", std::string(text));
  test.outputs = outputs;
  return test;
}
void ExpectProgram(const KernelCase& test, double tolerance = 1e-6) {
  SCOPED_TRACE(test.attributes.String("program", ""));
  ExpectVectorKernel(test, "vector.program", tolerance);
}

constexpr int64_t kLengths[] = {1,  2,  3,  5,  7,  8,  9,   15,  16,  17,  31,   33,
                                49, 63, 64, 65, 80, 81, 127, 128, 129, 197, 1000, 20000};

TEST(VectorProgramKernel, FunctionsOfOneOperand) {
  for (int i = 0;; ++i) {
    const auto op = static_cast<VectorOp>(i);
    const VectorOpInfo& info = InfoOf(op);
    if (info.operands != 1) break;
    std::string text = Cat("%0 = ", info.text, " in0");
    if (info.parameters > 0) text += ", 0.5";
    if (info.parameters > 1) text += ", 0.75";
    text += "; float32 %0";
    ExpectProgram(Program(text, {WildNoise({3, 201})}), 2e-6);
    ExpectProgram(Program(text, {WildNoise({5})}), 2e-6);
  }
}

// Of floats of every size, NaN and denormal numbers among them; ties too.
TEST(VectorProgramKernel, NarrowFloatsRoundToNearestEven) {
  std::mt19937 random(3);
  Tensor x = Tensor::Allocate(DataType::kFloat32, {50, 1000}).value();
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto bits = static_cast<uint32_t>(random());
    // All sizes, then what float16 has a place for, then halves of its last place.
    const uint32_t near_one = (bits & 0x8FFFFFFFu) | 0x30000000u;
    x.data<float>()[i] = std::bit_cast<float>(i % 3 == 0   ? bits
                                              : i % 3 == 1 ? near_one
                                                           : near_one & 0xFFFFF000u);
  }
  // The bits of a NaN may change.
  for (int64_t i = 0; i < x.size(); ++i) {
    float& v = x.data<float>()[i];
    v = std::isnan(v) ? NAN : v;
  }
  const float edges[] = {65504.0f,     65519.996f, 65520.0f, 0x1p-14f,
                         0x1.ffep-15f, 0x1p-24f,   0x1p-25f, 0x1.8p-24f};
  std::copy(std::begin(edges), std::end(edges), x.data<float>());
  ExpectProgram(Program("%0 = half in0; float32 %0; float16 %0", {x}, 2), 0);
  ExpectProgram(Program("%0 = bfloat16 in0; float32 %0; bfloat16 %0", {x}, 2), 0);
  ExpectProgram(Program("%0 = neg in0; float16 %0; bfloat16 %0", {x}, 2), 0);
}

// Rows of converted operands: whole groups, long rows tile by tile, patterns.
TEST(VectorProgramKernel, NarrowRows) {
  const auto half = [](const Tensor& x) {
    Tensor out = Tensor::Allocate(DataType::kFloat16, x.dims()).value();
    for (int64_t i = 0; i < x.size(); ++i) out.data<Half>()[i] = Half(x.data<float>()[i]);
    return out;
  };
  constexpr std::string_view kSoftmaxOfHalves =
      "%0 = mul in0, 0.125; %1 = half %0; %2 = add %1, in1; %3 = half %2; %4 = reduce_max %3; "
      "%5 = sub %3, %4; %6 = exp %5; %7 = reduce_sum %6; %8 = div %6, %7; float32 %8; float16 %4";
  constexpr std::string_view kChainOfHalves =
      "%0 = add in0, in1; %1 = half %0; %2 = mul %1, %1; %3 = half %2; float16 %3; bool %1";
  for (const int64_t length : {1, 7, 49, 80, 300, 1500, 5000}) {
    SCOPED_TRACE(length);
    for (const Dims& other : {Dims{length}, Dims{1}, Dims{40, 1}, Dims{40, length}}) {
      const Inputs inputs = {half(Noise({40, length})), half(Noise(other, 2))};
      ExpectProgram(Program(kSoftmaxOfHalves, inputs, 2), 1e-3);
      ExpectProgram(Program(kChainOfHalves, inputs, 2), 0);
    }
  }
}

TEST(VectorProgramKernel, FunctionsOfTwoOperands) {
  for (int i = 0;; ++i) {
    const auto op = static_cast<VectorOp>(i);
    if (op == VectorOp::kFma) break;
    const VectorOpInfo& info = InfoOf(op);
    if (info.operands != 2) continue;
    const auto text = [&](std::string_view x, std::string_view y) {
      return Cat("%0 = ", info.text, ' ', x, ", ", y, "; float32 %0");
    };
    const Tensor x = WildNoise({7, 45}), y = WildNoise({7, 45}, 2);
    ExpectProgram(Program(text("in0", "in1"), {x, y}), 0);
    ExpectProgram(Program(text("in0", "in1"), {x, WildNoise({45}, 3)}), 0);
    ExpectProgram(Program(text("in0", "in1"), {WildNoise({7, 1}, 3), x}), 0);
    ExpectProgram(Program(text("in0", "0.25"), {x}), 0);
    ExpectProgram(Program(text("-0.25", "in0"), {x}), 0);
    // The first operand in the accumulator, the second in it, both.
    const auto chain = [&](std::string_view operands) {
      return Cat("%0 = neg in0; %1 = ", info.text, ' ', operands, "; float32 %1");
    };
    ExpectProgram(Program(chain("%0, in1"), {x, y}), 0);
    ExpectProgram(Program(chain("in1, %0"), {x, y}), 0);
    ExpectProgram(Program(chain("%0, %0"), {x}), 0);
    ExpectProgram(Program(chain("2, %0"), {x}), 0);
  }
}

TEST(VectorProgramKernel, FunctionsOfThreeOperands) {
  const Tensor x = Noise({4, 70}), y = Noise({4, 70}, 2), z = Noise({4, 70}, 3),
               row = Noise({4, 1}, 4);
  for (const char* op : {"fma", "select"}) {
    for (const char* operands :
         {"%0, in1, in2", "in1, %0, in2", "in1, in2, %0", "%0, %0, in2", "in1, %0, %0"}) {
      const std::string text =
          Cat("%0 = relu in0; %1 = ", op, ' ', operands, "; %2 = add %1, ",
              std::string_view(operands).find("in1") == std::string_view::npos ? "in1" : "in2",
              "; float32 %2");
      ExpectProgram(Program(text, {x, y, z}));
      ExpectProgram(Program(text, {x, row, z}));
      ExpectProgram(Program(text, {x, y, row}));
    }
  }
}

// Chains that the lowering makes superinstructions of, with operands of one element too.
TEST(VectorProgramKernel, Superinstructions) {
  constexpr std::string_view kChains[] = {
      "%0 = mul in0, in1; %1 = add %0, in2; float32 %1",
      "%0 = mul in0, in1; %1 = sub %0, in2; float32 %1",
      "%0 = mul in0, in1; %1 = sub in2, %0; float32 %1",
      "%0 = add in0, in1; %1 = add %0, in2; float32 %1",
      "%0 = add in0, in1; %1 = mul in2, %0; float32 %1",
      "%0 = sub in0, in1; %1 = mul %0, in2; float32 %1",
      "%0 = add in0, in1; %1 = relu %0; %2 = mul %1, in2; float32 %2",
      "%0 = mul in0, in1; %1 = add %0, in2; %2 = relu %1; float32 %2",
      "%0 = mul in0, in1; %1 = abs in2; %2 = add %1, %0; float32 %2",
      "%0 = mul in0, in1; %1 = abs in2; %2 = sub %1, %0; float32 %2",
      "%0 = mul in0, in1; %1 = abs in2; %2 = sub %0, %1; float32 %2",
      "%0 = add in0, in1; %1 = abs in2; %2 = mul %0, %1; float32 %2",
      "%0 = sub in0, in1; %1 = abs in2; %2 = mul %1, %0; float32 %2",
      // What the superinstruction would leave unsaved is read again.
      "%0 = mul in0, in1; %1 = abs in2; %2 = sub %1, %0; %3 = mul %2, %1; float32 %3",
      "%0 = mul in0, in1; %1 = abs in2; %2 = sub %1, %0; %3 = add %2, %0; float32 %3; float32 %1",
  };
  const Dims shapes[] = {{5, 150}, {5, 1}, {150}, {1}};
  for (const std::string_view chain : kChains) {
    const size_t outputs = VectorProgram::Parse(chain)->outputs.size();
    for (const Dims& x : shapes) {
      for (const Dims& y : shapes)
        ExpectProgram(Program(chain, {Noise(x), Noise(y, 2), Noise({5, 150}, 3)}, outputs), 0);
      ExpectProgram(Program(chain, {WildNoise({5, 150}), Noise({150}, 2), Noise(x, 3)}, outputs),
                    0);
    }
  }
}

TEST(VectorProgramKernel, Lengths) {
  constexpr std::string_view kChain =
      "%0 = mul in0, 1.5; %1 = add %0, in1; %2 = tanh %1; %3 = sub %2, in0; %4 = max %3, %1; "
      "float32 %4";
  for (const int64_t length : kLengths) {
    SCOPED_TRACE(length);
    const Tensor x = WildNoise({length}), y = Noise({length}, 2);
    ExpectProgram(Program(kChain, {x, y}));
    ExpectProgram(Program(kChain, {Noise({3, length}), Noise({3, 1}, 2)}));
    ExpectProgram(Program(kChain, {Noise({3, length}), Noise({length}, 2)}));
  }
}

TEST(VectorProgramKernel, Broadcasting) {
  constexpr std::string_view kChain =
      "%0 = mul in0, in1; %1 = add %0, in2; %2 = relu %1; float32 %2";
  const Tensor x = Noise({2, 6, 5, 8});
  for (const Dims& a : {Dims{}, Dims{1}, Dims{8}, Dims{5, 1}, Dims{6, 1, 1}, Dims{2, 1, 1, 1},
                        Dims{2, 6, 1, 8}, Dims{1, 6, 5, 1}, Dims{2, 1, 5, 8}}) {
    for (const Dims& b : {Dims{2, 6, 5, 8}, Dims{8}, Dims{6, 1, 1}, Dims{5, 8}})
      ExpectProgram(Program(kChain, {x, Noise(a, 2), Noise(b, 3)}), 0);
  }
  // The outer product of two vectors; a column first.
  ExpectProgram(Program(kChain, {Noise({30, 1}), Noise({1, 70}, 2), Noise({1}, 3)}), 0);
  ExpectProgram(Program(kChain, {Noise({5000, 16}), Noise({16}, 2), Noise({5000, 1}, 3)}), 0);
  ExpectProgram(Program(kChain, {Noise({0, 16}), Noise({16}, 2), Noise({1}, 3)}), 0);
  // One element for each row, rows of every length; cut between threads.
  for (const int64_t length : {2, 3, 16, 49, 80, 255, 256, 257, 300}) {
    ExpectProgram(Program(kChain, {Noise({700, length}), Noise({700, 1}, 2), Noise({length}, 3)}),
                  0);
    ExpectProgram(Program(kChain, {Noise({2, 40, length}), Noise({40, 1}, 2), Noise({1}, 3)}), 0);
  }
}

TEST(VectorProgramKernel, Channels) {
  constexpr std::string_view kNorm = "%0 = fma in0, ch1, ch2; %1 = relu %0; float32 %1";
  for (const Dims& dims : {Dims{2, 6, 5, 8}, Dims{3, 6}, Dims{2, 6, 40000}}) {
    KernelCase test = Program(kNorm, {Noise(dims), Noise({6}, 2), Noise({6}, 3)});
    ExpectProgram(test);
    test.constants = {1, 2};
    ExpectProgram(test);
  }
}

TEST(VectorProgramKernel, BlockedImages) {
  for (const int c0 : {8, 16}) {
    for (const int64_t channels : {16, 20}) {
      for (const int64_t size : {1, 3, 7, 30}) {
        SCOPED_TRACE(Cat(channels, " channels in blocks of ", c0, ", maps of ", size));
        const Tensor x = Noise({2, channels, size, size + 1});
        KernelCase norm = Program("%0 = fma in0, ch1, ch2; %1 = sigmoid %0; float32 %1",
                                  {x, Noise({channels}, 2), Noise({channels}, 3)});
        norm.c0 = c0;
        norm.constants = {1, 2};
        ExpectProgram(norm);
        KernelCase gate = Program("%0 = mul in0, in1; %1 = add %0, in0; float32 %1",
                                  {x, Noise({2, channels, 1, 1}, 2)});
        gate.c0 = c0;
        ExpectProgram(gate, 0);
        KernelCase scale =
            Program("%0 = hard_swish in0; %1 = mul %0, in1; %2 = add %1, 0.5; float32 %2",
                    {x, Noise({1}, 2)});
        scale.c0 = c0;
        ExpectProgram(scale);
        KernelCase rows = Program("%0 = mul in0, in1; %1 = exp %0; float32 %1",
                                  {x, Noise({1, channels, size, 1}, 2)});
        rows.c0 = c0;
        ExpectProgram(rows);
      }
    }
  }
}

TEST(VectorProgramKernel, Reductions) {
  for (const char* op : {"reduce_max", "reduce_mean", "reduce_min", "reduce_sum"}) {
    for (const int64_t length : kLengths) {
      SCOPED_TRACE(Cat(op, " of ", length));
      ExpectProgram(Program(Cat("%0 = ", op, " in0; float32 %0"), {Noise({5, length})}));
      // Whatever is far from its sum loses what it adds.
      if (std::string_view(op) == "reduce_sum") continue;
      const int64_t rows = length > 1000 ? 3 : 70;
      ExpectProgram(Program(Cat("%0 = ", op, " in0; %1 = sub in0, %0; %2 = square %1; %3 = ", op,
                                " %2; %4 = add %3, 1e-5; %5 = sqrt %4; %6 = div %1, %5; "
                                "float32 %6; float32 %3"),
                            {Noise({rows, length})}, 2),
                    3e-6);
    }
    ExpectProgram(Program(Cat("%0 = ", op, " in0; float32 %0"), {WildNoise({50, 30})}));
  }
  ExpectProgram(Program("%0 = reduce_sum in0; %1 = add %0, 1; float32 %1", {Noise({3, 0})}));
}

constexpr std::string_view kSoftmax =
    "%0 = mul in0, 0.125; %1 = add %0, in1; %2 = reduce_max %1; %3 = sub %1, %2; %4 = exp %3; "
    "%5 = reduce_sum %4; %6 = div %4, %5; float32 %6";
constexpr std::string_view kLayerNorm =
    "%0 = add in0, in1; %1 = reduce_mean %0; %2 = sub %0, %1; %3 = square %2; %4 = reduce_mean %3; "
    "%5 = add %4, 1e-5; %6 = reciprocal_sqrt %5; %7 = mul %2, %6; %8 = mul %7, in2; "
    "%9 = add %8, in3; float32 %0; float32 %9";

TEST(VectorProgramKernel, RowsOfEveryLength) {
  for (int64_t length = 1; length <= 80; ++length) {
    SCOPED_TRACE(length);
    ExpectProgram(Program(kSoftmax, {Noise({9, length}), Noise({1, length}, 2)}));
    if (length == 1) continue;  // one element minus itself is all rounding
    ExpectProgram(
        Program(kLayerNorm,
                {Noise({9, length}), Noise({9, length}, 2), Noise({length}, 3), Noise({length}, 4)},
                2),
        4e-6);
  }
  for (const int64_t length : {197, 768, 5000}) {
    ExpectProgram(Program(kSoftmax, {Noise({3, 70, length}), Noise({3, 1, length}, 2)}));
    ExpectProgram(Program(kLayerNorm,
                          {Noise({70, length}), Noise({70, length}, 2), Noise({length}, 3),
                           Noise({length}, 4)},
                          2),
                  4e-6);
  }
}

// Softmax, normalisations and reductions of which every pass over a row is one loop.
constexpr std::string_view kRowPrograms[] = {
    kSoftmax,
    kLayerNorm,
    "%0 = reduce_max in0; %1 = sub in0, %0; %2 = exp %1; %3 = reduce_sum %2; %4 = log %3; "
    "%5 = sub %1, %4; float32 %5",
    "%0 = mul in0, 0.5; %1 = reduce_max %0; %2 = sub %0, %1; %3 = exp %2; %4 = reduce_sum %3; "
    "%5 = div %2, %4; %6 = reciprocal %4; %7 = mul %3, %6; float32 %7",
    "%0 = add in0, in1; %1 = add %0, in2; %2 = reduce_mean %1; %3 = sub %1, %2; %4 = square %3; "
    "%5 = reduce_mean %4; %6 = sqrt %5; %7 = div %3, %6; %8 = mul %7, in3; %9 = add %8, in3; "
    "float32 %9",
    "%0 = square in0; %1 = reduce_mean %0; %2 = reciprocal_sqrt %1; %3 = mul in0, %2; "
    "%4 = mul %3, in1; float32 %4",
    "%0 = add in0, in1; %1 = square %0; %2 = reduce_sum %1; %3 = sqrt %2; %4 = div %0, %3; "
    "float32 %0; float32 %4",
    "%0 = reduce_mean in0; %1 = sub in0, %0; %2 = square %1; %3 = reduce_mean %2; %4 = sqrt %3; "
    "%5 = reciprocal %4; %6 = mul %1, %5; %7 = fma %6, in1, in2; float32 %7",
    "%0 = reduce_min in0; float32 %0",
};
// A NaN wherever it is in the row.
TEST(VectorProgramKernel, ExtremesKeepNan) {
  for (const int64_t length : {1, 16, 75, 133}) {
    Tensor x = Noise({length, length});
    for (int64_t i = 0; i < length; ++i) x.data<float>()[i * length + i] = NAN;
    ExpectProgram(Program("%0 = reduce_max in0; float32 %0", {x}), 0);
    ExpectProgram(Program("%0 = mul in0, -2; %1 = reduce_min %0; float32 %1", {x}), 0);
    ExpectProgram(Program("%0 = reduce_min in0; float32 %0", {x}), 0);
  }
}

Inputs RowInputs(const VectorProgram& program, int64_t rows, int64_t length, bool wild) {
  const Dims shapes[] = {{rows, length}, {rows, length}, {length}, {length}};
  Inputs inputs;
  for (size_t i = 0; i < 4 && !program.Verify(i, program.outputs.size()).ok(); ++i)
    inputs.emplace_back(wild ? WildNoise(shapes[i], static_cast<uint32_t>(i + 1))
                             : Noise(shapes[i], static_cast<uint32_t>(i + 1)));
  return inputs;
}

TEST(VectorProgramKernel, RowSuperinstructions) {
  for (const std::string_view text : kRowPrograms) {
    const VectorProgram program = VectorProgram::Parse(text).value();
    const size_t outputs = program.outputs.size();
    const size_t inputs = RowInputs(program, 1, 2, false).size();
    const auto code =
        simd::LowerProgram(program, std::vector<bool>(std::max<size_t>(1, inputs), false));
    ASSERT_TRUE(code.ok());
    for (const simd::ProgramSegment& segment : code->segments)
      EXPECT_TRUE(!segment.wide || simd::FindRowLoop(*code, segment) != nullptr) << text;
    for (const int64_t length : {2, 15, 16, 31, 49, 64, 80, 127, 300, 5000}) {
      SCOPED_TRACE(length);
      const int64_t rows = length > 1000 ? 3 : 33;
      ExpectProgram(Program(text, RowInputs(program, rows, length, false), outputs), 4e-6);
      ExpectProgram(Program(text, RowInputs(program, rows, length, true), outputs), 4e-6);
    }
  }
}

TEST(VectorProgramKernel, ElementTypes) {
  const auto cast = [](const Tensor& x, DataType type) {
    Tensor out = Tensor::Allocate(type, x.dims()).value();
    for (int64_t i = 0; i < x.size(); ++i) {
      const float v = x.data<float>()[i];
      if (type == DataType::kInt64) out.data<int64_t>()[i] = static_cast<int64_t>(v * 100);
      if (type == DataType::kInt32) out.data<int32_t>()[i] = static_cast<int32_t>(v * 100);
      if (type == DataType::kBool) out.data<bool>()[i] = v > 0;
      if (type == DataType::kFloat16) out.data<Half>()[i] = Half(v);
      if (type == DataType::kBFloat16) out.data<BFloat16>()[i] = BFloat16(v);
    }
    return out;
  };
  const Tensor x = Noise({3, 203});
  for (const DataType type : {DataType::kInt64, DataType::kInt32, DataType::kBool,
                              DataType::kFloat16, DataType::kBFloat16}) {
    SCOPED_TRACE(DataTypeName(type));
    for (const char* out : {"float32", "float16", "bfloat16", "bool"}) {
      const std::string text =
          Cat("%0 = mul in0, 0.5; %1 = less in1, 0.25; %2 = select %1, %0, "
              "in1; ",
              out, " %2");
      for (const Dims& dims : {Dims{3, 203}, Dims{203}, Dims{3, 1}, Dims{}}) {
        KernelCase test = Program(text, {x, cast(Noise(dims, 2), type)});
        ExpectProgram(test, 0);
        test.constants = {1};
        ExpectProgram(test, 0);
      }
    }
  }
  ExpectProgram(Program("%0 = reduce_max in0; %1 = equal in0, %0; bool %1; float16 %0",
                        {cast(x, DataType::kFloat16)}, 2),
                0);
}

// Programs of exact functions have one right answer, whatever their shape.
TEST(VectorProgramKernel, RandomPrograms) {
  std::mt19937 random(7);
  const auto pick = [&](size_t n) { return static_cast<int>(random() % n); };
  constexpr VectorOp kExact[] = {VectorOp::kAbs,  VectorOp::kNeg,    VectorOp::kRelu,
                                 VectorOp::kAdd,  VectorOp::kMul,    VectorOp::kSub,
                                 VectorOp::kMax,  VectorOp::kMin,    VectorOp::kSelect,
                                 VectorOp::kLess, VectorOp::kSquare, VectorOp::kGreaterOrEqual};
  constexpr VectorOp kReductions[] = {VectorOp::kReduceMax, VectorOp::kReduceMin};
  const Dims shapes[] = {{6, 70}, {70}, {6, 1}, {1}, {6, 70}};
  for (int round = 0; round < 300; ++round) {
    VectorProgram program;
    Inputs inputs;
    const size_t input_count = 1 + static_cast<size_t>(pick(4));
    for (size_t i = 0; i < input_count; ++i)
      inputs.emplace_back(Noise(i == 0 ? shapes[0] : shapes[pick(std::size(shapes))],
                                static_cast<uint32_t>(round * 8) + static_cast<uint32_t>(i)));
    const bool reduces = round % 2 == 1;
    const int length = 1 + pick(24);
    for (int i = 0; i < length; ++i) {
      VectorInstruction made;
      made.op = reduces && pick(4) == 0 ? kReductions[pick(2)] : kExact[pick(std::size(kExact))];
      for (VectorOperand& operand : made.operands) {
        const int kind = pick(8);
        operand = kind < 4 && i > 0 ? VectorOperand::Value(i - 1 - pick(std::min<size_t>(i, 6)))
                  : kind < 7        ? VectorOperand::Input(pick(input_count))
                                    : VectorOperand::Number(static_cast<float>(pick(9)) - 4);
      }
      // Reductions are of wide values.
      if (IsReduction(made.op)) made.operands[0] = VectorOperand::Input(pick(input_count));
      program.instructions.push_back(made);
    }
    // All inputs are read.
    for (size_t i = 0; i < input_count; ++i) {
      program.Append(VectorOp::kAdd,
                     {VectorOperand::Value(static_cast<int>(program.instructions.size()) - 1),
                      VectorOperand::Input(static_cast<int>(i))});
    }
    const size_t outputs = 1 + static_cast<size_t>(pick(3));
    const auto last = static_cast<int>(program.instructions.size()) - 1;
    for (size_t i = 0; i < outputs; ++i)
      program.outputs.push_back({DataType::kFloat32, i == 0 ? last : pick(last + 1)});
    ASSERT_TRUE(program.Verify(input_count, outputs).ok());
    ExpectProgram(Program(program.ToText(), inputs, outputs), 0);
  }
}
}  // namespace
}  // namespace asc::testing
