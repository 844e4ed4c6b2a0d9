#include <cmath>
#include <limits>

#include "core/ops/cast_elements.h"
#include "core/tensor/element.h"
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
using testing::ValuesOf;
using Texts = std::vector<std::string>;

int64_t To(DataType type) { return static_cast<int64_t>(type); }
Tensor CastTo(const Tensor& x, DataType to, int64_t saturate = 1) {
  return RunOp1("Cast", {x}, {{"to", To(to)}, {"saturate", saturate}});
}
Tensor Text(std::initializer_list<std::string> texts) {
  return Tensor::FromValues<std::string>({static_cast<int64_t>(texts.size())}, texts);
}

// Small values survive every pair of types that holds them.
TEST(Cast, EveryPairOfTypes) {
  const TypeSet all = types::kAll - types::kComplex;
  for (const DataType from : all.Types()) {
    const Tensor x = CastTo(F32({5}, {1, 1, 1, 0, 1}), from);
    for (const DataType to : all.Types()) {
      const Tensor y = CastTo(x, to);
      ASSERT_EQ(y.dtype(), to);
      const Tensor back = CastTo(y, DataType::kFloat64);
      // float8_e8m0fnu holds no zero.
      const bool has_zero = from != DataType::kFloat8E8M0 && to != DataType::kFloat8E8M0;
      for (int64_t i = 0; i < 5; ++i) {
        if (i == 3 && !has_zero) continue;
        EXPECT_EQ(back.data<double>()[i], i == 3 ? 0 : 1)
            << DataTypeName(from) << " to " << DataTypeName(to);
      }
    }
  }
}

TEST(Cast, FloatsTruncateAndWrapAsOnX86) {
  const Tensor x = F32({8}, {1.7f, -1.7f, 300, 3e9f, -3e9f, 1e19f, NAN, INFINITY});
  EXPECT_EQ(ValuesOf<int8_t>(CastTo(x, DataType::kInt8)),
            (std::vector<int8_t>{1, -1, 44, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ValuesOf<uint8_t>(CastTo(x, DataType::kUInt8)),
            (std::vector<uint8_t>{1, 255, 44, 0, 0, 0, 0, 0}));
  EXPECT_EQ(
      ValuesOf<int32_t>(CastTo(x, DataType::kInt32)),
      (std::vector<int32_t>{1, -1, 300, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}));
  EXPECT_EQ(ValuesOf<uint32_t>(CastTo(x, DataType::kUInt32)),
            (std::vector<uint32_t>{1, UINT32_MAX, 300, 3000000000u, 1u << 31, 0, 1u << 31, 0}));
  EXPECT_EQ(
      ValuesOf<int64_t>(CastTo(x, DataType::kInt64)),
      (std::vector<int64_t>{1, -1, 300, 3000000000, -3000000000, INT64_MIN, INT64_MIN, INT64_MIN}));
  EXPECT_EQ(ValuesOf<uint64_t>(CastTo(x, DataType::kUInt64)),
            (std::vector<uint64_t>{1, UINT64_MAX, 300, 3000000000u, uint64_t(-3000000000),
                                   9999999980506447872u, uint64_t{1} << 63, 0}));
}

TEST(Cast, NarrowsIntegersByTheirLowBits) {
  EXPECT_EQ(ValuesOf<uint8_t>(CastTo(I32({1}, {-1}), DataType::kUInt8))[0], 255);
  const Tensor nibbles = CastTo(I32({4}, {-9, 7, 8, 16}), DataType::kInt4);
  ExpectTensor(nibbles, {4}, {7, 7, -8, 0});
  EXPECT_EQ(nibbles.bytes(), 2u);
  ExpectTensor(CastTo(I32({3}, {1, 2, -1}), DataType::kInt2), {3}, {1, -2, -1});
  ExpectTensor(CastTo(F32({3}, {0.5, 0, NAN}), DataType::kBool), {3}, {1, 0, 1});
}

TEST(Cast, FloatsRoundOnce) {
  // Just above a tie of the narrow type: rounding by way of float would lose the rest and round to
  // even.
  const auto one = [](double x) { return Tensor::FromValues<double>({1}, {x}); };
  ExpectTensor(CastTo(one(1 + 0x1p-11 + 0x1p-40), DataType::kFloat16), {1}, {1 + 0x1p-10}, 0);
  ExpectTensor(CastTo(one(-1 - 0x1p-8 - 0x1p-40), DataType::kBFloat16), {1}, {-1 - 0x1p-7}, 0);
  ExpectTensor(CastTo(one(1 + 0x1p-4 + 0x1p-40), DataType::kFloat8E4M3FN), {1}, {1.125}, 0);
  ExpectTensor(
      CastTo(CastTo(F32({2}, {1e-12f, 123456.7f}), DataType::kFloat16), DataType::kFloat32), {2},
      {0, INFINITY}, 0);
}

TEST(Cast, NarrowFloatsSaturateIfAsked) {
  const Tensor x = F32({3}, {1000, -INFINITY, NAN});
  ExpectTensor(CastTo(x, DataType::kFloat8E4M3FN), {3}, {448, -448, NAN});
  ExpectTensor(CastTo(x, DataType::kFloat8E4M3FN, 0), {3}, {NAN, NAN, NAN});
  ExpectTensor(CastTo(F32({2}, {1e6, 3}), DataType::kFloat8E5M2, 0), {2}, {INFINITY, 3});
  for (const auto& [mode, want] : {std::pair{"up", 4.0}, {"down", 2.0}, {"nearest", 4.0}}) {
    const Tensor y =
        RunOp1("Cast", {F32({1}, {3})}, {{"to", To(DataType::kFloat8E8M0)}, {"round_mode", mode}});
    ExpectTensor(y, {1}, {want}, 0);
  }
  ExpectTensor(CastTo(F32({3}, {INFINITY, 0, -1}), DataType::kFloat8E8M0), {3},
               {0x1p127, 0x1p-127, NAN});
  ExpectTensor(CastTo(F32({2}, {INFINITY, 0}), DataType::kFloat8E8M0, 0), {2}, {NAN, NAN});
}

TEST(Cast, Strings) {
  EXPECT_EQ(ValuesOf<std::string>(
                CastTo(F32({6}, {1, -0.5f, 0.1f, 1e20f, NAN, -INFINITY}), DataType::kString)),
            (Texts{"1", "-0.5", "0.1", "1e+20", "NaN", "-INF"}));
  EXPECT_EQ(ValuesOf<std::string>(CastTo(I64({2}, {INT64_MIN, 1000000}), DataType::kString)),
            (Texts{"-9223372036854775808", "1000000"}));
  EXPECT_EQ(ValuesOf<std::string>(
                CastTo(Tensor::FromValues<double>({2}, {1e6, 1e-7}), DataType::kString)),
            (Texts{"1000000", "1e-07"}));
  ExpectTensor(CastTo(Text({"3.14", " 1e-5", "+INF", "-inf", "nAn", "1e999"}), DataType::kFloat32),
               {6}, {3.14, 1e-5, INFINITY, -INFINITY, NAN, INFINITY});
  ExpectTensor(CastTo(Text({"100.5", "-3", "9007199254740993"}), DataType::kInt64), {3},
               {100, -3, 9007199254740993.0});
  EXPECT_EQ(ValuesOf<int64_t>(CastTo(Text({"9007199254740993"}), DataType::kInt64))[0],
            9007199254740993);
  ExpectTensor(CastTo(Text({"0", "1", "2"}), DataType::kBool), {3}, {0, 1, 1});
  EXPECT_EQ(ValuesOf<std::string>(CastTo(Text({"a", ""}), DataType::kString)), (Texts{"a", ""}));
  for (const std::string text : {"Hello World!", "", "1.2.3", "+-1"}) {
    EXPECT_EQ(RunOp("Cast", {Text({text})}, {{"to", To(DataType::kFloat32)}}).status().code(),
              Code::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(RunOp("Cast", {Text({"NaN"})}, {{"to", To(DataType::kInt32)}}).status().code(),
            Code::kInvalidArgument);
}

TEST(Cast, ShapeRule) {
  EXPECT_EQ(InferText("Cast", {{DataType::kFloat32, "[N, 3]"}}, {{"to", To(DataType::kInt64)}}),
            "int64[N, 3]");
  EXPECT_NE(InferText("Cast", {{DataType::kFloat32, "[N]"}}, {{"to", 99}}).find("E5002"),
            std::string::npos);
  EXPECT_NE(InferText("Cast", {{DataType::kFloat32, "[N]"}}, {{"to", To(DataType::kComplex64)}})
                .find("E5002"),
            std::string::npos);
  testing::TypedInput shape(DataType::kInt64, "[2]");
  shape.dims = {Dim::Symbol("N"), Dim(3)};
  const auto cast = InferOp("Cast", {shape}, {{"to", To(DataType::kInt32)}});
  ASSERT_TRUE(cast.ok() && (*cast)[0].dims);
  EXPECT_EQ(Cat(*(*cast)[0].dims), "[N, 3]");
  ExpectTensor(RunOp1("CastLike", {F32({1}, {1.5}), I32({0}, {})}), {1}, {1});
}

// Many elements over several threads, into packed bytes.
TEST(Cast, LargePacked) {
  Tensor x = Tensor::Allocate(DataType::kInt32, {100001}).value();
  for (int32_t i = 0; i < 100001; ++i) x.data<int32_t>()[i] = i;
  const Tensor y = CastTo(x, DataType::kUInt4);
  for (int64_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(ReadAsInt64(DataType::kUInt4, y.raw(), i), i % 16);
}

}  // namespace
}  // namespace asc
