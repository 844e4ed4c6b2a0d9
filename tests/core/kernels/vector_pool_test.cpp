// The pooling vector kernels against the reference kernels.
#include "tests/core/kernels/vector_test.h"

namespace asc::testing {
namespace {
using Ints = std::vector<int64_t>;

struct PoolCase {
  Dims dims;
  Ints kernel, strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t ceil_mode = 0;
};
const PoolCase kPools[] = {
    {{2, 13, 9, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
    {{1, 16, 40, 70}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
    {{2, 13, 8, 37}, {2, 2}, {2, 2}},
    {{2, 8, 17, 35}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {{1, 5, 20, 33}, {5, 2}, {3, 3}, {2, 0, 1, 1}},
    {{1, 5, 20, 33}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
    {{1, 5, 21, 34}, {3, 3}, {2, 3}, {1, 1, 0, 1}, {1, 1}, 1},
    {{2, 3, 19, 40}, {3, 2}, {1, 2}, {2, 2, 2, 1}, {2, 3}},
    {{1, 3, 7, 7}, {7, 7}},
    {{1, 2, 5, 3000}, {2, 3}, {1, 2}, {0, 1, 0, 1}},  // wider than a line
    {{1, 2, 3, 6100}, {1, 2}, {1, 3}},
    {{2, 16, 1, 1}, {1, 1}},
};

void ExpectPool(const char* op, const PoolCase& pool, bool wild, int c0, int64_t include_pad = 0) {
  KernelCase test{.op = op, .inputs = {wild ? WildNoise(pool.dims) : Noise(pool.dims)}, .c0 = c0};
  test.attributes.Set("kernel_shape", pool.kernel);
  test.attributes.Set("strides", pool.strides);
  test.attributes.Set("pads", pool.pads);
  test.attributes.Set("dilations", pool.dilations);
  test.attributes.Set("ceil_mode", pool.ceil_mode);
  if (include_pad != 0) test.attributes.Set("count_include_pad", include_pad);
  ExpectVectorKernel(test, "vector.pool");
}

TEST(VectorPool, Max) {
  for (const PoolCase& pool : kPools) {
    SCOPED_TRACE(ToString(pool.dims));
    for (const int c0 : {0, 8, 16}) {
      ExpectPool("MaxPool", pool, false, c0);
      ExpectPool("MaxPool", pool, true, c0);
    }
  }
}

TEST(VectorPool, Average) {
  for (const PoolCase& pool : kPools) {
    SCOPED_TRACE(ToString(pool.dims));
    for (const int c0 : {0, 8, 16}) {
      ExpectPool("AveragePool", pool, false, c0);
      ExpectPool("AveragePool", pool, false, c0, 1);
      ExpectPool("AveragePool", pool, true, c0);
    }
  }
}

TEST(VectorPool, OneAxis) {
  KernelCase test{.op = "MaxPool", .inputs = {Noise({2, 3, 100})}};
  test.attributes.Set("kernel_shape", Ints{3});
  test.attributes.Set("strides", Ints{2});
  test.attributes.Set("auto_pad", std::string("SAME_UPPER"));
  ExpectVectorKernel(test, "vector.pool");
}

TEST(VectorPool, IndicesAndThreeAxesAreLeft) {
  KernelCase indices{.op = "MaxPool", .inputs = {Noise({1, 2, 8, 8})}, .outputs = 2};
  indices.attributes.Set("kernel_shape", Ints{2, 2});
  EXPECT_TRUE(ExpectKernelsAgree(indices).empty());
  KernelCase volume{.op = "AveragePool", .inputs = {Noise({1, 2, 4, 4, 4})}};
  volume.attributes.Set("kernel_shape", Ints{2, 2, 2});
  EXPECT_TRUE(ExpectKernelsAgree(volume).empty());
}
}  // namespace
}  // namespace asc::testing
