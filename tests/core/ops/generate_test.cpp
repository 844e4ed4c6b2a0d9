// Constant, ConstantOfShape, Range, EyeLike.
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

TEST(Constant, TakesOneAttribute) {
  EXPECT_EQ(RunOp1("Constant", {}, {{"value_ints", std::vector<int64_t>{1, 2}}}).TypeString(),
            "int64[2]");
  EXPECT_EQ(RunOp1("Constant", {}, {{"value_string", std::string("a")}}).TypeString(), "string[]");
  EXPECT_EQ(RunOp("Constant", {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(
      RunOp("Constant", {}, {{"value_int", int64_t{1}}, {"value_float", 1.0f}}).status().code(),
      Code::kInvalidArgument);
}

TEST(ConstantOfShape, Fills) {
  EXPECT_EQ(ValuesOf<float>(RunOp1("ConstantOfShape", {I64({2}, {1, 2})})),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(
      ValuesOf<int64_t>(RunOp1("ConstantOfShape", {I64({1}, {3})}, {{"value", I64({1}, {7})}})),
      (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(RunOp1("ConstantOfShape", {I64({0}, {})}).TypeString(), "float32[]");
  EXPECT_EQ(RunOp("ConstantOfShape", {I64({1}, {-1})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunOp("ConstantOfShape", {I64({2}, {INT64_MAX, 4})}).status().code(),
            Code::kInvalidArgument);
  TypedInput shape(DataType::kInt64, "[2]");
  shape.dims = {Dim::Symbol("N"), Dim(4)};
  EXPECT_EQ(InferText("ConstantOfShape", {shape}), "float32[N, 4]");
}

template <typename T>
Tensor Range(T start, T limit, T delta) {
  return RunOp1("Range", {Tensor::Scalar(start), Tensor::Scalar(limit), Tensor::Scalar(delta)});
}

TEST(Range, CountsUpAndDown) {
  EXPECT_EQ(ValuesOf<int64_t>(Range<int64_t>(3, 9, 3)), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(ValuesOf<int32_t>(Range<int32_t>(10, 4, -2)), (std::vector<int32_t>{10, 8, 6}));
  EXPECT_EQ(ValuesOf<float>(Range<float>(0, 1, 0.25f)),
            (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(Range<int64_t>(5, 5, 1).size(), 0);
  EXPECT_EQ(Range<int64_t>(5, 1, 1).size(), 0);
  EXPECT_EQ(ValuesOf<int64_t>(Range<int64_t>(INT64_MIN, INT64_MAX, INT64_MAX)),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Range, RefusesEndlessOnes) {
  const auto code = [](auto start, auto limit, auto delta) {
    return RunOp("Range", {Tensor::Scalar(start), Tensor::Scalar(limit), Tensor::Scalar(delta)})
        .status()
        .code();
  };
  EXPECT_EQ(code(int64_t{0}, int64_t{5}, int64_t{0}), Code::kInvalidArgument);
  EXPECT_EQ(code(0.0f, 5.0f, 0.0f), Code::kInvalidArgument);
  EXPECT_EQ(code(0.0f, 1e38f, 1e-30f), Code::kInvalidArgument);
  EXPECT_EQ(code(INT64_MIN, INT64_MAX, int64_t{1}), Code::kInvalidArgument);
}

TEST(Range, KeepsExpressions) {
  TypedInput limit(DataType::kInt64, "[]");
  limit.dims = {Dim::Symbol("N")};
  EXPECT_EQ(InferText("Range", {Tensor::Scalar<int64_t>(0), limit, Tensor::Scalar<int64_t>(1)}),
            "int64[N]");
}

TEST(EyeLike, PutsOnesOnADiagonal) {
  EXPECT_EQ(ValuesOf<float>(RunOp1("EyeLike", {Pseudo({2, 3})}, {{"k", int64_t{1}}})),
            (std::vector<float>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ValuesOf<int64_t>(
                RunOp1("EyeLike", {Pseudo({2, 2})}, {{"dtype", int64_t{7}}, {"k", int64_t{-1}}})),
            (std::vector<int64_t>{0, 0, 1, 0}));
  ExpectTensor(RunOp1("EyeLike", {Pseudo({1, 1})}, {{"k", INT64_MIN}}), {1, 1}, {0});
  EXPECT_EQ(RunOp("EyeLike", {Pseudo({1, 1})}, {{"dtype", int64_t{999}}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("EyeLike", {Pseudo({1, 1})}, {{"dtype", int64_t{8}}}).status().code(),
            Code::kTypeMismatch);
}

}  // namespace
}  // namespace asc::testing
