#include "tests/core/ops/op_test.h"

namespace asc {
namespace {
using testing::ExpectTensor;
using testing::F32;
using testing::Floats;
using testing::I32;
using testing::InferText;
using testing::Pseudo;
using testing::RunOp;
using testing::RunOp1;
using testing::ValuesOf;

TEST(MatMul, EqualsTheDefinition) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{3, 4, 5}, {1, 70, 300}, {37, 65, 129}, {50, 1, 7}, {130, 33, 1}}) {
    const Tensor a = Pseudo({2, m, k}), b = Pseudo({k, n}, 2);
    std::vector<double> want;
    for (int64_t i = 0; i < 2 * m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += double(a.data<float>()[i * k + p]) * double(b.data<float>()[p * n + j]);
        want.push_back(sum);
      }
    }
    ExpectTensor(RunOp1("MatMul", {a, b}), {2, m, n}, want, 1e-5);
    Tensor transposed = Pseudo({n, k});
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p)
        transposed.data<float>()[j * k + p] = b.data<float>()[p * n + j];
    }
    ExpectTensor(RunOp1("Gemm", {a.Reshaped({2 * m, k}).value(), transposed}, {{"transB", 1}}),
                 {2 * m, n}, want, 1e-5);
  }
}

TEST(MatMul, VectorsStacksAndEmptyExtents) {
  const Tensor v = F32({2}, {1, 2}), m = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectTensor(RunOp1("MatMul", {v, v}), {}, {5});
  ExpectTensor(RunOp1("MatMul", {v, m}), {3}, {9, 12, 15});
  ExpectTensor(RunOp1("MatMul", {F32({1, 1, 3}, {1, 1, 1}), F32({3}, {1, 2, 3})}), {1, 1}, {6});
  ExpectTensor(RunOp1("MatMul", {F32({2, 1, 1, 2}, {1, 2, 3, 4}), F32({2, 2, 1}, {1, 1, 0, 2})}),
               {2, 2, 1, 1}, {3, 4, 7, 8});
  ExpectTensor(RunOp1("MatMul", {F32({1, 0, 4}, {}), F32({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
               {1, 0, 2}, {});
  ExpectTensor(RunOp1("MatMul", {F32({2, 0}, {}), F32({0, 2}, {})}), {2, 2}, {0, 0, 0, 0});
}

TEST(MatMul, Types) {
  for (const DataType type : types::kFloats.Types()) {
    ExpectTensor(
        RunOp1("MatMul", {Floats(type, {1, 2}, {1, 2}), Floats(type, {2, 2}, {1, 2, 3, 4})}),
        {1, 2}, {7, 10});
  }
  EXPECT_EQ(
      ValuesOf<int32_t>(RunOp1("MatMul", {I32({1, 2}, {INT32_MAX, 1}), I32({2, 1}, {2, 3})}))[0],
      1);
  const auto big = Tensor::FromValues<uint64_t>({1, 1}, {uint64_t{1} << 63});
  EXPECT_EQ(ValuesOf<uint64_t>(RunOp1("MatMul", {big, big}))[0], 0u);
}

TEST(MatMul, ShapeRule) {
  EXPECT_EQ(InferText("MatMul",
                      {{DataType::kFloat32, "[B, 1, M, 4]"}, {DataType::kFloat32, "[7, 4, N]"}}),
            "float32[B, 7, M, N]");
  EXPECT_EQ(InferText("MatMul", {{DataType::kFloat32, "[*]"}, {DataType::kFloat32, "[7, 4, N]"}}),
            "float32[*]");
  EXPECT_NE(InferText("MatMul", {{DataType::kFloat32, "[2, 3]"}, {DataType::kFloat32, "[4, 5]"}})
                .find("E5001"),
            std::string::npos);
  EXPECT_NE(InferText("MatMul", {{DataType::kFloat32, "[]"}, {DataType::kFloat32, "[4, 5]"}})
                .find("E5001"),
            std::string::npos);
  EXPECT_NE(
      InferText("MatMul", {{DataType::kFloat32, "[2, 3, 4]"}, {DataType::kFloat32, "[5, 4, 3]"}})
          .find("E5001"),
      std::string::npos);
}

TEST(Gemm, ScalesAndBroadcasts) {
  const Tensor a = F32({2, 1}, {1, 2}), b = F32({1, 2}, {3, 4});
  ExpectTensor(RunOp1("Gemm", {a, b, F32({2}, {10, 20})}, {{"alpha", 2.0f}, {"beta", 0.5f}}),
               {2, 2}, {11, 18, 17, 26});
  ExpectTensor(RunOp1("Gemm", {a, b, F32({2, 1}, {10, 20})}), {2, 2}, {13, 14, 26, 28});
  ExpectTensor(RunOp1("Gemm", {F32({2, 0}, {}), F32({0, 3}, {}), F32({3}, {1, 2, 3})}), {2, 3},
               {1, 2, 3, 1, 2, 3});
  ExpectTensor(RunOp1("Gemm", {F32({1, 2}, {1, 2}), F32({1, 3}, {1, 2, 3})}, {{"transA", 1}}),
               {2, 3}, {1, 2, 3, 2, 4, 6});
  ExpectTensor(
      RunOp1("Gemm", {I32({1, 1}, {3}), I32({1, 1}, {5}), I32({}, {1})}, {{"alpha", 0.5f}}), {1, 1},
      {8});
  EXPECT_NE(InferText("Gemm", {{DataType::kFloat32, "[2, 3]"},
                               {DataType::kFloat32, "[3, 5]"},
                               {DataType::kFloat32, "[2]"}})
                .find("E5001"),
            std::string::npos);
  EXPECT_NE(InferText("Gemm", {{DataType::kFloat32, "[1, 2, 3]"}, {DataType::kFloat32, "[3, 5]"}})
                .find("E5001"),
            std::string::npos);
  EXPECT_EQ(InferText("Gemm", {{DataType::kFloat32, "[N, 3]"}, {DataType::kFloat32, "[5, 3]"}},
                      {{"transB", 1}}),
            "float32[N, 5]");
}

}  // namespace
}  // namespace asc
