#include <cmath>
#include <limits>

#include "core/ops/registry.h"
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

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ElementwiseBinary, Broadcasts) {
  ExpectTensor(RunOp1("Add", {F32({2, 1, 2}, {1, 2, 3, 4}), F32({3, 1}, {10, 20, 30})}), {2, 3, 2},
               {11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34});
  ExpectTensor(RunOp1("Sub", {F32({}, {1}), F32({1, 1, 2}, {1, 2})}), {1, 1, 2}, {0, -1});
  ExpectTensor(RunOp1("Mul", {F32({0}, {}), F32({1}, {3})}), {0}, {});
  ExpectTensor(RunOp1("Mul", {F32({2, 0}, {}), F32({2, 1}, {3, 4})}), {2, 0}, {});
  ExpectTensor(RunOp1("Add", {F32({1, 1, 5}, {1, 2, 3, 4, 5}), F32({5}, {1, 1, 1, 1, 1})}),
               {1, 1, 5}, {2, 3, 4, 5, 6});
}

// Rows that start in the middle, for several threads.
TEST(ElementwiseBinary, LargeBroadcastEqualsLoops) {
  const Tensor a = testing::Pseudo({7, 1, 90, 41}), b = testing::Pseudo({5, 1, 41}, 2);
  const Tensor sum = RunOp1("Add", {a, b});
  ASSERT_EQ(sum.dims(), (Dims{7, 5, 90, 41}));
  int64_t i = 0;
  for (int64_t n = 0; n < 7; ++n) {
    for (int64_t c = 0; c < 5; ++c) {
      for (int64_t h = 0; h < 90; ++h) {
        for (int64_t w = 0; w < 41; ++w, ++i) {
          ASSERT_EQ(sum.data<float>()[i],
                    a.data<float>()[(n * 90 + h) * 41 + w] + b.data<float>()[c * 41 + w]);
        }
      }
    }
  }
}

TEST(ElementwiseBinary, IntegersWrap) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Add", {I32({1}, {INT32_MAX}), I32({1}, {1})}))[0], INT32_MIN);
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("Mul", {I64({1}, {INT64_MIN}), I64({1}, {-1})}))[0],
            INT64_MIN);
  const auto u16 = Tensor::FromValues<uint16_t>({1}, {65535});
  EXPECT_EQ(ValuesOf<uint16_t>(RunOp1("Mul", {u16, u16}))[0], 1);
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Div", {I32({2}, {INT32_MIN, 7}), I32({}, {-1})})),
            (std::vector<int32_t>{INT32_MIN, -7}));
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("Mod", {I64({1}, {INT64_MIN}), I64({}, {-1})}))[0], 0);
}

TEST(ElementwiseBinary, IntegerDivisionTruncatesAndRefusesZero) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Div", {I32({3}, {7, -7, 7}), I32({3}, {2, 2, -2})})),
            (std::vector<int32_t>{3, -3, -3}));
  EXPECT_EQ(RunOp("Div", {I32({1}, {1}), I32({1}, {0})}).status().code(), Code::kArithmetic);
  EXPECT_EQ(RunOp("Mod", {I64({1}, {1}), I64({2}, {1, 0})}).status().code(), Code::kArithmetic);
  ExpectTensor(RunOp1("Div", {I32({0}, {}), I32({1}, {0})}), {0}, {});
  ExpectTensor(RunOp1("Div", {F32({2}, {1, 0}), F32({}, {0})}), {2}, {INFINITY, kNan});
}

TEST(ElementwiseBinary, Mod) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Mod", {I32({4}, {7, -7, 7, -7}), I32({4}, {3, 3, -3, -3})})),
            (std::vector<int32_t>{1, 2, -2, -1}));
  EXPECT_EQ(ValuesOf<int32_t>(
                RunOp1("Mod", {I32({4}, {7, -7, 7, -7}), I32({4}, {3, 3, -3, -3})}, {{"fmod", 1}})),
            (std::vector<int32_t>{1, -1, 1, -1}));
  ExpectTensor(RunOp1("Mod", {F32({3}, {-4.5, 4.5, NAN}), F32({}, {2})}), {3}, {1.5, 0.5, kNan});
  ExpectTensor(RunOp1("Mod", {F32({2}, {-4.5, 4.5}), F32({}, {2})}, {{"fmod", 1}}), {2},
               {-0.5, 0.5});
  // The special cases of the definition.
  ExpectTensor(
      RunOp1("Mod", {F32({4}, {INFINITY, 1, 1, -1}), F32({4}, {2, 0, INFINITY, INFINITY})}), {4},
      {kNan, kNan, 1, INFINITY});
}

TEST(ElementwiseBinary, NarrowFloatsRoundOnce) {
  // 2048 + 1 ties to even in float16.
  ExpectTensor(RunOp1("Add", {Floats(DataType::kFloat16, {2}, {2048, 65504}),
                              Floats(DataType::kFloat16, {}, {1})}),
               {2}, {2048, 65504}, 0);
}

TEST(ElementwiseBinary, PRelu) {
  ExpectTensor(RunOp1("PRelu", {F32({1, 2, 2}, {-1, 2, -3, NAN}), F32({2, 1}, {0.5, 2})}),
               {1, 2, 2}, {-0.5, 2, -6, kNan});
  EXPECT_NE(InferText("PRelu", {{DataType::kFloat32, "[2]"}, {DataType::kFloat32, "[3, 2]"}})
                .find("E5001"),
            std::string::npos);
}

TEST(ElementwiseBinary, ShapeRule) {
  EXPECT_EQ(InferText("Add", {{DataType::kFloat32, "[N, 1, 4]"}, {DataType::kFloat32, "[3, 1]"}}),
            "float32[N, 3, 4]");
  EXPECT_EQ(InferText("Add", {{DataType::kFloat32, "[*]"}, {DataType::kFloat32, "[3, 1]"}}),
            "float32[*]");
  EXPECT_NE(
      InferText("Add", {{DataType::kFloat32, "[2]"}, {DataType::kFloat32, "[3]"}}).find("E5001"),
      std::string::npos);
  EXPECT_NE(
      InferText("Add", {{DataType::kFloat32, "[2]"}, {DataType::kInt32, "[2]"}}).find("E5002"),
      std::string::npos);
}

TEST(ElementwiseBinary, KnownElementsFlow) {
  TypedInput shape(DataType::kInt64, "[2]");
  shape.dims = {Dim::Symbol("N"), Dim(7)};
  const auto elements = [&](std::string_view name, Tensor other) {
    const auto out = InferOp(name, {shape, TypedInput(std::move(other))});
    EXPECT_TRUE(out.ok());
    return (*out)[0].dims ? Cat(*(*out)[0].dims) : "none";
  };
  EXPECT_EQ(elements("Add", I64({}, {1})), "[N + 1, 8]");
  EXPECT_EQ(elements("Sub", I64({2}, {1, 2})), "[N - 1, 5]");
  EXPECT_EQ(elements("Mul", I64({1}, {2})), "[2*N, 14]");
  EXPECT_EQ(elements("Div", I64({1}, {2})), "[floordiv(N, 2), 3]");
  EXPECT_EQ(elements("Max", I64({1}, {10})), "[max(10, N), 10]");
  EXPECT_EQ(elements("Mod", I64({1}, {4})), "[N - 4*floordiv(N, 4), 3]");
  // Truncation is not floor division below 0.
  shape.dims = {Dim::Symbol("N") - Dim(3), Dim(-7)};
  const auto divided = InferOp("Div", {shape, TypedInput(I64({1}, {2}))});
  ASSERT_TRUE(divided.ok() && (*divided)[0].dims);
  EXPECT_TRUE((*(*divided)[0].dims)[0].is_unknown());
  EXPECT_EQ((*(*divided)[0].dims)[1], Dim(-3));
}

TEST(ElementwiseVariadic, MaxMinKeepNanWhereverItStands) {
  const Tensor a = F32({3}, {1, NAN, 3}), b = F32({3}, {2, 5, NAN});
  ExpectTensor(RunOp1("Max", {a, b}), {3}, {2, kNan, kNan});
  ExpectTensor(RunOp1("Min", {a, b, F32({}, {0})}), {3}, {0, kNan, kNan});
  ExpectTensor(RunOp1("Max", {F32({1, 2}, {1, 5}), F32({2, 1}, {3, 4})}), {2, 2}, {3, 5, 4, 5});
  ExpectTensor(RunOp1("Min", {I64({1}, {3})}), {1}, {3});
}

TEST(ElementwiseVariadic, ResultTakesThePlaceOfAnyOperand) {
  const OpSchema& schema = *OpRegistry::Global().Find("", "Max");
  for (const std::vector<size_t>& operands : {std::vector<size_t>{0, 1}, {1, 0, 0}, {1, 2, 0}}) {
    AnyValue values[] = {I64({3}, {1, 5, 3}), I64({3}, {4, 2, 9}), I64({1}, {4})};
    std::vector<const AnyValue*> inputs;
    for (const size_t i : operands) inputs.push_back(&values[i]);
    AnyValue output(values[0].tensor());  // shares the memory
    AnyValue* outputs[] = {&output};
    const AttributeMap attributes;
    RunState run{HostAllocator()};
    KernelContext context(schema, attributes, inputs.data(), inputs.size(), outputs, 1, run, 0);
    ASSERT_TRUE(schema.reference(context).ok());
    ExpectTensor(output.tensor(), {3}, {4, 5, 9});
  }
}

TEST(ElementwiseVariadic, SumAndMean) {
  for (const DataType type : types::kFloats.Types()) {
    const Tensor a = Floats(type, {2}, {1, 2}), b = Floats(type, {1}, {3}),
                 c = Floats(type, {2, 1}, {0, 6});
    ExpectTensor(RunOp1("Sum", {a, b, c}), {2, 2}, {4, 5, 10, 11});
    ExpectTensor(RunOp1("Mean", {a, b, c}), {2, 2}, {4 / 3.0, 5 / 3.0, 10 / 3.0, 11 / 3.0}, 1e-2);
  }
  EXPECT_EQ(RunOp("Sum", {}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc
