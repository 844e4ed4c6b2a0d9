#include <cmath>

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
using Ints = std::vector<int64_t>;

Tensor I8(const Dims& dims, std::initializer_list<int8_t> values) {
  return Tensor::FromValues<int8_t>(dims, values);
}
Tensor U8(const Dims& dims, std::initializer_list<uint8_t> values) {
  return Tensor::FromValues<uint8_t>(dims, values);
}
int64_t Number(DataType type) { return static_cast<int64_t>(type); }

TEST(Quantize, RoundsToEvenAndSaturates) {
  const Tensor x = F32({7}, {0, 1, 3, -1, 1000, -1000, 5});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({}, {2}), U8({}, {128})}), {7},
               {128, 128, 130, 128, 255, 0, 130});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({}, {2}), I8({}, {1})}), {7},
               {1, 1, 3, 1, 127, -128, 3});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({}, {2})}), {7}, {0, 0, 2, 0, 255, 0, 2});
  ExpectTensor(
      RunOp1("QuantizeLinear", {F32({3}, {INFINITY, -INFINITY, 3e30f}), F32({}, {1}), U8({}, {7})}),
      {3}, {255, 0, 255});
  ExpectTensor(
      RunOp1("QuantizeLinear", {x, F32({}, {2})}, {{"output_dtype", Number(DataType::kInt4)}}), {7},
      {0, 0, 2, 0, 7, -8, 2});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({}, {1})},
                      {{"output_dtype", Number(DataType::kFloat8E4M3FN)}}),
               {7}, {0, 1, 3, -1, 448, -448, 5});
}

TEST(Quantize, Granularities) {
  const Tensor x = F32({2, 4}, {2, 4, 6, 8, 2, 4, 6, 8});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({4}, {1, 2, 3, 4})}), {2, 4},
               {2, 2, 2, 2, 2, 2, 2, 2});
  ExpectTensor(RunOp1("QuantizeLinear", {x, F32({2}, {1, 2}), U8({2}, {0, 10})}, {{"axis", 0}}),
               {2, 4}, {2, 4, 6, 8, 11, 12, 13, 14});
  ExpectTensor(
      RunOp1("QuantizeLinear", {x, F32({2, 2}, {1, 2, 2, 1})}, {{"axis", 1}, {"block_size", 2}}),
      {2, 4}, {2, 4, 3, 4, 1, 2, 6, 8});
  ExpectTensor(
      RunOp1("QuantizeLinear", {x, F32({1, 4}, {1, 2, 3, 4})}, {{"axis", 0}, {"block_size", 2}}),
      {2, 4}, {2, 2, 2, 2, 2, 2, 2, 2});
  EXPECT_EQ(RunOp("QuantizeLinear", {x, F32({3}, {1, 2, 3})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("QuantizeLinear", {x, F32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"block_size", 2}})
                .status()
                .code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("QuantizeLinear", {x, F32({}, {1}), U8({2}, {1, 2})}).status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("QuantizeLinear", {x, F32({}, {1})}, {{"output_dtype", Number(DataType::kInt64)}})
                .status()
                .code(),
            Code::kTypeMismatch);
}

TEST(Quantize, Dequantizes) {
  ExpectTensor(RunOp1("DequantizeLinear", {U8({3}, {0, 128, 255}), F32({}, {0.5}), U8({}, {128})}),
               {3}, {-64, 0, 63.5});
  ExpectTensor(RunOp1("DequantizeLinear", {I32({2}, {-7, 9}), F32({}, {0.5})}), {2}, {-3.5, 4.5});
  const Tensor y =
      RunOp1("DequantizeLinear",
             {I8({2, 2}, {1, 2, 3, 4}), Floats(DataType::kFloat16, {2}, {1, 10})}, {{"axis", -1}});
  EXPECT_EQ(y.dtype(), DataType::kFloat16);
  ExpectTensor(y, {2, 2}, {1, 20, 3, 40});
  ExpectTensor(RunOp1("DequantizeLinear", {I8({4}, {1, 2, 3, 4}), F32({2}, {1, 10})},
                      {{"axis", 0}, {"block_size", 2}}),
               {4}, {1, 2, 30, 40});
  EXPECT_EQ(InferText("DequantizeLinear", {{DataType::kInt4, "[N]"}, {DataType::kFloat16, "[]"}},
                      {{"output_dtype", Number(DataType::kFloat32)}}),
            "float32[N]");
}

TEST(Quantize, Dynamic) {
  const auto got = RunOp("DynamicQuantizeLinear", {F32({4}, {0, 2, -3, 1.5})}, {}, 3);
  ASSERT_TRUE(got.ok());
  ExpectTensor((*got)[0].tensor(), {4}, {153, 255, 0, 229});
  ExpectTensor((*got)[1].tensor(), {}, {5 / 255.0});
  ExpectTensor((*got)[2].tensor(), {}, {153});
  const auto zeros = RunOp("DynamicQuantizeLinear", {F32({2}, {0, 0})}, {}, 3);
  ASSERT_TRUE(zeros.ok());
  ExpectTensor((*zeros)[0].tensor(), {2}, {0, 0});
}

TEST(QuantizedLinear, MatMulInteger) {
  const Tensor a = I8({2, 3}, {-116, 107, -1, -114, -119, 24}),
               b = U8({3, 2}, {17, 211, 114, 118, 38, 20});
  ExpectTensor(RunOp1("MatMulInteger", {a, b}), {2, 2}, {10188, -11870, -14592, -37616});
  // One zero point a row of a, one a column of b.
  ExpectTensor(RunOp1("MatMulInteger", {a, b, I8({2}, {3, -5}), U8({2}, {7, 200})}), {2, 2},
               {9814, -9117, -12389, 2929});
  ExpectTensor(RunOp1("MatMulInteger", {a.Reshaped({1, 2, 3}).value(), b, I8({1, 2, 1}, {3, -5}),
                                        U8({1, 2}, {7, 200})}),
               {1, 2, 2}, {9814, -9117, -12389, 2929});
  EXPECT_EQ(RunOp("MatMulInteger", {a, b, I8({3}, {1, 2, 3})}).status().code(),
            Code::kShapeMismatch);
}

// Expected values from ONNX Runtime 1.32.
TEST(QuantizedLinear, QLinear) {
  const Tensor a = I8({2, 3}, {-116, 107, -1, -114, -119, 24}),
               b = I8({3, 2}, {-110, 83, -13, -9, -89, -107});
  ExpectTensor(RunOp1("QLinearMatMul", {a, F32({}, {0.02f}), I8({}, {3}), b, F32({}, {0.05f}),
                                        I8({}, {7}), F32({}, {0.5f}), I8({}, {-4})}),
               {2, 2}, {20, -25, 24, -23});
  const Tensor x = U8({1, 2, 3, 3}, {8, 184, 98, 9, 5, 118, 58, 171, 179, 95, 138, 141, 13, 112,
                                     159, 151, 85, 103});
  const Tensor w = I8({2, 2, 2, 2},
                      {-87, 65, -10, -7, -70, -84, -82, -67, -60, -65, -31, 34, -66, -89, 78, -89});
  ExpectTensor(RunOp1("QLinearConv",
                      {x, F32({}, {0.02f}), U8({}, {90}), w, F32({2}, {0.01f, 0.03f}),
                       I8({2}, {0, 0}), F32({}, {0.05f}), U8({}, {100}), I32({2}, {500, -300})},
                      {{"pads", Ints{1, 0, 0, 1}}}),
               {1, 2, 3, 3},
               {88, 69, 85, 162, 18, 61, 103, 102, 65, 119, 55, 141, 0, 0, 104, 255, 32, 1});
}

TEST(QuantizedLinear, ConvIntegerPadsWithTheZeroPoint) {
  ExpectTensor(RunOp1("ConvInteger", {U8({1, 1, 3}, {2, 3, 4}), U8({1, 1, 2}, {1, 1}), U8({}, {1})},
                      {{"pads", Ints{1, 0}}}),
               {1, 1, 3}, {1, 3, 5});
  ExpectTensor(RunOp1("ConvInteger", {U8({1, 1, 2}, {255, 255}), I8({2, 1, 2}, {-128, -128, 1, 1}),
                                      U8({}, {0}), I8({2}, {0, 1})}),
               {1, 2, 1}, {-65280, 0});
}

}  // namespace
}  // namespace asc
