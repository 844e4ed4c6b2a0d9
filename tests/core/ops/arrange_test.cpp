// Trilu, ReverseSequence, OneHot, Col2Im.
#include "core/base/parallel.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using V = std::vector<int32_t>;

TEST(Trilu, KeepsATriangle) {
  const Tensor x = I32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](int64_t upper, int64_t k) {
    return ValuesOf<int32_t>(RunOp1("Trilu", {x, Tensor::Scalar<int64_t>(k)}, {{"upper", upper}}));
  };
  EXPECT_EQ(run(1, 0), (V{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(run(1, 2), (V{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(run(0, 0), (V{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(run(0, -1), (V{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(run(1, INT64_MIN), (V{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run(1, INT64_MAX), (V{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(RunOp1("Trilu", {Pseudo({2, 0, 3})}).TypeString(), "float32[2, 0, 3]");
  EXPECT_EQ(RunOp("Trilu", {Pseudo({2})}).status().code(), Code::kShapeMismatch);
}

TEST(Trilu, SharesLargeArraysOut) {
  const ScopedThreads scoped(3);
  constexpr int64_t kRows = 90, kColumns = 110;
  const Tensor x = Pseudo({13, kRows, kColumns});
  for (const bool upper : {false, true}) {
    const Tensor y = RunOp1("Trilu", {x, Tensor::Scalar<int64_t>(-3)}, {{"upper", int64_t{upper}}});
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t row = i / kColumns % kRows, column = i % kColumns;
      const bool kept = upper ? column >= row - 3 : column <= row - 3;
      ASSERT_EQ(y.data<float>()[i], kept ? x.data<float>()[i] : 0.0f) << i;
    }
  }
}

TEST(ReverseSequence, ReversesTheFirstElements) {
  const Tensor x = I32({4, 4}, {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReverseSequence", {x, I64({4}, {4, 3, 2, 1})})),
            (V{3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReverseSequence", {x, I64({4}, {1, 2, 3, 4})},
                                     {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}})),
            (V{0, 4, 8, 12, 5, 1, 9, 13, 10, 6, 2, 14, 15, 11, 7, 3}));
  EXPECT_EQ(RunOp("ReverseSequence", {x, I64({4}, {1, 2, 3, 5})}).status().code(),
            Code::kOutOfRange);
  EXPECT_EQ(RunOp("ReverseSequence", {x, I64({3}, {1, 2, 3})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("ReverseSequence", {x, I64({4}, {1, 1, 1, 1})}, {{"batch_axis", int64_t{0}}})
                .status()
                .code(),
            Code::kInvalidArgument);
}

TEST(OneHot, SetsOneElementAnIndex) {
  const Tensor values = I32({2}, {2, 5});
  EXPECT_EQ(ValuesOf<int32_t>(
                RunOp1("OneHot", {I64({3}, {1, -1, 7}), Tensor::Scalar<int64_t>(3), values})),
            (V{2, 5, 2, 2, 2, 5, 2, 2, 2}));
  const Tensor first =
      RunOp1("OneHot", {F32({2}, {0, 2}), F32({1}, {3}), values}, {{"axis", int64_t{0}}});
  EXPECT_EQ(first.TypeString(), "int32[3, 2]");
  EXPECT_EQ(ValuesOf<int32_t>(first), (V{5, 2, 2, 2, 2, 5}));
  EXPECT_EQ(RunOp("OneHot", {I64({1}, {0}), Tensor::Scalar<int64_t>(-1), values}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("OneHot",
                      {TypedInput(DataType::kInt64, "[N]"), Tensor::Scalar<int64_t>(4), values}),
            "int32[N, 4]");
}

TEST(Col2Im, AddsOverlappingBlocks) {
  // Blocks of 2 at the three positions of a row of 4: the inner elements are covered twice.
  ExpectTensor(
      RunOp1("Col2Im", {F32({1, 2, 3}, {1, 2, 3, 10, 20, 30}), I64({1}, {4}), I64({1}, {2})}),
      {1, 1, 4}, {1, 12, 23, 30});
  ExpectTensor(RunOp1("Col2Im", {F32({1, 2, 2}, {1, 2, 3, 4}), I64({1}, {2}), I64({1}, {2})},
                      {{"strides", std::vector<int64_t>{2}}, {"pads", std::vector<int64_t>{1, 1}}}),
               {1, 1, 2}, {3, 2});
  EXPECT_EQ(RunOp("Col2Im", {Pseudo({1, 2, 5}), I64({1}, {4}), I64({1}, {2})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Col2Im", {Pseudo({1, 2, 3}), I64({1}, {4}), I64({1}, {0})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("Col2Im", {TypedInput(DataType::kFloat32, "[N, 12, L]"), I64({2}, {5, 5}),
                                 I64({2}, {2, 2})}),
            "float32[N, 3, 5, 5]");
}

}  // namespace
}  // namespace asc::testing
