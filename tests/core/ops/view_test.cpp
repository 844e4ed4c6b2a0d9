// Identity, Reshape, Flatten, Squeeze, Unsqueeze, Shape, Size.
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

TypedInput Elements(std::vector<Dim> dims) {
  TypedInput input(DataType::kInt64, Cat("[", dims.size(), "]"));
  input.dims = std::move(dims);
  return input;
}

std::string FlowText(std::string_view name, const std::vector<TypedInput>& inputs,
                     OpAttributes attributes = {}) {
  const auto outputs = InferOp(name, inputs, attributes);
  if (!outputs.ok()) return outputs.status().ToString();
  return (*outputs)[0].dims ? Cat(*(*outputs)[0].dims) : "unknown";
}

const Dim kN = Dim::Symbol("N");

TEST(Reshape, TakesWhatIsLeftAndCopiesZeros) {
  const Tensor x = Pseudo({2, 3, 4});
  EXPECT_EQ(RunOp1("Reshape", {x, I64({2}, {0, -1})}).TypeString(), "float32[2, 12]");
  EXPECT_EQ(RunOp1("Reshape", {x, I64({3}, {4, 0, -1})}).TypeString(), "float32[4, 3, 2]");
  EXPECT_EQ(RunOp1("Reshape", {F32({1}, {5}), I64({0}, {})}).TypeString(), "float32[]");
  EXPECT_EQ(ValuesOf<float>(RunOp1("Reshape", {x, I64({1}, {-1})})), ValuesOf<float>(x));
}

TEST(Reshape, WorksOnEmptyTensors) {
  EXPECT_EQ(RunOp1("Reshape", {Pseudo({0, 4}), I64({2}, {2, -1})}).TypeString(), "float32[2, 0]");
  EXPECT_EQ(RunOp1("Reshape", {Pseudo({0, 4}), I64({2}, {0, -1})}).TypeString(), "float32[0, 4]");
  EXPECT_EQ(RunOp1("Reshape", {Pseudo({0, 4}), I64({3}, {3, 0, 7})}, {{"allowzero", int64_t{1}}})
                .TypeString(),
            "float32[3, 0, 7]");
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  const Tensor x = Pseudo({2, 3});
  EXPECT_EQ(RunOp("Reshape", {x, I64({2}, {4, 2})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Reshape", {x, I64({2}, {4, -1})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Reshape", {x, I64({2}, {-1, -1})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunOp("Reshape", {x, I64({1}, {-2})}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunOp("Reshape", {x, I64({3}, {6, 1, 0})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Reshape", {x, I64({2}, {0, -1})}, {{"allowzero", int64_t{1}}}).status().code(),
            Code::kInvalidArgument);
}

TEST(Reshape, KnowsAnEmptyTarget) {
  EXPECT_EQ(InferText("Reshape",
                      {TypedInput(DataType::kFloat32, "[N]"), TypedInput(DataType::kInt64, "[0]")}),
            "float32[]");
  EXPECT_EQ(InferOp("Reshape",
                    {TypedInput(DataType::kFloat32, "[3]"), TypedInput(DataType::kInt64, "[0]")})
                .status()
                .code(),
            Code::kShapeMismatch);
}

TEST(Reshape, KeepsExpressions) {
  const TypedInput x(DataType::kFloat32, "[N, 12, H]");
  EXPECT_EQ(InferText("Reshape", {x, I64({3}, {0, 0, -1})}), "float32[N, 12, H]");
  EXPECT_EQ(InferText("Reshape", {x, I64({3}, {0, 3, -1})}), "float32[N, 3, 4*H]");
  EXPECT_EQ(InferText("Reshape", {x, I64({1}, {-1})}), "float32[12*H*N]");
  EXPECT_EQ(InferText("Reshape", {x, Elements({kN, Dim(-1)})}), "float32[N, 12*H]");
  EXPECT_EQ(InferText("Reshape", {TypedInput(DataType::kFloat32, "[*]"), I64({2}, {5, 7})}),
            "float32[5, 7]");
}

TEST(Flatten, MakesAMatrix) {
  EXPECT_EQ(RunOp1("Flatten", {Pseudo({2, 3, 4})}).TypeString(), "float32[2, 12]");
  EXPECT_EQ(RunOp1("Flatten", {Pseudo({2, 3, 4})}, {{"axis", int64_t{0}}}).TypeString(),
            "float32[1, 24]");
  EXPECT_EQ(RunOp1("Flatten", {Pseudo({2, 3, 4})}, {{"axis", int64_t{3}}}).TypeString(),
            "float32[24, 1]");
  EXPECT_EQ(RunOp1("Flatten", {Pseudo({2, 3, 4})}, {{"axis", int64_t{-1}}}).TypeString(),
            "float32[6, 4]");
  EXPECT_EQ(RunOp1("Flatten", {Pseudo({})}, {{"axis", int64_t{0}}}).TypeString(), "float32[1, 1]");
  EXPECT_EQ(RunOp("Flatten", {Pseudo({2})}, {{"axis", int64_t{2}}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("Flatten", {TypedInput(DataType::kFloat32, "[N, 3, H]")}), "float32[N, 3*H]");
}

TEST(Squeeze, DropsOnes) {
  EXPECT_EQ(RunOp1("Squeeze", {Pseudo({1, 3, 1}), I64({1}, {-1})}).TypeString(), "float32[1, 3]");
  EXPECT_EQ(RunOp1("Squeeze", {Pseudo({1, 3, 1})}).TypeString(), "float32[3]");
  EXPECT_EQ(RunOp("Squeeze", {Pseudo({1, 3}), I64({1}, {1})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Squeeze", {Pseudo({1, 3}), I64({2}, {0, -2})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("Squeeze", {TypedInput(DataType::kInt8, "[N, 1, H]"), I64({1}, {1})}),
            "int8[N, H]");
  EXPECT_EQ(InferText("Squeeze", {TypedInput(DataType::kInt8, "[N, 1, H]")}), "int8[*]");
}

TEST(Unsqueeze, InsertsOnes) {
  EXPECT_EQ(RunOp1("Unsqueeze", {Pseudo({3}), Tensor::Scalar<int64_t>(0)}).TypeString(),
            "float32[1, 3]");
  EXPECT_EQ(RunOp1("Unsqueeze", {Pseudo({3}), I64({2}, {0, -1})}).TypeString(), "float32[1, 3, 1]");
  EXPECT_EQ(RunOp1("Unsqueeze", {Pseudo({}), I64({1}, {0})}).TypeString(), "float32[1]");
  EXPECT_EQ(RunOp("Unsqueeze", {Pseudo({3}), I64({1}, {3})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(RunOp("Unsqueeze", {Pseudo({3}), I64({2}, {0, 0})}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(InferText("Unsqueeze", {TypedInput(DataType::kInt8, "[N]"), I64({1}, {1})}),
            "int8[N, 1]");
}

TEST(Identity, PassesAnyValue) {
  EXPECT_EQ(ValuesOf<float>(RunOp1("Identity", {F32({2}, {1, 2})})), (std::vector<float>{1, 2}));
  const AnyValue sequence = AnyValue::MakeSequence({F32({1}, {3})});
  const auto out = RunOp("Identity", {sequence});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].sequence().size(), 1u);
}

TEST(Shape, ListsExtents) {
  const Tensor x = Pseudo({2, 3, 4});
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("Shape", {x})), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("Shape", {x}, {{"start", int64_t{-2}}, {"end", int64_t{-1}}})),
            std::vector<int64_t>{3});
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("Shape", {x}, {{"start", int64_t{1}}, {"end", int64_t{99}}})),
            (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(RunOp1("Shape", {x}, {{"start", int64_t{2}}, {"end", int64_t{1}}}).TypeString(),
            "int64[0]");
  EXPECT_EQ(RunOp1("Shape", {x}, {{"start", INT64_MIN}, {"end", INT64_MAX}}).TypeString(),
            "int64[3]");
  EXPECT_EQ(*RunOp1("Size", {x}).data<int64_t>(), 24);
}

TEST(ShapeArithmetic, FlowsThroughViewsAndPicks) {
  const TypedInput x(DataType::kFloat32, "[N, 3, H]");
  EXPECT_EQ(FlowText("Shape", {x}), "[N, 3, H]");
  EXPECT_EQ(FlowText("Size", {x}), "[3*H*N]");
  EXPECT_EQ(FlowText("Gather", {Elements({kN, Dim(3)}), Tensor::Scalar<int64_t>(-2)}), "[N]");
  EXPECT_EQ(FlowText("Unsqueeze", {Elements({kN}), I64({1}, {0})}),
            "unknown");  // rank 2 is no shape
  EXPECT_EQ(FlowText("Squeeze", {Elements({kN}), I64({1}, {0})}), "[N]");
  EXPECT_EQ(FlowText("Concat", {Elements({kN}), I64({2}, {4, -1})}, {{"axis", int64_t{0}}}),
            "[N, 4, -1]");
  EXPECT_EQ(FlowText("Concat", {Elements({kN}), TypedInput(DataType::kInt64, "[1]")},
                     {{"axis", int64_t{0}}}),
            "unknown");
  EXPECT_EQ(
      FlowText("Slice", {Elements({kN, Dim(3), Dim(4)}), I64({1}, {1}), I64({1}, {INT64_MAX})}),
      "[3, 4]");
  EXPECT_EQ(FlowText("Slice", {Elements({kN, Dim(3), Dim(4)}), I64({1}, {-1}),
                               I64({1}, {INT64_MIN}), I64({1}, {0}), I64({1}, {-1})}),
            "[4, 3, N]");
  EXPECT_EQ(FlowText("ConstantOfShape", {I64({1}, {2})}, {{"value", I64({1}, {7})}}), "[7, 7]");
  EXPECT_EQ(FlowText("Reshape", {Elements({kN}), I64({1}, {-1})}), "[N]");
}

}  // namespace
}  // namespace asc::testing
