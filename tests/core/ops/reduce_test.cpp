#include <cmath>

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
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;
using testing::TypedInput;
using testing::ValuesOf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Reduce, ValuesOfEachOperator) {
  const Tensor x = F32({2, 2}, {1, 2, -3, 4}), axes = I64({1}, {1});
  ExpectTensor(RunOp1("ReduceSum", {x, axes}), {2, 1}, {3, 1});
  ExpectTensor(RunOp1("ReduceMean", {x, axes}, {{"keepdims", 0}}), {2}, {1.5, 0.5});
  ExpectTensor(RunOp1("ReduceProd", {x}), {1, 1}, {-24});
  ExpectTensor(RunOp1("ReduceMax", {x, I64({1}, {0})}), {1, 2}, {1, 4});
  ExpectTensor(RunOp1("ReduceMin", {x, axes}), {2, 1}, {1, -3});
  ExpectTensor(RunOp1("ReduceL1", {x, axes}), {2, 1}, {3, 7});
  ExpectTensor(RunOp1("ReduceL2", {x, axes}), {2, 1}, {std::sqrt(5.0), 5});
  ExpectTensor(RunOp1("ReduceSumSquare", {x, axes}), {2, 1}, {5, 25});
  ExpectTensor(RunOp1("ReduceLogSum", {x, axes}), {2, 1}, {std::log(3.0), 0});
  ExpectTensor(RunOp1("ReduceLogSumExp", {F32({1, 3}, {1000, 1000, -INFINITY}), axes}), {1, 1},
               {1000 + std::log(2.0)});
}

TEST(Reduce, AxesEqualLoops) {
  const Tensor x = Pseudo({3, 4, 5, 70});
  for (const std::vector<int64_t>& axes : std::vector<std::vector<int64_t>>{
           {0}, {1}, {3}, {0, 2}, {1, 3}, {1, 2}, {-1, 0}, {0, 1, 2, 3}}) {
    std::vector<bool> folded(4);
    for (const int64_t axis : axes) folded[static_cast<size_t>(axis < 0 ? axis + 4 : axis)] = true;
    Dims dims = x.dims();
    for (size_t i = 0; i < 4; ++i) dims[i] = folded[i] ? 1 : dims[i];
    std::vector<double> want(static_cast<size_t>(ElementCount(dims)));
    const Dims strides = ContiguousStrides(dims);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t rest = i, to = 0;
      for (size_t a = 4; a-- > 0;) {
        if (!folded[a]) to += rest % x.dim(a) * strides[a];
        rest /= x.dim(a);
      }
      want[static_cast<size_t>(to)] += double(x.data<float>()[i]);
    }
    ExpectTensor(RunOp1("ReduceSum", {x, FromInt64Vector(axes)}), dims, want, 1e-5);
  }
}

TEST(Reduce, NanWinsWhereverItStands) {
  ExpectTensor(RunOp1("ReduceMax", {F32({4}, {NAN, NAN, NAN, 42})}), {1}, {kNan});
  ExpectTensor(RunOp1("ReduceMax", {F32({2}, {2, NAN})}), {1}, {kNan});
  ExpectTensor(RunOp1("ReduceMin", {F32({2}, {NAN, 1})}), {1}, {kNan});
  ExpectTensor(RunOp1("ReduceSum", {F32({2}, {NAN, 1})}), {1}, {kNan});
  ExpectTensor(RunOp1("ReduceLogSumExp", {F32({2}, {NAN, 1})}), {1}, {kNan});
  ExpectTensor(RunOp1("ReduceLogSumExp", {F32({2}, {INFINITY, INFINITY})}), {1}, {kInf});
}

TEST(Reduce, EmptySetsAndScalars) {
  const Tensor x = F32({2, 0}, {}), axes = I64({1}, {1});
  ExpectTensor(RunOp1("ReduceSum", {x, axes}), {2, 1}, {0, 0});
  ExpectTensor(RunOp1("ReduceProd", {x, axes}), {2, 1}, {1, 1});
  ExpectTensor(RunOp1("ReduceMax", {x, axes}), {2, 1}, {-kInf, -kInf});
  ExpectTensor(RunOp1("ReduceMin", {x, axes}), {2, 1}, {kInf, kInf});
  ExpectTensor(RunOp1("ReduceMean", {x, axes}), {2, 1}, {kNan, kNan});
  ExpectTensor(RunOp1("ReduceLogSumExp", {x, axes}), {2, 1}, {-kInf, -kInf});
  ExpectTensor(RunOp1("ReduceSum", {x, I64({1}, {0})}), {1, 0}, {});
  ExpectTensor(RunOp1("ReduceMax", {I32({0}, {})}), {1}, {-2147483648.0});
  EXPECT_EQ(RunOp("ReduceMean", {I32({0}, {})}).status().code(), Code::kArithmetic);
  ExpectTensor(RunOp1("ReduceSum", {F32({}, {3})}), {}, {3});
}

TEST(Reduce, NoAxes) {
  const Tensor x = F32({2, 1}, {-3, 4}), none = I64({0}, {});
  ExpectTensor(RunOp1("ReduceSum", {x, none}), {1, 1}, {1});
  ExpectTensor(RunOp1("ReduceSum", {x, none}, {{"noop_with_empty_axes", 1}}), {2, 1}, {-3, 4});
  ExpectTensor(RunOp1("ReduceSumSquare", {x}, {{"noop_with_empty_axes", 1}}), {2, 1}, {9, 16});
}

TEST(Reduce, Types) {
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(RunOp1("ReduceMean", {Floats(type, {4}, {1, 2, 3, 4})}), {1}, {2.5});
    ExpectTensor(RunOp1("ReduceMax", {Floats(type, {2}, {-1, -2})}), {1}, {-1});
  }
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReduceSum", {I32({2}, {INT32_MAX, 1})}))[0], INT32_MIN);
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReduceMean", {I32({2}, {-3, 0})}))[0], -1);
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReduceL2", {I32({2}, {3, 4})}))[0], 5);
  EXPECT_EQ(ValuesOf<int32_t>(RunOp1("ReduceLogSum", {I32({2}, {50, 50})}))[0], 4);
  EXPECT_EQ(ValuesOf<int64_t>(RunOp1("ReduceLogSumExp", {I64({2}, {50, 50})}))[0], 50);
  const auto large = Tensor::FromValues<uint64_t>({2}, {UINT64_MAX, 3});
  EXPECT_EQ(ValuesOf<uint64_t>(RunOp1("ReduceMax", {large}))[0], UINT64_MAX);
  const auto truth = Tensor::FromValues<bool>({2}, {true, false});
  ExpectTensor(RunOp1("ReduceMax", {truth}), {1}, {1});
  ExpectTensor(RunOp1("ReduceMin", {truth}), {1}, {0});
}

TEST(Reduce, ShapeRule) {
  const TypedInput x(DataType::kFloat32, "[N, 3, H]");
  EXPECT_EQ(InferText("ReduceSum", {x, TypedInput(I64({2}, {0, -1}))}), "float32[1, 3, 1]");
  EXPECT_EQ(InferText("ReduceSum", {x, TypedInput(I64({1}, {1}))}, {{"keepdims", 0}}),
            "float32[N, H]");
  EXPECT_EQ(InferText("ReduceSum", {x}), "float32[1, 1, 1]");
  EXPECT_EQ(InferText("ReduceSum", {x, {DataType::kInt64, "[K]"}}, {{"keepdims", 0}}),
            "float32[*]");
  EXPECT_NE(InferText("ReduceSum", {x, TypedInput(I64({1}, {3}))}).find("E5003"),
            std::string::npos);
  EXPECT_NE(InferText("ReduceSum", {x, TypedInput(I64({2}, {0, -3}))}).find("twice"),
            std::string::npos);
  TypedInput shape(DataType::kInt64, "[2]");
  shape.dims = {Dim::Symbol("N"), Dim(4)};
  const auto product = InferOp("ReduceProd", {shape}, {{"keepdims", 0}});
  ASSERT_TRUE(product.ok() && (*product)[0].dims);
  EXPECT_EQ(Cat(*(*product)[0].dims), "[4*N]");
}

TEST(ArgReduce, TiesNanAndAxes) {
  const Tensor x = F32({2, 3}, {1, 5, 5, 7, NAN, 9});
  ExpectTensor(RunOp1("ArgMax", {x}, {{"axis", 1}}), {2, 1}, {1, 1});
  ExpectTensor(RunOp1("ArgMax", {x}, {{"axis", -1}, {"keepdims", 0}, {"select_last_index", 1}}),
               {2}, {2, 1});
  ExpectTensor(RunOp1("ArgMin", {x}), {1, 3}, {0, 1, 0});
  ExpectTensor(RunOp1("ArgMax", {F32({3}, {-INFINITY, -INFINITY, -INFINITY})}), {1}, {0});
  ExpectTensor(RunOp1("ArgMax", {Tensor::FromValues<uint8_t>({3}, {0, 0, 1})}), {1}, {2});
  EXPECT_EQ(RunOp("ArgMax", {F32({2, 0}, {})}, {{"axis", 1}}).status().code(),
            Code::kInvalidArgument);
  ExpectTensor(RunOp1("ArgMax", {F32({2, 0}, {})}), {1, 0}, {});
  EXPECT_EQ(InferText("ArgMax", {{DataType::kFloat32, "[N, 3]"}}, {{"axis", 1}}), "int64[N, 1]");
  EXPECT_NE(InferText("ArgMax", {{DataType::kFloat32, "[N, 3]"}}, {{"axis", 2}}).find("E5003"),
            std::string::npos);
}

}  // namespace
}  // namespace asc
