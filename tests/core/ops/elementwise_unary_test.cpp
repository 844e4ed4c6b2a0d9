#include <cmath>
#include <limits>

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
using testing::RunOp1;
using testing::ValuesOf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ElementwiseUnary, EveryFloatTypeAndShape) {
  for (const DataType type : types::kFloats.Types()) {
    const double tolerance = type == DataType::kBFloat16 ? 1e-2 : 1e-3;
    ExpectTensor(RunOp1("Exp", {Floats(type, {2, 2}, {0, 1, -1, kNan})}), {2, 2},
                 {1, 2.718282, 0.367879, kNan}, tolerance);
    ExpectTensor(RunOp1("Sqrt", {Floats(type, {}, {4})}), {}, {2});
    ExpectTensor(RunOp1("Neg", {Floats(type, {0, 3}, {})}), {0, 3}, {});
  }
}

TEST(ElementwiseUnary, RoundTakesHalvesToEven) {
  ExpectTensor(RunOp1("Round", {F32({6}, {0.5, 1.5, 2.5, -0.5, -1.5, -2.4})}), {6},
               {0, 2, 2, -0.0, -2, -2}, 0);
}

TEST(ElementwiseUnary, IntegersWrap) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("Neg", {I32({3}, {1, -2, INT32_MIN})})),
            (std::vector<int32_t>{-1, 2, INT32_MIN}));
  const auto low = Tensor::FromValues<int8_t>({2}, {-128, -5});
  EXPECT_EQ(ValuesOf<int8_t>(RunOp1("Abs", {low})), (std::vector<int8_t>{-128, 5}));
  const auto big = Tensor::FromValues<uint64_t>({1}, {UINT64_MAX});
  EXPECT_EQ(ValuesOf<uint64_t>(RunOp1("Abs", {big})), (std::vector<uint64_t>{UINT64_MAX}));
}

TEST(ElementwiseUnary, ErfOfIntegersTruncates) {
  ExpectTensor(RunOp1("Erf", {I32({3}, {-100, 1, 100})}), {3}, {-1, 0, 1});
}

TEST(ElementwiseUnary, SignOfNanIsNan) {
  ExpectTensor(RunOp1("Sign", {F32({4}, {-2, 0, 3, NAN})}), {4}, {-1, 0, 1, kNan}, 0);
}

TEST(ElementwiseUnary, RefusesOtherTypes) {
  EXPECT_EQ(testing::RunOp("Neg", {Tensor::FromValues<uint8_t>({1}, {1})}).status().code(),
            Code::kTypeMismatch);
  EXPECT_EQ(testing::RunOp("Sin", {I64({1}, {1})}).status().code(), Code::kTypeMismatch);
}

TEST(ElementwiseUnary, ShapeRule) {
  EXPECT_EQ(InferText("Tanh", {{DataType::kFloat16, "[N, 3]"}}), "float16[N, 3]");
  EXPECT_EQ(InferText("Tanh", {{DataType::kFloat16, "[*]"}}), "float16[*]");
  testing::TypedInput shape(DataType::kInt64, "[2]");
  shape.dims = {Dim::Symbol("N"), Dim(3)};
  const auto negated = InferOp("Neg", {shape});
  ASSERT_TRUE(negated.ok() && (*negated)[0].dims);
  EXPECT_EQ((*(*negated)[0].dims)[1], Dim(-3));
}

TEST(Activations, NanPropagates) {
  const Tensor x = F32({4}, {-2, 0.5, 3, NAN});
  ExpectTensor(RunOp1("Relu", {x}), {4}, {0, 0.5, 3, kNan});
  ExpectTensor(RunOp1("LeakyRelu", {x}, {{"alpha", 0.5f}}), {4}, {-1, 0.5, 3, kNan});
  ExpectTensor(RunOp1("ThresholdedRelu", {x}), {4}, {0, 0, 3, kNan});
  ExpectTensor(RunOp1("HardSigmoid", {x}), {4}, {0.1, 0.6, 1, kNan});
  ExpectTensor(RunOp1("HardSwish", {x}), {4}, {-0.333333, 0.291667, 3, kNan});
  ExpectTensor(RunOp1("Clip", {x, F32({}, {-1}), F32({}, {1})}), {4}, {-1, 0.5, 1, kNan});
}

TEST(Activations, Values) {
  const Tensor x = F32({3}, {-1, 0, 2});
  ExpectTensor(RunOp1("Sigmoid", {x}), {3}, {0.26894142, 0.5, 0.88079708});
  ExpectTensor(RunOp1("Swish", {x}), {3}, {-0.26894142, 0, 1.76159416});
  ExpectTensor(RunOp1("Elu", {x}, {{"alpha", 2.0f}}), {3}, {-1.26424112, 0, 2});
  ExpectTensor(RunOp1("Selu", {x}), {3}, {-1.11133072, 0, 2.10140204});
  ExpectTensor(RunOp1("Celu", {x}, {{"alpha", 2.0f}}), {3}, {-0.78693868, 0, 2});
  ExpectTensor(RunOp1("Softplus", {F32({3}, {-200, 0, 200})}), {3}, {0, 0.69314718, 200});
  ExpectTensor(RunOp1("Softsign", {x}), {3}, {-0.5, 0, 0.66666667});
  ExpectTensor(RunOp1("Mish", {x}), {3}, {-0.30340146, 0, 1.94395896});
  ExpectTensor(RunOp1("Gelu", {x}), {3}, {-0.15865525, 0, 1.95449974});
  ExpectTensor(RunOp1("Gelu", {x}, {{"approximate", "tanh"}}), {3}, {-0.15880801, 0, 1.95459769});
  ExpectTensor(RunOp1("Shrink", {x}, {{"lambd", 1.5f}, {"bias", 0.5f}}), {3}, {0, 0, 1.5});
  ExpectTensor(RunOp1("Relu", {I32({3}, {-5, 0, 7})}), {3}, {0, 0, 7});
}

TEST(Activations, ClipBounds) {
  ExpectTensor(RunOp1("Clip", {F32({3}, {-2, 0, 6}), F32({}, {2}), F32({}, {1})}), {3}, {1, 1, 1});
  ExpectTensor(RunOp1("Clip", {F32({3}, {-2, 0, 9}), std::nullopt, F32({}, {6})}), {3}, {-2, 0, 6});
  ExpectTensor(RunOp1("Clip", {F32({2}, {-2, 9}), F32({}, {NAN})}), {2}, {kNan, kNan});
  ExpectTensor(RunOp1("Clip", {F32({2}, {float(-kInf), float(kInf)})}), {2}, {-kInf, kInf});
  ExpectTensor(RunOp1("Clip", {I64({2}, {INT64_MIN, 9}), I64({}, {-3})}), {2}, {-3, 9});
  EXPECT_NE(InferText("Clip", {{DataType::kFloat32, "[N]"}, {DataType::kFloat32, "[2]"}})
                .find("E5001: Clip's 'min' must be a scalar, given shape [2]"),
            std::string::npos);
  EXPECT_NE(
      InferText("Gelu", {{DataType::kFloat32, "[N]"}}, {{"approximate", "erf"}}).find("E5003"),
      std::string::npos);
}

}  // namespace
}  // namespace asc
