// The micro-kernels against double precision, on every instruction set of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/kernels/gemm/micro_kernel.h"
#include "tests/core/kernels/vector_test.h"

namespace asc::gemm {
namespace {
using testing::ForEachTarget;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kGuard = 12345;  // what memory that is not to be written holds

std::vector<float> Noise(int64_t count, uint32_t seed) {
  const Tensor noise = testing::Noise({count}, seed);
  return {noise.data<float>(), noise.data<float>() + count};
}

std::vector<float> Packed(const std::vector<float>& b, int64_t k, int64_t n) {
  std::vector<float> packed(static_cast<size_t>(PackedCount(k, n)), kNan);
  Pack(b.data(), n, 1, k, n, 0, k, packed.data());
  return packed;
}

struct Case {
  int64_t m, n, k, blocks = 1, c_width = 0;
  bool accumulate = false, bias = false, residual = false, clamp = false;
  float alpha = 1;
  int64_t rest = 0;
};

// Runs `test` on noise and compares each element with a sum in double precision.
void Check(const Case& test) {
  const int64_t depth = test.k * test.blocks + test.rest, row = depth + 3;
  const std::vector<float> a = Noise(test.m * row, 1), b = Noise(depth * test.n, 2);
  const std::vector<float> packed = Packed(b, depth, test.n), bias = Noise(test.n, 3);
  const int64_t width = Tiles().width, c_width = test.c_width;
  const int64_t columns = c_width == 0 ? test.n : (test.n + c_width - 1) / c_width * c_width;
  const int64_t c_row = c_width == 0 ? test.n + 5 : c_width, c_block = test.m * c_width + 7;
  const auto at = [&](int64_t i, int64_t j) {
    return static_cast<size_t>(c_width == 0 ? i * c_row + j
                                            : j / c_width * c_block + i * c_row + j % c_width);
  };
  const auto size = static_cast<int64_t>(at(test.m - 1, columns - 1)) + 1;
  const std::vector<float> before = Noise(size, 4), residual = Noise(size, 5);
  std::vector<float> c = before;

  Product p;
  p.m = test.m;
  p.n = test.n;
  p.k = test.k;
  p.blocks = test.blocks;
  p.rest = test.rest;
  p.a = a.data();
  p.a_row = row;
  p.a_block = test.k;
  p.b = packed.data();
  p.b_panel = depth * width;
  p.b_block = test.k * width;
  p.c = c.data();
  p.c_row = c_row;
  p.c_block = c_block;
  p.c_width = c_width;
  p.accumulate = test.accumulate;
  p.alpha = test.alpha;
  if (test.bias) p.bias = bias.data();
  if (test.residual) p.residual = residual.data();
  p.residual_row = c_row;
  p.clamp = test.clamp;
  p.low = -0.5f;
  p.high = 1;
  Multiply(p);

  std::vector<bool> written(c.size());
  for (int64_t i = 0; i < test.m; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const size_t to = at(i, j);
      written[to] = true;
      if (j >= test.n) {
        EXPECT_EQ(c[to], 0) << "padding " << i << ", " << j;
        continue;
      }
      double want = 0;
      for (int64_t q = 0; q < depth; ++q) {
        want += static_cast<double>(a[static_cast<size_t>(i * row + q)]) *
                static_cast<double>(b[static_cast<size_t>(q * test.n + j)]);
      }
      want *= static_cast<double>(test.alpha);
      if (test.bias) want += static_cast<double>(bias[static_cast<size_t>(j)]);
      if (test.residual) want += static_cast<double>(residual[to]);
      if (test.accumulate) want += static_cast<double>(before[to]);
      if (test.clamp) want = std::clamp(want, -0.5, 1.0);
      ASSERT_NEAR(static_cast<double>(c[to]), want,
                  1e-6 * (4 + std::sqrt(static_cast<double>(depth))))
          << "m " << test.m << " n " << test.n << " k " << test.k << " at " << i << ", " << j;
    }
  }
  for (size_t i = 0; i < c.size(); ++i) {
    if (written[i]) continue;
    ASSERT_EQ(c[i], before[i]) << "written past the result, at " << i;
  }
}

TEST(GemmMicroKernel, EveryCountOfRowsAndColumns) {
  ForEachTarget([] {
    const TileShape tiles = Tiles();
    for (int64_t m = 1; m <= 2 * tiles.rows + 1; ++m) Check({m, tiles.width, 9});
    for (int64_t n = 1; n <= 2 * tiles.width + 1; ++n) Check({3, n, 5});
    for (int64_t k = 1; k <= 9; ++k) Check({tiles.rows, tiles.width + 1, k});
    Check({50, 70, 300});
  });
}

TEST(GemmMicroKernel, PartsOfTheSumStandApart) {
  ForEachTarget([] {
    for (const int64_t k : {1, 4, 8, 16}) {
      Check({20, 40, k, 5});
      for (const int64_t rest : {1, 3, 8, 15}) {
        if (rest < k) Check({.m = 20, .n = 40, .k = k, .blocks = 2, .rest = rest});
      }
    }
  });
}

TEST(GemmMicroKernel, WritesBlocksOfChannels) {
  ForEachTarget([] {
    for (const int64_t c_width : {8, 16}) {
      for (int64_t n = 1; n <= 41; ++n) Check({5, n, 8, 2, c_width});
      Check({17, 20, 8, 2, c_width, true, true, true, true, 0.5f});
    }
  });
}

TEST(GemmMicroKernel, AddsAndClamps) {
  ForEachTarget([] {
    for (const int64_t n : {7, 64}) {
      Check({4, n, 12, 1, 0, true});
      Check({4, n, 12, 1, 0, false, true});
      Check({4, n, 12, 1, 0, false, false, true});
      Check({4, n, 12, 1, 0, false, false, false, true});
      Check({4, n, 12, 1, 0, true, true, true, true, -2});
    }
  });
}

TEST(GemmMicroKernel, ResidualMayBeTheResult) {
  const std::vector<float> a = Noise(6 * 10, 1), packed = Packed(Noise(10 * 9, 2), 10, 9);
  const std::vector<float> residual = Noise(6 * 9, 3);
  std::vector<float> apart(residual.size()), in_place = residual;
  Product p{.m = 6, .n = 9, .k = 10, .a = a.data(), .a_row = 10, .b = packed.data()};
  p.c_row = p.residual_row = 9;
  p.c = apart.data();
  p.residual = residual.data();
  Multiply(p);
  p.residual = p.c = in_place.data();
  Multiply(p);
  EXPECT_EQ(apart, in_place);
}

TEST(GemmMicroKernel, KeepsNanAndFillsPaddingWithZeros) {
  ForEachTarget([] {
    const std::vector<float> a = {kNan, 1, kInf, 1, 1, 1};  // rows of two
    const std::vector<float> packed = Packed(std::vector<float>(2 * 3, 1), 2, 3);
    std::vector<float> c(3 * 8, kGuard);
    Product p{.m = 3, .n = 3, .k = 2, .a = a.data(), .a_row = 2, .b = packed.data()};
    p.c = c.data();
    p.c_row = p.c_width = 8;
    p.clamp = true;
    p.low = 0;
    p.high = kInf;
    Multiply(p);
    for (size_t j = 0; j < 8; ++j) {
      if (j < 3) {
        EXPECT_TRUE(std::isnan(c[j]));
        EXPECT_EQ(c[8 + j], kInf);
        EXPECT_EQ(c[16 + j], 2);
      } else {
        for (size_t i = 0; i < 3; ++i) EXPECT_EQ(c[8 * i + j], 0);
      }
    }
  });
}

TEST(GemmMicroKernel, AnEmptySumIsTheBias) {
  ForEachTarget([] {
    const std::vector<float> bias = {1, 2, 3};
    std::vector<float> c(3, kGuard);
    Product p{.m = 1, .n = 3, .k = 0};
    p.c = c.data();
    p.bias = bias.data();
    Multiply(p);
    EXPECT_EQ(c, bias);
  });
}

TEST(GemmMicroKernel, PacksTransposedMatricesInParts) {
  ForEachTarget([] {
    const int64_t k = 11, n = 37, width = Tiles().width;
    const std::vector<float> b = Noise(k * n, 1);  // [n, k]
    std::vector<float> packed(static_cast<size_t>(PackedCount(k, n)), kNan);
    Pack(b.data(), 1, k, k, n, 0, 4, packed.data());
    Pack(b.data() + 4, 1, k, k, n, 4, 7, packed.data());
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < static_cast<int64_t>(packed.size()) / k; ++j) {
        const float want = j < n ? b[static_cast<size_t>(j * k + p)] : 0;
        EXPECT_EQ(packed[static_cast<size_t>((j / width * k + p) * width + j % width)], want);
      }
    }
  });
}
}  // namespace
}  // namespace asc::gemm
