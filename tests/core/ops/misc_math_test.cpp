#include <cmath>

#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::I32;
using testing::I64;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;

TEST(Cumulative, DirectionsAndAxes) {
  const Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectTensor(RunOp1("CumSum", {x, I64({}, {1})}), {2, 3}, {1, 3, 6, 4, 9, 15});
  ExpectTensor(RunOp1("CumSum", {x, I32({1}, {0})}), {2, 3}, {1, 2, 3, 5, 7, 9});
  ExpectTensor(RunOp1("CumSum", {x, I64({}, {-1})}, {{"exclusive", 1}}), {2, 3},
               {0, 1, 3, 0, 4, 9});
  ExpectTensor(RunOp1("CumSum", {x, I64({}, {1})}, {{"reverse", 1}}), {2, 3}, {6, 5, 3, 15, 11, 6});
  ExpectTensor(RunOp1("CumProd", {x, I64({}, {1})}, {{"reverse", 1}, {"exclusive", 1}}), {2, 3},
               {6, 3, 1, 30, 6, 1});
  ExpectTensor(RunOp1("CumSum", {F32({0, 2}, {}), I64({}, {0})}), {0, 2}, {});
  EXPECT_EQ(
      testing::ValuesOf<int32_t>(RunOp1("CumSum", {I32({2}, {INT32_MAX, 1}), I64({}, {0})}))[1],
      INT32_MIN);
  for (const DataType type : types::kFloats.Types())
    ExpectTensor(RunOp1("CumSum", {Floats(type, {2}, {1, 2}), I64({}, {0})}), {2}, {1, 3});
  EXPECT_EQ(RunOp("CumSum", {x, I64({}, {2})}).status().code(), Code::kInvalidArgument);
  EXPECT_NE(
      InferText("CumSum", {{DataType::kFloat32, "[N]"}, {DataType::kInt64, "[2]"}}).find("E5001"),
      std::string::npos);
}

TEST(Det, PivotsAndStacks) {
  ExpectTensor(RunOp1("Det", {F32({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})}), {2}, {-6, 0});
  ExpectTensor(RunOp1("Det", {Tensor::FromValues<double>({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 1})}), {},
               {0}, 1e-12);
  ExpectTensor(RunOp1("Det", {F32({0, 0}, {})}), {}, {1});
  EXPECT_EQ(RunOp("Det", {F32({2, 1}, {1, 2})}).status().code(), Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Det", {F32({1}, {1})}).status().code(), Code::kShapeMismatch);
}

TEST(Dropout, IdentityUnlessTraining) {
  const Tensor x = Pseudo({3, 5});
  const Tensor training = Tensor::Scalar(true);
  const auto inference = RunOp("Dropout", {x, F32({}, {0.9})}, {}, 2);
  ASSERT_TRUE(inference.ok());
  EXPECT_TRUE((*inference)[0].tensor().ContentEquals(x));
  ExpectTensor((*inference)[1].tensor(), {3, 5}, std::vector<double>(15, 1));
  EXPECT_TRUE(RunOp1("Dropout", {x, F32({}, {0}), training}).ContentEquals(x));
  EXPECT_EQ(RunOp("Dropout", {x, F32({}, {1}), training}).status().code(), Code::kInvalidArgument);
}

TEST(Dropout, TrainingZerosTheRatioAndScalesTheRest) {
  const Tensor x = testing::F32({}, {3}), training = Tensor::Scalar(true);
  Tensor many = Tensor::Allocate(DataType::kFloat32, {20000}).value();
  std::fill_n(many.data<float>(), 20000, 3.0f);
  const auto got = RunOp("Dropout", {many, F32({}, {0.25}), training}, {{"seed", 7}}, 2);
  ASSERT_TRUE(got.ok());
  int64_t dropped = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    const bool kept = (*got)[1].tensor().data<bool>()[i];
    dropped += !kept;
    ASSERT_FLOAT_EQ((*got)[0].tensor().data<float>()[i], kept ? 4.0f : 0.0f);
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 20000, 0.25, 0.02);
  // The same seed gives the same mask, another one another.
  const auto again = RunOp("Dropout", {many, F32({}, {0.25}), training}, {{"seed", 7}}, 2);
  const auto other = RunOp("Dropout", {many, F32({}, {0.25}), training}, {{"seed", 8}}, 2);
  EXPECT_TRUE((*got)[1].tensor().ContentEquals((*again)[1].tensor()));
  EXPECT_FALSE((*got)[1].tensor().ContentEquals((*other)[1].tensor()));
}

}  // namespace
}  // namespace asc
