// Transpose, Concat, Split, Slice, Expand, Tile, Pad, CenterCropPad, DepthToSpace, SpaceToDepth.
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

Tensor Counting(const Dims& dims) {
  Tensor tensor = Tensor::Allocate(DataType::kInt32, dims).value();
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<int32_t>()[i] = static_cast<int32_t>(i);
  return tensor;
}

std::vector<int32_t> Ints(const Tensor& tensor) { return ValuesOf<int32_t>(tensor); }

using V = std::vector<int32_t>;

TEST(Transpose, PermutesAxes) {
  EXPECT_EQ(Ints(RunOp1("Transpose", {Counting({2, 3})})), (V{0, 3, 1, 4, 2, 5}));
  const Tensor out =
      RunOp1("Transpose", {Counting({2, 3, 4})}, {{"perm", std::vector<int64_t>{1, 2, 0}}});
  EXPECT_EQ(out.TypeString(), "int32[3, 4, 2]");
  EXPECT_EQ(out.data<int32_t>()[1], 12);
  EXPECT_EQ(RunOp("Transpose", {Counting({2, 3})}, {{"perm", std::vector<int64_t>{0, 0}}})
                .status()
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(
      RunOp("Transpose", {Counting({2, 3})}, {{"perm", std::vector<int64_t>{0}}}).status().code(),
      Code::kShapeMismatch);
  EXPECT_EQ(InferText("Transpose", {TypedInput(DataType::kFloat32, "[N, C, H]")}),
            "float32[H, C, N]");
}

TEST(Concat, NeedsEachOfItsInputs) {
  const auto refused = RunOp("Concat", {I32({1}, {1}), std::nullopt}, {{"axis", 0}});
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument) << refused.status().ToString();
}

TEST(Concat, JoinsAlongAnAxis) {
  EXPECT_EQ(Ints(RunOp1("Concat", {I32({1, 2}, {1, 2}), I32({2, 2}, {3, 4, 5, 6})},
                        {{"axis", int64_t{0}}})),
            (V{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Ints(RunOp1("Concat", {I32({2, 1}, {1, 2}), I32({2, 2}, {3, 4, 5, 6})},
                        {{"axis", int64_t{-1}}})),
            (V{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(
      RunOp1("Concat", {Counting({0, 2}), Counting({3, 2})}, {{"axis", int64_t{0}}}).TypeString(),
      "int32[3, 2]");
  EXPECT_EQ(
      RunOp("Concat", {Counting({2, 2}), Counting({2, 3})}, {{"axis", int64_t{0}}}).status().code(),
      Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Concat", {Counting({})}, {{"axis", int64_t{0}}}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(
      InferText("Concat",
                {TypedInput(DataType::kInt8, "[N, 2]"), TypedInput(DataType::kInt8, "[M, 2]")},
                {{"axis", int64_t{0}}}),
      "int8[M + N, 2]");
}

std::vector<std::string> SplitTexts(const OpInputs& inputs, OpAttributes attributes, size_t count) {
  const auto outputs = RunOp("Split", inputs, attributes, count);
  if (!outputs.ok()) return {outputs.status().ToString()};
  std::vector<std::string> texts;
  for (const AnyValue& value : *outputs) texts.push_back(Cat(Ints(value.tensor())));
  return texts;
}

TEST(Split, CutsBySizesOrCount) {
  using T = std::vector<std::string>;
  EXPECT_EQ(SplitTexts({Counting({5}), I64({2}, {2, 3})}, {}, 2), (T{"[0, 1]", "[2, 3, 4]"}));
  EXPECT_EQ(SplitTexts({Counting({5})}, {{"num_outputs", int64_t{2}}}, 2),
            (T{"[0, 1, 2]", "[3, 4]"}));
  EXPECT_EQ(SplitTexts({Counting({2, 4})}, {{"axis", int64_t{1}}}, 2),
            (T{"[0, 1, 4, 5]", "[2, 3, 6, 7]"}));
  EXPECT_EQ(SplitTexts({Counting({3}), I64({2}, {0, 3})}, {}, 2), (T{"[]", "[0, 1, 2]"}));
  EXPECT_EQ(RunOp("Split", {Counting({5}), I64({2}, {2, 2})}, {}, 2).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Split", {Counting({5}), I64({2}, {7, -2})}, {}, 2).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(InferText("Split", {TypedInput(DataType::kInt8, "[6*N]")}, {}, 1), "int8[3*N]");
}

Tensor Sliced(const Tensor& x, std::initializer_list<int64_t> starts,
              std::initializer_list<int64_t> ends, std::initializer_list<int64_t> axes,
              std::initializer_list<int64_t> steps) {
  const Dims n{static_cast<int64_t>(starts.size())};
  return RunOp1("Slice", {x, I64(n, starts), I64(n, ends), I64(n, axes), I64(n, steps)});
}

TEST(Slice, FollowsNumPy) {
  const Tensor x = Counting({10});
  EXPECT_EQ(Ints(Sliced(x, {1}, {7}, {0}, {2})), (V{1, 3, 5}));
  EXPECT_EQ(Ints(Sliced(x, {-3}, {INT64_MAX}, {0}, {1})), (V{7, 8, 9}));
  EXPECT_EQ(Ints(Sliced(x, {8}, {-8}, {0}, {-3})), (V{8, 5}));
  EXPECT_EQ(Ints(Sliced(Counting({3, 4}), {0, 1}, {3, 3}, {-2, -1}, {2, 1})), (V{1, 2, 9, 10}));
}

TEST(Slice, TakesExtremeEndsAndEmptyResults) {
  EXPECT_EQ(Sliced(Counting({10}), {0}, {5}, {0}, {-1}).TypeString(), "int32[0]");
  EXPECT_EQ(Ints(Sliced(Counting({4}), {-1}, {INT64_MIN}, {0}, {-1})), (V{3, 2, 1, 0}));
  EXPECT_EQ(Ints(Sliced(Counting({4}), {-1}, {-INT32_MAX}, {0}, {-1})), (V{3, 2, 1, 0}));
  EXPECT_EQ(Ints(Sliced(Counting({4}), {INT64_MAX}, {INT64_MIN}, {0}, {INT64_MIN})), V{3});
  EXPECT_EQ(Ints(Sliced(Counting({4}), {INT64_MIN}, {INT64_MAX}, {0}, {INT64_MAX})), V{0});
  EXPECT_EQ(Ints(Sliced(Counting({4}), {-9}, {INT64_MIN}, {0}, {-1})), V{0});
  EXPECT_EQ(Sliced(Counting({0}), {-1}, {INT64_MIN}, {0}, {-1}).TypeString(), "int32[0]");
  EXPECT_EQ(
      RunOp("Slice", {Counting({4}), I64({1}, {0}), I64({1}, {1}), I64({1}, {0}), I64({1}, {0})})
          .status()
          .code(),
      Code::kInvalidArgument);
  EXPECT_EQ(RunOp("Slice", {Counting({4}), I64({1}, {0}), I64({2}, {1, 1})}).status().code(),
            Code::kShapeMismatch);
}

TEST(Slice, KeepsExpressions) {
  const TypedInput x(DataType::kFloat32, "[N, 8]");
  const auto sliced = [&](int64_t start, int64_t end, int64_t step) {
    return InferText("Slice",
                     {x, I64({1}, {start}), I64({1}, {end}), I64({1}, {0}), I64({1}, {step})});
  };
  EXPECT_EQ(sliced(0, INT64_MAX, 1), "float32[N, 8]");
  EXPECT_EQ(sliced(1, INT32_MAX, 1), "float32[max(0, N - 1), 8]");
  EXPECT_EQ(sliced(0, -1, 1), "float32[max(0, N - 1), 8]");
  EXPECT_EQ(sliced(0, 5, 1), "float32[min(5, N), 8]");
  EXPECT_EQ(sliced(-2, INT64_MAX, 1), "float32[min(2, N), 8]");
  EXPECT_EQ(sliced(-1, INT64_MIN, -1), "float32[N, 8]");
}

// Every symbolic answer, with the symbol bound, equals the exact one.
TEST(Slice, ExpressionsAgreeWithRuns) {
  for (const int64_t start : {0, 1, 3, -1, -3}) {
    for (const int64_t end : {0, 2, 5, -1, -2, -4, 1 << 31}) {
      for (const int64_t step : {1, 2}) {
        const auto outputs =
            InferOp("Slice", {TypedInput(DataType::kInt32, "[N]"), I64({1}, {start}),
                              I64({1}, {end}), I64({1}, {0}), I64({1}, {step})});
        ASSERT_TRUE(outputs.ok());
        const Dim dim = (*outputs)[0].type.shape[0];
        if (dim.is_unknown()) continue;
        for (int64_t n = 0; n < 7; ++n) {
          EXPECT_EQ(dim.Evaluate({{"N", n}}),
                    Sliced(Counting({n}), {start}, {end}, {0}, {step}).dim(0))
              << start << ":" << end << ":" << step << " of " << n << " by " << dim.ToString();
        }
      }
    }
  }
}

TEST(Expand, BroadcastsBothWays) {
  EXPECT_EQ(Ints(RunOp1("Expand", {I32({2, 1}, {1, 2}), I64({2}, {1, 3})})), (V{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(RunOp1("Expand", {Counting({3}), I64({3}, {2, 1, 1})}).TypeString(), "int32[2, 1, 3]");
  EXPECT_EQ(RunOp1("Expand", {Counting({1}), I64({1}, {0})}).TypeString(), "int32[0]");
  EXPECT_EQ(RunOp("Expand", {Counting({3}), I64({1}, {2})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Expand", {Counting({1}), I64({1}, {-1})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("Expand", {Counting({1}), I64({2}, {INT64_MAX, INT64_MAX})}).status().code(),
            Code::kInvalidArgument);
}

// Even where the input's shape leaves no choice, the target's values must be looked at.
TEST(Expand, KnowsNoMoreThanTheTargetSays) {
  const auto outputs = InferOp(
      "Expand", {TypedInput(DataType::kFloat32, "[2, 3]"), TypedInput(DataType::kInt64, "[2]")});
  ASSERT_TRUE(outputs.ok());
  const Shape& shape = (*outputs)[0].type.shape;
  ASSERT_EQ(shape.rank(), 2u);
  EXPECT_TRUE(shape[0].is_unknown() && shape[1].is_unknown());
}

TEST(Tile, RepeatsTheWhole) {
  EXPECT_EQ(Ints(RunOp1("Tile", {Counting({2, 2}), I64({2}, {2, 2})})),
            (V{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(RunOp1("Tile", {Counting({2}), I64({1}, {0})}).TypeString(), "int32[0]");
  EXPECT_EQ(RunOp("Tile", {Counting({2}), I64({2}, {1, 1})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Tile", {Counting({2}), I64({1}, {-1})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(InferText("Tile", {TypedInput(DataType::kInt8, "[N, 3]"), I64({2}, {2, 2})}),
            "int8[2*N, 6]");
}

Tensor Padded(const Tensor& x, std::initializer_list<int64_t> pads, const std::string& mode) {
  return RunOp1("Pad", {x, I64({static_cast<int64_t>(pads.size())}, pads)}, {{"mode", mode}});
}

TEST(Pad, FillsBordersByMode) {
  const Tensor x = I32({3}, {1, 2, 3});
  EXPECT_EQ(Ints(Padded(x, {1, 2}, "constant")), (V{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(Ints(Padded(x, {2, 2}, "reflect")), (V{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(Ints(Padded(x, {1, 2}, "edge")), (V{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(Ints(Padded(x, {4, 5}, "wrap")), (V{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(Ints(Padded(Counting({2, 2}), {1, 1, 0, 1}, "edge")),
            (V{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(Ints(RunOp1("Pad", {x, I64({2}, {0, 1}), Tensor::Scalar<int32_t>(9)})),
            (V{1, 2, 3, 9}));
  EXPECT_EQ(Ints(RunOp1("Pad", {Counting({2, 1}), I64({2}, {1, 0}), std::nullopt, I64({1}, {-1})})),
            (V{0, 0, 0, 1}));
}

TEST(Pad, CropsByNegativePads) {
  EXPECT_EQ(Ints(Padded(Counting({5}), {-1, -2}, "constant")), (V{1, 2}));
  EXPECT_EQ(Ints(Padded(Counting({5}), {-1, 2}, "reflect")), (V{1, 2, 3, 4, 3, 2}));
  const Tensor eaten = RunOp1("Pad", {Pseudo({1, 1, 4, 4}), I64({8}, {0, 0, 4, 1, 0, 0, -4, -1})});
  ExpectTensor(eaten, {1, 1, 4, 4}, std::vector<double>(16, 0.0));
}

TEST(Pad, RefusesWhatCannotBe) {
  const auto code = [](const Tensor& x, std::initializer_list<int64_t> pads,
                       const std::string& mode) {
    return RunOp("Pad", {x, I64({static_cast<int64_t>(pads.size())}, pads)}, {{"mode", mode}})
        .status()
        .code();
  };
  EXPECT_EQ(code(Counting({3}), {5, 0}, "reflect"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({0}), {1, 1}, "reflect"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({0}), {1, 1}, "edge"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({4}), {-100, 0}, "constant"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({4}), {INT64_MIN, INT64_MIN}, "edge"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({4}), {INT64_MAX, INT64_MAX}, "constant"), Code::kInvalidArgument);
  EXPECT_EQ(code(Counting({4}), {1}, "constant"), Code::kShapeMismatch);
  EXPECT_EQ(code(Counting({4}), {1, 1}, "mirror"), Code::kInvalidArgument);
}

TEST(CenterCropPad, KeepsTheCentre) {
  EXPECT_EQ(Ints(RunOp1("CenterCropPad", {Counting({5}), I64({1}, {2})})), (V{1, 2}));
  EXPECT_EQ(Ints(RunOp1("CenterCropPad", {I32({2}, {1, 2}), I64({1}, {5})})), (V{0, 1, 2, 0, 0}));
  EXPECT_EQ(RunOp1("CenterCropPad", {Counting({5, 4}), I64({1}, {6})},
                   {{"axes", std::vector<int64_t>{-1}}})
                .TypeString(),
            "int32[5, 6]");
}

TEST(DepthToSpace, InvertsSpaceToDepth) {
  for (const std::string mode : {"DCR", "CRD"}) {
    const Tensor x = Counting({2, 8, 2, 3});
    const Tensor space = RunOp1("DepthToSpace", {x}, {{"blocksize", int64_t{2}}, {"mode", mode}});
    EXPECT_EQ(space.TypeString(), "int32[2, 2, 4, 6]");
    const Tensor back =
        RunOp1("SpaceToDepth", {space}, {{"blocksize", int64_t{2}}, {"mode", mode}});
    EXPECT_TRUE(back.ContentEquals(x)) << mode;
  }
  EXPECT_EQ(Ints(RunOp1("DepthToSpace", {Counting({1, 4, 1, 1})}, {{"blocksize", int64_t{2}}})),
            (V{0, 1, 2, 3}));
  EXPECT_EQ(
      RunOp("DepthToSpace", {Counting({1, 3, 1, 1})}, {{"blocksize", int64_t{2}}}).status().code(),
      Code::kShapeMismatch);
  EXPECT_EQ(
      RunOp("DepthToSpace", {Counting({1, 4, 1, 1})}, {{"blocksize", int64_t{0}}}).status().code(),
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace asc::testing
