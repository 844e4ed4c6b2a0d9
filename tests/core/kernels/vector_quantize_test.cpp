// QuantizeLinear and DynamicQuantizeLinear: equal to the reference kernels, bit for bit.
#include <algorithm>

#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::KernelCase;

Tensor Scales(const Dims& dims) {
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < out.size(); ++i) out.data<float>()[i] = 0.5f / static_cast<float>(3 + i);
  return out;
}

Tensor Zeros(DataType type, const Dims& dims) {
  Tensor out = Tensor::Allocate(type, dims).value();
  auto* to = static_cast<uint8_t*>(out.raw());
  for (size_t i = 0; i < out.bytes(); ++i) to[i] = static_cast<uint8_t>(37 * (i + 1));
  return out;
}

TEST(VectorQuantize, EqualsTheReference) {
  for (const DataType type :
       {DataType::kInt8, DataType::kUInt8, DataType::kInt16, DataType::kUInt16}) {
    for (const Dims& scales : {Dims{}, Dims{1}, Dims{5}}) {
      SCOPED_TRACE(Cat(DataTypeName(type), scales));
      const Tensor x = testing::WildNoise({2, 5, 1003});
      testing::ExpectVectorKernel({"QuantizeLinear", "", {x, Scales(scales), Zeros(type, scales)}},
                                  "vector.quantize", 0);
    }
  }
  testing::ExpectVectorKernel({"QuantizeLinear", "", {testing::WildNoise({70001}), Scales({})}},
                              "vector.quantize", 0);
}

TEST(VectorQuantize, LeavesOtherGranularitiesToTheReference) {
  KernelCase test{"QuantizeLinear", "", {testing::Noise({4, 32}), Scales({4, 2})}};
  test.attributes.Set("block_size", int64_t{16});
  EXPECT_EQ(std::ranges::count(testing::ExpectKernelsAgree(test, 0), "vector.quantize"), 0);
}

TEST(VectorQuantize, DynamicScalesEqualTheReference) {
  for (const Dims& dims : {Dims{1}, Dims{63}, Dims{3, 1000}, Dims{70001}}) {
    Tensor x = testing::Noise(dims);
    x.data<float>()[0] = NAN;
    KernelCase test{"DynamicQuantizeLinear", "", {x}};
    test.outputs = 3;
    testing::ExpectVectorKernel(test, "vector.dynamic_quantize", 0);
  }
}
}  // namespace
}  // namespace asc
