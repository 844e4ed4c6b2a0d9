#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::I32;
using testing::I64;
using testing::InferOp;
using testing::InferText;
using testing::RunOp;
using testing::RunOp1;
using testing::TypedInput;
using testing::ValuesOf;

Tensor Bools(const Dims& dims, std::initializer_list<bool> values) {
  return Tensor::FromValues<bool>(dims, values);
}

TEST(Logic, TruthTables) {
  const Tensor a = Bools({2, 1}, {false, true}), b = Bools({2}, {false, true});
  ExpectTensor(RunOp1("And", {a, b}), {2, 2}, {0, 0, 0, 1});
  ExpectTensor(RunOp1("Or", {a, b}), {2, 2}, {0, 1, 1, 1});
  ExpectTensor(RunOp1("Xor", {a, b}), {2, 2}, {0, 1, 1, 0});
  ExpectTensor(RunOp1("Not", {b}), {2}, {1, 0});
}

TEST(Logic, Bits) {
  const auto a = Tensor::FromValues<uint8_t>({2}, {12, 10}),
             b = Tensor::FromValues<uint8_t>({}, {6});
  ExpectTensor(RunOp1("BitwiseAnd", {a, b}), {2}, {4, 2});
  ExpectTensor(RunOp1("BitwiseOr", {a, b}), {2}, {14, 14});
  ExpectTensor(RunOp1("BitwiseXor", {a, b}), {2}, {10, 12});
  ExpectTensor(RunOp1("BitwiseNot", {a}), {2}, {243, 245});
  ExpectTensor(RunOp1("BitwiseNot", {I32({1}, {0})}), {1}, {-1});
}

TEST(Logic, Shifts) {
  const auto shift = [](Tensor x, Tensor by, std::string direction) {
    return RunOp1("BitShift", {x, by}, {{"direction", direction}});
  };
  ExpectTensor(shift(I32({4}, {1, -8, -8, 8}), I32({4}, {3, 1, 40, -1}), "RIGHT"), {4},
               {0, -4, -1, 0});
  ExpectTensor(shift(I32({3}, {1, -1, 3}), I32({3}, {31, 4, 32}), "LEFT"), {3},
               {-2147483648.0, -16, 0});
  ExpectTensor(
      shift(Tensor::FromValues<uint8_t>({1}, {255}), Tensor::FromValues<uint8_t>({1}, {4}), "LEFT"),
      {1}, {240});
  EXPECT_NE(InferText("BitShift", {{DataType::kInt32, "[1]"}, {DataType::kInt32, "[1]"}},
                      {{"direction", "UP"}})
                .find("E5003"),
            std::string::npos);
}

TEST(Logic, Comparisons) {
  const Tensor a = F32({4}, {1, 2, NAN, 3}), b = F32({4}, {1, 3, NAN, 2});
  ExpectTensor(RunOp1("Equal", {a, b}), {4}, {1, 0, 0, 0});
  ExpectTensor(RunOp1("Greater", {a, b}), {4}, {0, 0, 0, 1});
  ExpectTensor(RunOp1("GreaterOrEqual", {a, b}), {4}, {1, 0, 0, 1});
  ExpectTensor(RunOp1("Less", {a, b}), {4}, {0, 1, 0, 0});
  ExpectTensor(RunOp1("LessOrEqual", {a, b}), {4}, {1, 1, 0, 0});
  const auto text = [](std::initializer_list<std::string> values) {
    return Tensor::FromValues<std::string>({static_cast<int64_t>(values.size())}, values);
  };
  ExpectTensor(RunOp1("Equal", {text({"a", "b"}), text({"b"})}), {2}, {0, 1});
  ExpectTensor(RunOp1("Equal", {Bools({2}, {true, false}), Bools({}, {true})}), {2}, {1, 0});
  EXPECT_EQ(InferText("Less", {{DataType::kInt64, "[N, 1]"}, {DataType::kInt64, "[3]"}}),
            "bool[N, 3]");
}

TEST(Logic, NanAndInfinity) {
  const Tensor x = F32({4}, {1, NAN, INFINITY, -INFINITY});
  ExpectTensor(RunOp1("IsNaN", {x}), {4}, {0, 1, 0, 0});
  ExpectTensor(RunOp1("IsInf", {x}), {4}, {0, 0, 1, 1});
  ExpectTensor(RunOp1("IsInf", {x}, {{"detect_negative", 0}}), {4}, {0, 0, 1, 0});
  const Tensor narrow =
      RunOp1("Cast", {x}, {{"to", static_cast<int64_t>(DataType::kFloat8E5M2)}, {"saturate", 0}});
  ExpectTensor(RunOp1("IsInf", {narrow}, {{"detect_positive", 0}}), {4}, {0, 0, 0, 1});
}

TEST(Where, ChoosesAndBroadcasts) {
  ExpectTensor(RunOp1("Where", {Bools({2, 1}, {true, false}), F32({2}, {1, 2}), F32({}, {9})}),
               {2, 2}, {1, 2, 9, 9});
  const Tensor complex = Tensor::FromValues<std::complex<double>>({1}, {{1, 2}});
  const Tensor chosen = RunOp1("Where", {Bools({}, {true}), complex, complex});
  EXPECT_EQ(chosen.data<std::complex<double>>()[0], std::complex<double>(1, 2));
}

// Exporters write "keep this extent" as Where(shape == -1, 1, shape).
TEST(Where, KnownElementsFlow) {
  TypedInput shape(DataType::kInt64, "[3]");
  shape.dims = {Dim::Symbol("N"), Dim(-1), Dim::Unknown()};
  const auto equal = InferOp("Equal", {shape, TypedInput(I64({}, {-1}))});
  ASSERT_TRUE(equal.ok() && (*equal)[0].dims);
  TypedInput condition(DataType::kBool, "[3]");
  condition.dims = (*equal)[0].dims;
  const auto chosen = InferOp("Where", {condition, TypedInput(I64({3}, {1, 1, 1})), shape});
  ASSERT_TRUE(chosen.ok() && (*chosen)[0].dims);
  EXPECT_EQ((*(*chosen)[0].dims)[0], Dim::Symbol("N"));
  EXPECT_EQ((*(*chosen)[0].dims)[1], Dim(1));
  EXPECT_TRUE((*(*chosen)[0].dims)[2].is_unknown());
}

TEST(Pow, TypesOfBaseAndExponent) {
  ExpectTensor(RunOp1("Pow", {F32({3}, {2, 3, -8}), F32({}, {2})}), {3}, {4, 9, 64});
  ExpectTensor(RunOp1("Pow", {F32({2}, {2, 9}), I64({2}, {-1, 3})}), {2}, {0.5, 729});
  EXPECT_EQ(ValuesOf<int32_t>(
                RunOp1("Pow", {I32({5}, {3, -2, 1, -1, 5}), I32({5}, {4, 31, -7, -3, -2})})),
            (std::vector<int32_t>{81, INT32_MIN, 1, -1, 0}));
  ExpectTensor(RunOp1("Pow", {I64({2}, {4, 2}), F32({2}, {0.5, -1})}), {2}, {2, 0});
  ExpectTensor(
      RunOp1("Pow", {Floats(DataType::kFloat16, {1}, {3}), Tensor::FromValues<uint8_t>({1}, {2})}),
      {1}, {9});
  EXPECT_EQ(RunOp("Pow", {I32({1}, {0}), I32({1}, {-1})}).status().code(), Code::kArithmetic);
}

}  // namespace
}  // namespace asc
