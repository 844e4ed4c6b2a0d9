// The element-wise vector kernels against the reference kernels: each operator, each way to
// broadcast, layouts.
#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, AttributeValue>> list) {
  AttributeMap map;
  for (const auto& [name, value] : list) map.Set(name, value);
  return map;
}
Tensor Scalar(float x) { return Tensor::Scalar<float>(x); }

TEST(VectorUnary, AgreesWithReference) {
  for (const char* op : {"Abs",
                         "Acos",
                         "Asin",
                         "Atan",
                         "Cos",
                         "Sin",
                         "Ceil",
                         "Celu",
                         "Elu",
                         "Erf",
                         "Exp",
                         "Floor",
                         "Gelu",
                         "HardSigmoid",
                         "HardSwish",
                         "LeakyRelu",
                         "Log",
                         "Mish",
                         "Neg",
                         "Reciprocal",
                         "Relu",
                         "Round",
                         "Selu",
                         "Sigmoid",
                         "Sign",
                         "Softplus",
                         "Softsign",
                         "Sqrt",
                         "Swish",
                         "Tanh",
                         "ThresholdedRelu"}) {
    SCOPED_TRACE(op);
    ExpectVectorKernel({.op = op, .inputs = {Noise({3, 5, 7})}}, "vector.unary");
    ExpectVectorKernel({.op = op, .inputs = {WildNoise({71})}}, "vector.unary");
  }
  for (const int64_t length : {0, 1, 7, 16, 49, 197, 70000}) {
    ExpectVectorKernel({.op = "Tanh", .inputs = {Noise({length})}}, "vector.unary");
  }
}

TEST(VectorUnary, TakesParameters) {
  const Tensor x = WildNoise({5, 30});
  ExpectVectorKernel({.op = "Gelu",
                      .inputs = {x},
                      .attributes = Attributes({{"approximate", std::string("tanh")}})},
                     "vector.unary");
  ExpectVectorKernel(
      {.op = "LeakyRelu", .inputs = {x}, .attributes = Attributes({{"alpha", 0.3f}})},
      "vector.unary");
  ExpectVectorKernel({.op = "HardSigmoid",
                      .inputs = {x},
                      .attributes = Attributes({{"alpha", 0.5f}, {"beta", 0.1f}})},
                     "vector.unary");
  ExpectVectorKernel({.op = "Elu", .inputs = {x}, .attributes = Attributes({{"alpha", -2.0f}})},
                     "vector.unary");
  ExpectVectorKernel({.op = "Celu", .inputs = {x}, .attributes = Attributes({{"alpha", 0.25f}})},
                     "vector.unary");
  ExpectVectorKernel({.op = "Swish", .inputs = {x}, .attributes = Attributes({{"alpha", 1.7f}})},
                     "vector.unary");
}

TEST(VectorUnary, Clips) {
  const Tensor x = WildNoise({5, 30});
  ExpectVectorKernel({.op = "Clip", .inputs = {x, Scalar(-0.3f), Scalar(0.4f)}}, "vector.clip");
  ExpectVectorKernel({.op = "Clip", .inputs = {x, Scalar(-0.3f)}}, "vector.clip");
  ExpectVectorKernel({.op = "Clip", .inputs = {x, std::nullopt, Scalar(0.4f)}}, "vector.clip");
  ExpectVectorKernel({.op = "Clip", .inputs = {x, Scalar(NAN), Scalar(0.4f)}}, "vector.clip");
  ExpectVectorKernel({.op = "Clip", .inputs = {x, Scalar(-1.0f), Scalar(NAN)}}, "vector.clip");
}

TEST(VectorUnary, BlockedOnlyWherePaddingStaysZero) {
  const Tensor full = Noise({2, 16, 3, 5}), padded = Noise({2, 13, 3, 5});
  ExpectVectorKernel({.op = "HardSwish", .inputs = {full}, .c0 = 8}, "vector.unary");
  ExpectVectorKernel({.op = "HardSwish", .inputs = {padded}, .c0 = 16}, "vector.unary");
  ExpectVectorKernel({.op = "Sigmoid", .inputs = {full}, .c0 = 16}, "vector.unary");
  EXPECT_TRUE(ExpectKernelsAgree({.op = "Sigmoid", .inputs = {padded}, .c0 = 16}).empty());
  const std::vector<std::optional<Tensor>> relu6 = {padded, Scalar(0), Scalar(6)};
  ExpectVectorKernel({.op = "Clip", .inputs = relu6, .constants = {1, 2}, .c0 = 8}, "vector.clip");
  EXPECT_TRUE(ExpectKernelsAgree({.op = "Clip", .inputs = relu6, .c0 = 8}).empty());
}

TEST(VectorUnary, OtherTypesAreLeft) {
  EXPECT_TRUE(
      ExpectKernelsAgree({.op = "Abs", .inputs = {Tensor::FromValues<int32_t>({2}, {-1, 2})}})
          .empty());
  EXPECT_TRUE(
      ExpectKernelsAgree({.op = "Exp", .inputs = {Tensor::FromValues<double>({2}, {-1, 2})}})
          .empty());
}

struct BroadcastCase {
  Dims x, y;
};
const BroadcastCase kBroadcasts[] = {
    {{4, 33}, {4, 33}},            // same extents
    {{4, 33}, {}},                 // scalar
    {{}, {70}},                    //
    {{1}, {1, 1}},                 //
    {{6, 5, 197}, {197}},          // row vector
    {{5, 300, 3}, {3}},            // short row vector
    {{6, 5, 49}, {6, 5, 1}},       // column
    {{9, 40, 2}, {9, 40, 1}},      // column of short rows
    {{2, 7, 6, 9}, {2, 7, 1, 1}},  // channel gates
    {{2, 7, 6, 9}, {7, 1, 1}},     // channels
    {{2, 7, 6, 9}, {2, 1, 6, 9}},  //
    {{3, 1, 5, 1, 7}, {1, 4, 1, 6, 7}},
    {{8, 1}, {1, 9}},       // outer product
    {{8, 1}, {1, 90}},      //
    {{2, 90000}, {90000}},  // few long rows
    {{0, 5}, {5}},          //
};

TEST(VectorBinary, Broadcasts) {
  for (const BroadcastCase& dims : kBroadcasts) {
    SCOPED_TRACE(ToString(dims.x) + " with " + ToString(dims.y));
    ExpectVectorKernel({.op = "Sub", .inputs = {Noise(dims.x, 1), Noise(dims.y, 2)}},
                       "vector.binary");
    ExpectVectorKernel({.op = "Sub", .inputs = {Noise(dims.y, 1), Noise(dims.x, 2)}},
                       "vector.binary");
  }
}

TEST(VectorBinary, AgreesWithReference) {
  for (const char* op : {"Add", "Div", "Max", "Mean", "Min", "Mul", "PRelu", "Sub", "Sum"}) {
    SCOPED_TRACE(op);
    ExpectVectorKernel({.op = op, .inputs = {WildNoise({5, 31}, 1), Noise({5, 31}, 2)}},
                       "vector.binary");
    ExpectVectorKernel({.op = op, .inputs = {Noise({5, 31}, 3), WildNoise({31}, 4)}},
                       "vector.binary");
    ExpectVectorKernel({.op = op, .inputs = {WildNoise({5, 18}, 1), WildNoise({5, 18}, 2)}},
                       "vector.binary");
  }
  ExpectVectorKernel({.op = "PRelu", .inputs = {Noise({2, 6, 5, 5}), Noise({6, 1, 1}, 2)}},
                     "vector.binary");
}

TEST(VectorBinary, FoldsManyOperands) {
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    ExpectVectorKernel(
        {.op = op,
         .inputs = {WildNoise({50, 100}, 1), Noise({50, 100}, 2), WildNoise({50, 100}, 3)}},
        "vector.fold");
  }
  EXPECT_TRUE(
      ExpectKernelsAgree({.op = "Sum", .inputs = {Noise({4, 3}), Noise({3}), Noise({4, 3})}})
          .empty());
}

TEST(VectorBinary, Blocked) {
  const Tensor a = Noise({2, 13, 3, 5}, 1), b = Noise({2, 13, 3, 5}, 2);
  ExpectVectorKernel({.op = "Add", .inputs = {a, b}, .c0 = 16}, "vector.binary");
  ExpectVectorKernel({.op = "Add", .inputs = {a, b}, .c0 = 8}, "vector.binary");
  ExpectVectorKernel({.op = "Max", .inputs = {a, b, a}, .c0 = 8}, "vector.fold");
  // 0 / 0 in the padding.
  EXPECT_TRUE(ExpectKernelsAgree({.op = "Div", .inputs = {a, b}, .c0 = 8}).empty());
  // Gates and scalars.
  for (const char* op : {"Add", "Mul", "PRelu"}) {
    ExpectVectorKernel({.op = op, .inputs = {a, Noise({2, 13, 1, 1})}, .c0 = 8}, "vector.binary");
    ExpectVectorKernel({.op = op, .inputs = {a, Noise({1, 13, 3, 1})}, .c0 = 16}, "vector.binary");
  }
  const std::vector<std::optional<Tensor>> scaled = {a, Scalar(3)};
  ExpectVectorKernel({.op = "Mul", .inputs = scaled, .constants = {1}, .c0 = 8}, "vector.binary");
  ExpectVectorKernel({.op = "Div", .inputs = scaled, .constants = {1}, .c0 = 8}, "vector.binary");
  EXPECT_TRUE(ExpectKernelsAgree({.op = "Mul", .inputs = scaled, .c0 = 8}).empty());
  EXPECT_TRUE(
      ExpectKernelsAgree({.op = "Add", .inputs = scaled, .constants = {1}, .c0 = 8}).empty());
  const Tensor full = Noise({2, 16, 3, 5});
  ExpectVectorKernel({.op = "Add", .inputs = {full, Scalar(3)}, .c0 = 8}, "vector.binary");
  // One channel does not repeat over a block.
  EXPECT_TRUE(
      ExpectKernelsAgree({.op = "Mul", .inputs = {a, Noise({2, 1, 3, 5})}, .c0 = 8}).empty());
}

Tensor Condition(const Dims& dims) {
  Tensor out = Tensor::Allocate(DataType::kBool, dims).value();
  for (int64_t i = 0; i < out.size(); ++i) out.data<bool>()[i] = (i * 7 % 11) % 3 == 0;
  return out;
}

TEST(VectorWhere, SelectsBitForBit) {
  const Tensor x = WildNoise({4, 6, 49}, 1);
  ExpectVectorKernel({.op = "Where", .inputs = {Condition({4, 6, 49}), x, Noise({4, 6, 49}, 2)}},
                     "vector.where", 0);
  ExpectVectorKernel({.op = "Where", .inputs = {Condition({4, 1, 49}), x, Scalar(-1e30f)}},
                     "vector.where", 0);
  ExpectVectorKernel({.op = "Where", .inputs = {Condition({49}), Scalar(-INFINITY), x}},
                     "vector.where", 0);
  ExpectVectorKernel({.op = "Where", .inputs = {Condition({4, 6, 1}), x, Noise({49}, 2)}},
                     "vector.where", 0);
  ExpectVectorKernel(
      {.op = "Where", .inputs = {Condition({4, 5}), Noise({4, 1}), Noise({1, 5}, 2)}},
      "vector.where", 0);
  ExpectVectorKernel({.op = "Where", .inputs = {Condition({}), Noise({70000}), Noise({70000}, 2)}},
                     "vector.where", 0);
}
}  // namespace
}  // namespace asc::testing
