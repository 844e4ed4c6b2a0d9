// Products by Strassen's algorithm against double precision and against products without it, on every
// instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/gemm/strassen.h"
#include "tests/core/kernels/vector_test.h"

namespace asc::gemm {
namespace {
using testing::ForEachTarget;
using testing::Noise;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// A product of noise, and memory for all of it.
struct Case {
  Case(int64_t rows, int64_t columns, int64_t depth)
      : m(rows),
        n(columns),
        k(depth),
        a(Noise({m, k})),
        b(Noise({k, n}, 2)),
        bias(Noise({n}, 3)),
        residual(Noise({m, n}, 4)) {}

  Product Pack() {
    packed.assign(static_cast<size_t>(PackedCount(k, n)), kNan);
    gemm::Pack(b.data<float>(), n, 1, k, n, 0, k, packed.data());
    c.assign(static_cast<size_t>(m * n), kNan);
    Product p{.m = m, .n = n, .k = k, .a = a.data<float>(), .a_row = k, .b = packed.data()};
    p.b_panel = k * Tiles().width;
    p.c = c.data();
    p.c_row = p.residual_row = n;
    p.bias = bias.data<float>();
    p.residual = residual.data<float>();
    return p;
  }
  std::vector<float> Run(const Product& p, const Cutting& cutting, int team,
                         const std::optional<simd::UnaryCall>& activation = {}) {
    std::vector<std::byte> scratch(cutting.scratch_bytes + 64);
    void* start = scratch.data();
    size_t space = scratch.size();
    std::align(64, cutting.scratch_bytes, start, space);
    const ScopedThreads scoped(team);
    MultiplyOnTeam(p, 1, cutting, activation, start);
    return c;
  }

  int64_t m, n, k;
  Tensor a, b, bias, residual;
  std::vector<float> packed, c;
};

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) << "at " << i;
    } else {
      ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(want[i]), tolerance)
          << "at " << i;
    }
  }
}

class Strassen : public ::testing::Test {
 protected:
  // `test` on each instruction set that has vectors.
  static void OnVectors(const std::function<void()>& test) {
    ForEachTarget([&] {
      if (Tiles().lanes >= 4) test();
    });
  }
};

// The largest error, as a part of the largest result, is recorded beside that of a product without Strassen's algorithm.
TEST_F(Strassen, IsAccurate) {
  OnVectors([] {
    for (const auto& [m, k] :
         {std::pair(64, 256), std::pair(131, 416), std::pair(128, 768), std::pair(128, 3072)}) {
      Case test(m, 256, k);
      const Product p = test.Pack();
      double errors[2] = {0, 0};
      for (const bool strassen : {false, true}) {
        const Cutting cutting = Cut(p, 1, 1, strassen);
        ASSERT_EQ(cutting.halved, strassen);
        test.Run(p, cutting, 1);
        double largest = 0;
        for (int64_t i = 0; i < m; i += 13) {
          for (int64_t j = 0; j < test.n; ++j) {
            double want = static_cast<double>(test.bias.data<float>()[j]) +
                          static_cast<double>(test.residual.data<float>()[i * test.n + j]);
            for (int64_t q = 0; q < k; ++q) {
              want += static_cast<double>(test.a.data<float>()[i * k + q]) *
                      static_cast<double>(test.b.data<float>()[q * test.n + j]);
            }
            largest = std::max(largest, std::fabs(want));
            const auto got = static_cast<double>(test.c[static_cast<size_t>(i * test.n + j)]);
            errors[strassen] = std::max(errors[strassen], std::fabs(got - want));
          }
        }
        errors[strassen] /= largest;
      }
      RecordProperty(Cat("plain_", k), Cat(errors[0]));
      RecordProperty(Cat("strassen_", k), Cat(errors[1]));
      EXPECT_LT(errors[0], 1.5e-6) << "depth " << k;
      EXPECT_LT(errors[1], 2.5e-6) << "depth " << k;
    }
  });
}

// Sums of integers are exact in any order.
TEST_F(Strassen, IsExactForIntegers) {
  OnVectors([] {
    for (const int64_t m : {64, 70, 77, 100, 129, 257}) {
      for (const int64_t k : {256, 288, 1024}) {
        Case test(m, 384, k);
        for (Tensor* x : {&test.a, &test.b, &test.bias, &test.residual}) {
          for (int64_t i = 0; i < x->size(); ++i)
            x->data<float>()[i] = std::round(4 * x->data<float>()[i]);
        }
        Product p = test.Pack();
        p.alpha = -0.5f;
        p.clamp = true;
        p.low = -20;
        p.high = kInf;
        const std::vector<float> want = test.Run(p, Cut(p, 1, 1), 1);
        for (const int threads : {1, 2, 3}) {
          const Cutting cutting = Cut(p, 1, threads, true);
          EXPECT_EQ(cutting.halved, m / cutting.row_parts >= 64);
          std::ranges::fill(test.c, kNan);
          EXPECT_EQ(test.Run(p, cutting, threads), want)
              << m << " rows, depth " << k << ", threads " << threads;
        }
      }
    }
  });
}

TEST_F(Strassen, ResidualMayBeTheResult) {
  OnVectors([] {
    Case test(128, 256, 1024);
    Product p = test.Pack();
    const Cutting cutting = Cut(p, 1, 2, true);
    ASSERT_TRUE(cutting.halved);
    const std::vector<float> want = test.Run(p, cutting, 2);
    std::copy_n(test.residual.data<float>(), test.c.size(), test.c.data());
    p.residual = p.c;
    EXPECT_EQ(test.Run(p, cutting, 2), want);
  });
}

TEST_F(Strassen, Activates) {
  OnVectors([] {
    Case test(130, 320, 256);
    const Product p = test.Pack();
    const simd::UnaryCall gelu{simd::UnaryOp::kGelu};
    const std::vector<float> want = test.Run(p, Cut(p, 1, 1), 1, gelu);
    ExpectNear(test.Run(p, Cut(p, 1, 1, true), 1, gelu), want, 1e-4);
  });
}

TEST_F(Strassen, BitsDependOnTheThreadOptionAlone) {
  for (const int threads : {1, 2, 4}) {
    Case test(200, 512, 512);
    const Product p = test.Pack();
    const Cutting cutting = Cut(p, 1, threads, true);
    const std::vector<float> want = test.Run(p, cutting, threads);
    EXPECT_EQ(test.Run(p, cutting, threads), want);
    EXPECT_EQ(test.Run(p, cutting, 1), want) << "by a team that is smaller than asked for";
  }
}

// What is NaN, infinite or large spoils its own rows alone, and those as without Strassen's algorithm.
TEST_F(Strassen, SpecialNumbersStayInTheirRows) {
  OnVectors([] {
    for (const float special : {kNan, kInf, -kInf, 3e38f}) {
      for (const int64_t row : {0, 70, 128}) {
        for (const int64_t column : {3, 700}) {
          Case test(129, 256, 768);
          test.a.data<float>()[row * test.k + column] = special;
          const Product p = test.Pack();
          const Cutting cutting = Cut(p, 1, 1, true);
          ASSERT_TRUE(cutting.halved);
          const std::vector<float> want = test.Run(p, Cut(p, 1, 1), 1);
          const std::vector<float> got = test.Run(p, cutting, 1);
          const auto first = static_cast<size_t>(row * test.n), last = first + 256;
          for (size_t i = 0; i < got.size(); ++i) {
            if (first <= i && i < last) {
              ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
                  << got[i] << ", not " << want[i];
            } else {
              ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(want[i]), 1e-4);
            }
          }
        }
      }
    }
  });
}

TEST_F(Strassen, WeightsThatAreNotSmallAreRefused) {
  OnVectors([] {
    std::vector<float> x(1003, 1);
    EXPECT_TRUE(CanBeHalved(x.data(), 1003));
    for (const float bad : {kNan, kInf, -kInf, 1e30f}) {
      for (const size_t at : {size_t{0}, size_t{500}, size_t{1002}}) {
        std::vector<float> y = x;
        y[at] = bad;
        EXPECT_FALSE(CanBeHalved(y.data(), 1003)) << bad << " at " << at;
      }
    }
  });
}

TEST_F(Strassen, IsLeftAloneWhereItDoesNotPay) {
  const auto halved = [](int64_t m, int64_t n, int64_t k, int64_t a_column, bool may) {
    Case test(m, n, k);
    return Cut(test.Pack(), a_column, 1, may).halved;
  };
  EXPECT_TRUE(halved(128, 256, 256, 1, true));
  EXPECT_FALSE(halved(128, 256, 256, 1, false));
  EXPECT_FALSE(halved(128, 256, 256, 128, true));  // transposed
  EXPECT_FALSE(halved(63, 256, 256, 1, true));
  EXPECT_FALSE(halved(128, 128, 256, 1, true));
  EXPECT_FALSE(halved(128, 257, 256, 1, true));
  EXPECT_FALSE(halved(128, 256, 128, 1, true));
  EXPECT_FALSE(halved(128, 256, 257, 1, true));
}

// By the kernel, whose weights may forbid it.
TEST_F(Strassen, KernelsAgree) {
  for (const float weight : {0.5f, kInf}) {
    testing::KernelCase test{"MatMul", "", {Noise({2, 64, 256}), Noise({256, 320}, 2)}};
    test.inputs[1]->data<float>()[1000] = weight;
    test.constants = {1};
    test.winograd = true;
    OnVectors([&] {
      for (const int threads : {1, 2}) {
        test.threads = threads;
        EXPECT_EQ(std::ranges::count(testing::ExpectKernelsAgree(test, 2e-6), "gemm.matmul"), 1);
      }
    });
  }
}
}  // namespace
}  // namespace asc::gemm
