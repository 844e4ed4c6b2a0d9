// Products and convolutions of 8-bit integers: equal to the reference kernels, bit for bit.
#include <algorithm>

#include "core/kernels/vector/integer_product_vnni.h"
#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::ForEachTarget;
using testing::KernelCase;

// All values of the type in an order that looks random.
Tensor Bytes(DataType type, const Dims& dims, uint32_t seed) {
  Tensor out = Tensor::Allocate(type, dims).value();
  auto* to = static_cast<uint8_t*>(out.raw());
  for (int64_t i = 0; i < out.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

Tensor Scales(const Dims& dims, float first) {
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < out.size(); ++i)
    out.data<float>()[i] = first * (1.0f + 0.1f * static_cast<float>(i % 7));
  return out;
}

void ExpectEqual(KernelCase test, size_t weight, std::string_view entry) {
  for (const bool constant : {false, true}) {
    test.constants.clear();
    if (constant) test.constants = {weight, weight + 2};
    ForEachTarget([&] {
      for (const int threads : {1, 2}) {
        test.threads = threads;
        const auto ran = testing::ExpectKernelsAgree(test, 0);
        EXPECT_EQ(std::ranges::count(ran, entry), 1);
      }
    });
#if defined(__x86_64__)
    simd::vnni::ForbidForTest(true);  // what CPUs without VNNI run
    test.threads = 1;
    testing::ExpectKernelsAgree(test, 0);
    simd::vnni::ForbidForTest(false);
#endif
  }
}

constexpr DataType kBoth[] = {DataType::kUInt8, DataType::kInt8};

TEST(IntegerProduct, MatMulIntegerIsExact) {
  const std::pair<Dims, Dims> shapes[] = {{{5, 7}, {7, 3}},
                                          {{2, 3, 8}, {8, 16}},
                                          {{9}, {9, 33}},
                                          {{66, 300}, {300, 70}},
                                          {{1, 1}, {1, 1}},
                                          {{3, 5, 9}, {3, 9, 20}},
                                          {{2, 1, 70, 33}, {4, 33, 17}},
                                          {{6, 8}, {2, 3, 8, 5}}};
  for (const auto& [a, b] : shapes) {
    for (const DataType left : kBoth) {
      for (const DataType right : kBoth) {
        SCOPED_TRACE(Cat(a, b, DataTypeName(left), DataTypeName(right)));
        ExpectEqual({"MatMulInteger", "", {Bytes(left, a, 1), Bytes(right, b, 2)}}, 1,
                    "vector.integer_product");
        ExpectEqual({"MatMulInteger",
                     "",
                     {Bytes(left, a, 1), Bytes(right, b, 2), Bytes(left, {}, 3),
                      Bytes(right, {b.back()}, 4)}},
                    1, "vector.integer_product");
      }
    }
  }
}

TEST(IntegerProduct, QLinearMatMulIsExact) {
  for (const DataType type : kBoth) {
    for (const Dims& columns : {Dims{}, Dims{37}}) {
      ExpectEqual({"QLinearMatMul",
                   "",
                   {Bytes(type, {3, 11, 50}, 1), Scales({}, 0.02f), Bytes(type, {}, 3),
                    Bytes(DataType::kInt8, {50, 37}, 2), Scales(columns, 0.01f),
                    Bytes(DataType::kInt8, columns, 5), Scales({}, 0.3f), Bytes(type, {}, 7)}},
                  3, "vector.integer_product");
    }
    ExpectEqual({"QLinearMatMul",
                 "",
                 {Bytes(type, {2, 3, 11, 50}, 1), Scales({}, 0.02f), Bytes(type, {}, 3),
                  Bytes(type, {3, 50, 37}, 2), Scales({}, 0.01f), Bytes(type, {}, 5),
                  Scales({}, 0.3f), Bytes(type, {}, 7)}},
                3, "vector.integer_product");
  }
}

struct ConvCase {
  Dims x, w;
  std::vector<int64_t> pads, strides, dilations;
  int64_t group;
};
const ConvCase kConvs[] = {
    {{2, 3, 9, 11}, {5, 3, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 1},
    {{1, 4, 12, 10}, {6, 2, 3, 3}, {0, 1, 2, 1}, {2, 2}, {1, 1}, 2},
    {{1, 6, 13, 13}, {6, 1, 3, 3}, {2, 2, 2, 2}, {1, 1}, {2, 2}, 6},
    {{2, 5, 14, 37}, {10, 1, 5, 5}, {2, 2, 2, 2}, {2, 2}, {1, 1}, 5},
    {{1, 20, 5, 70}, {20, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 20},
    {{1, 1, 9, 9}, {2, 1, 17, 17}, {8, 8, 8, 8}, {1, 1}, {1, 1}, 1},
    {{1, 5, 40}, {3, 5, 4}, {3, 0}, {3}, {1}, 1},
    {{1, 2, 5, 6, 7}, {4, 2, 2, 3, 2}, {0, 1, 0, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1},
    {{1, 8, 7, 7}, {9, 8, 1, 1}, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1},
};

AttributeMap AttributesOf(const ConvCase& c) {
  AttributeMap attributes;
  attributes.Set("pads", c.pads);
  attributes.Set("strides", c.strides);
  attributes.Set("dilations", c.dilations);
  attributes.Set("group", c.group);
  return attributes;
}

TEST(IntegerProduct, ConvIntegerIsExact) {
  for (const ConvCase& c : kConvs) {
    for (const DataType type : kBoth) {
      SCOPED_TRACE(Cat(c.x, c.w, DataTypeName(type)));
      KernelCase test{"ConvInteger", "", {Bytes(type, c.x, 1), Bytes(type, c.w, 2)}};
      test.attributes = AttributesOf(c);
      ExpectEqual(test, 1, "vector.integer_conv");
      test.inputs.push_back(Bytes(type, {}, 3));
      test.inputs.push_back(Bytes(type, {c.w[0]}, 4));
      ExpectEqual(test, 1, "vector.integer_conv");
    }
  }
}

TEST(IntegerProduct, QLinearConvIsExact) {
  for (const ConvCase& c : kConvs) {
    SCOPED_TRACE(Cat(c.x, c.w));
    Tensor bias = Tensor::Allocate(DataType::kInt32, {c.w[0]}).value();
    for (int64_t i = 0; i < bias.size(); ++i)
      bias.data<int32_t>()[i] = static_cast<int32_t>(i * 997 - 1500);
    KernelCase test{"QLinearConv",
                    "",
                    {Bytes(DataType::kUInt8, c.x, 1), Scales({}, 0.02f),
                     Bytes(DataType::kUInt8, {}, 3), Bytes(DataType::kInt8, c.w, 2),
                     Scales({c.w[0]}, 0.01f), Bytes(DataType::kInt8, {c.w[0]}, 4), Scales({}, 0.4f),
                     Bytes(DataType::kUInt8, {}, 6), bias}};
    test.attributes = AttributesOf(c);
    ExpectEqual(test, 3, "vector.integer_conv");
  }
}

TEST(VectorCast, AgreesWithTheReference) {
  Tensor x = testing::Noise({3, 37});
  for (int64_t i = 40; i < 80; ++i) x.data<float>()[i] *= 5e9f;
  const float edges[] = {NAN,        -NAN,          INFINITY, -INFINITY, 0x1p31f, -0x1p31f,
                         -0x1.1p31f, 2147483520.0f, -0.0f,    -1.75f,    1e-40f};
  std::copy(std::begin(edges), std::end(edges), x.data<float>() + 20);
  for (const DataType to :
       {DataType::kFloat16, DataType::kBFloat16, DataType::kInt32, DataType::kBool}) {
    KernelCase test{"Cast", "", {x}};
    test.attributes.Set("to", static_cast<int64_t>(to));
    ForEachTarget([&] {
      const auto ran = testing::ExpectKernelsAgree(test, 0);
      EXPECT_EQ(std::ranges::count(ran, "vector.cast"), 1);
    });
  }
}
}  // namespace
}  // namespace asc
