// ScatterElements, ScatterND, TensorScatter.
#include <cmath>

#include "core/base/parallel.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

using V = std::vector<int32_t>;
using S = std::string;

TEST(ScatterElements, WritesAndReduces) {
  const Tensor x = I32({3, 2}, {1, 1, 1, 1, 1, 1});
  const Tensor at = I64({2, 2}, {0, -1, 0, 1}), updates = I32({2, 2}, {5, 6, 7, 8});
  const auto run = [&](const S& reduction) {
    return ValuesOf<int32_t>(
        RunOp1("ScatterElements", {x, at, updates}, {{"reduction", reduction}}));
  };
  EXPECT_EQ(run("none"), (V{7, 1, 1, 8, 1, 6}));
  EXPECT_EQ(run("add"), (V{13, 1, 1, 9, 1, 7}));
  EXPECT_EQ(run("mul"), (V{35, 1, 1, 8, 1, 6}));
  EXPECT_EQ(run("min"), (V{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(run("max"), (V{7, 1, 1, 8, 1, 6}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ScatterElements", {x, I64({1, 1}, {1}), I32({1, 1}, {9})},
                                     {{"axis", int64_t{1}}})),
            (V{1, 9, 1, 1, 1, 1}));
}

TEST(ScatterElements, KeepsNaN) {
  for (const S reduction : {"min", "max"}) {
    const Tensor out =
        RunOp1("ScatterElements", {F32({2}, {NAN, 1}), I64({2}, {0, 1}), F32({2}, {3, NAN})},
               {{"reduction", reduction}});
    ExpectTensor(out, {2}, {NAN, NAN});
  }
}

TEST(ScatterElements, RefusesBadArguments) {
  const Tensor x = I32({3}, {1, 2, 3});
  EXPECT_EQ(RunOp("ScatterElements", {x, I64({1}, {3}), I32({1}, {0})}).status().code(),
            Code::kOutOfRange);
  EXPECT_EQ(RunOp("ScatterElements", {x, I64({1}, {0}), I32({2}, {0, 0})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("ScatterElements", {x, I64({1}, {0}), I32({1}, {0})}, {{"reduction", S("sum")}})
                .status()
                .code(),
            Code::kInvalidArgument);
  const Tensor text = Tensor::FromValues<S>({1}, {"a"});
  EXPECT_EQ(RunOp("ScatterElements", {text, I64({1}, {0}), text}, {{"reduction", S("add")}})
                .status()
                .code(),
            Code::kTypeMismatch);
}

// Threads write parts of the result, and updates of one place come in their order.
TEST(ScatterND, SharesLargeArraysOut) {
  constexpr int64_t kRows = 3000, kRow = 40, kUpdates = 2500;
  const Tensor x = Pseudo({kRows, kRow}), updates = Pseudo({kUpdates, kRow});
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < kUpdates; ++i) targets.push_back(i * 7919 % (kRows / 2) * 2);
  const Tensor indices = Tensor::FromValues<int64_t>({kUpdates, 1}, targets);
  for (const char* reduction : {"none", "add"}) {
    const auto run = [&](int threads) {
      const ScopedThreads scoped(threads);
      return RunOp1("ScatterND", {x, indices, updates}, {{"reduction", S(reduction)}});
    };
    const Tensor want = run(1);
    EXPECT_TRUE(run(3).ContentEquals(want)) << reduction;
    EXPECT_EQ(want.data<float>()[kRow], x.data<float>()[kRow]);  // of a row without updates
  }
}

TEST(ScatterND, WritesSlicesAndElements) {
  const Tensor x = I32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ScatterND", {x, I64({1, 1}, {-1}), I32({1, 2}, {8, 9})})),
            (V{1, 2, 8, 9}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ScatterND", {x, I64({2, 2}, {0, 1, 0, 1}), I32({2}, {5, 7})},
                                     {{"reduction", S("add")}})),
            (V{1, 14, 3, 4}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ScatterND", {x, I64({0, 2}, {}), I32({0}, {})})),
            (V{1, 2, 3, 4}));
  EXPECT_EQ(RunOp("ScatterND", {x, I64({1, 1}, {2}), I32({1, 2}, {8, 9})}).status().code(),
            Code::kOutOfRange);
  EXPECT_EQ(RunOp("ScatterND", {x, I64({1, 3}, {0, 0, 0}), I32({1}, {8})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("ScatterND", {x, I64({1, 1}, {0}), I32({1, 3}, {8, 9, 1})}).status().code(),
            Code::kShapeMismatch);
}

TEST(TensorScatter, WritesIntoTheCache) {
  const Tensor cache = I32({2, 3, 1}, {1, 2, 3, 4, 5, 6}), update = I32({2, 2, 1}, {7, 8, 9, 10});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("TensorScatter", {cache, update, I64({2}, {1, 0})})),
            (V{1, 7, 8, 9, 10, 6}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("TensorScatter", {cache, update, I64({2}, {2, 0})},
                                     {{"mode", S("circular")}})),
            (V{8, 2, 7, 9, 10, 6}));
  EXPECT_EQ(RunOp("TensorScatter", {cache, update, I64({2}, {2, 0})}).status().code(),
            Code::kOutOfRange);
}

}  // namespace
}  // namespace asc::testing
