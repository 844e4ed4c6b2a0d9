// Gather, GatherElements, GatherND.
#include "core/base/parallel.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using V = std::vector<int32_t>;

TEST(Gather, PicksRows) {
  const Tensor x = I32({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Gather", {x, I64({2}, {2, -3})})), (V{5, 6, 1, 2}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Gather", {x, I32({1, 1}, {1})}, {{"axis", int64_t{-1}}})),
            (V{2, 4, 6}));
  EXPECT_EQ(RunOp1("Gather", {x, Tensor::Scalar<int64_t>(1)}).TypeString(), "int32[2]");
  EXPECT_EQ(RunOp1("Gather", {x, I64({0}, {})}).TypeString(), "int32[0, 2]");
  EXPECT_EQ(InferText("Gather", {TypedInput(DataType::kFloat16, "[V, E]"),
                                 TypedInput(DataType::kInt64, "[N, S]")}),
            "float16[N, S, E]");
}

TEST(Gather, RefusesIndicesOutOfRange) {
  EXPECT_EQ(RunOp("Gather", {I32({2}, {5, 6}), I64({1}, {2})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("Gather", {I32({2}, {5, 6}), I64({1}, {-3})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("Gather", {I32({0}, {}), I64({1}, {0})}).status().code(), Code::kOutOfRange);
}

TEST(GatherElements, PicksElements) {
  const Tensor x = I32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("GatherElements", {x, I64({2, 3}, {1, 2, 0, 2, 0, 0})})),
            (V{4, 8, 3, 7, 2, 3}));
  EXPECT_EQ(ValuesOf<int32_t>(
                RunOp1("GatherElements", {x, I64({2, 2}, {0, -1, 1, 0})}, {{"axis", int64_t{1}}})),
            (V{1, 3, 5, 4}));
  EXPECT_EQ(RunOp("GatherElements", {x, I64({1, 1}, {3})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("GatherElements", {x, I64({1, 4}, {0, 0, 0, 0})}).status().code(),
            Code::kShapeMismatch);
}

TEST(GatherElements, TakesLargeArraysOnATeam) {
  const ScopedThreads scoped(3);
  constexpr int64_t kSide = 300;
  const Tensor x = Pseudo({kSide, kSide});
  std::vector<int64_t> wide(kSide * kSide);
  std::vector<int32_t> narrow(wide.size());
  for (size_t i = 0; i < wide.size(); ++i) {
    narrow[i] = static_cast<int32_t>(i * 7919 % (2 * kSide)) - static_cast<int32_t>(kSide);
    wide[i] = narrow[i];
  }
  const auto gather = [&](bool along) {
    const OpAttributes attributes = {{"axis", int64_t{along}}};
    const Tensor indices = Tensor::FromValues<int64_t>({kSide, kSide}, wide);
    const Tensor y = RunOp1("GatherElements", {x, indices}, attributes);
    const Tensor z = RunOp1("GatherElements",
                            {x, Tensor::FromValues<int32_t>({kSide, kSide}, narrow)}, attributes);
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t index = (wide[static_cast<size_t>(i)] + kSide) % kSide;
      const int64_t at = along ? i / kSide * kSide + index : index * kSide + i % kSide;
      ASSERT_EQ(y.data<float>()[i], x.data<float>()[at]) << i;
      ASSERT_EQ(z.data<float>()[i], x.data<float>()[at]) << i;
    }
  };
  gather(true);
  gather(false);
  for (const int64_t bad : {kSide, -kSide - 1, INT64_MAX, INT64_MIN}) {
    wide[70000] = bad;
    const auto run =
        RunOp("GatherElements", {x, Tensor::FromValues<int64_t>({kSide, kSide}, wide)});
    ASSERT_EQ(run.status().code(), Code::kOutOfRange);
    EXPECT_NE(run.status().ToString().find(std::to_string(bad)), std::string::npos);
  }
  EXPECT_EQ(RunOp("GatherElements", {F32({0}, {}), I64({1}, {0})}).status().code(),
            Code::kOutOfRange);
}

TEST(GatherND, PicksSlices) {
  const Tensor x = I32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("GatherND", {x, I64({2, 2}, {0, 1, 1, 0})})), (V{2, 3, 4, 5}));
  EXPECT_EQ(
      ValuesOf<int32_t>(RunOp1("GatherND", {x, I64({2, 1}, {1, 0})}, {{"batch_dims", int64_t{1}}})),
      (V{2, 3, 4, 5}));
  EXPECT_EQ(RunOp("GatherND", {x, I64({1, 1}, {2})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("GatherND", {x, I64({1, 4}, {0, 0, 0, 0})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(InferText("GatherND", {TypedInput(DataType::kInt8, "[8, 128, 256]"),
                                   TypedInput(DataType::kInt64, "[32, 1]")}),
            "int8[32, 128, 256]");
}

}  // namespace
}  // namespace asc::testing
