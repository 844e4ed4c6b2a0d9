// The vectorised functions against double precision: bounds over dense grids of all floats, and
// special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "core/kernels/vector/unary.h"
#include "tests/core/kernels/vector_test.h"

namespace asc::simd {
namespace {
using testing::ForEachTarget;

double Ulp(double x) {
  const double size = std::max(std::fabs(x), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

// Every 4999th float in [low, high], so that all bit positions vary.
std::vector<float> Grid(float low, float high) {
  std::vector<float> out;
  for (uint64_t bits = 0; bits < 0x7F800000u; bits += 4999) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      const float x = std::bit_cast<float>(static_cast<uint32_t>(bits) | sign);
      if (x >= low && x <= high) out.push_back(x);
    }
  }
  return out;
}

struct Bound {
  const char* name;
  UnaryCall call;
  std::function<double(double)> exact;
  double ulps = 0;      // |error| <= ulps of the exact value
  double absolute = 0;  // or <= absolute * max(1, |x|)
  float low = -3.4e38f, high = 3.4e38f;
};

void ExpectBound(const Bound& bound) {
  const std::vector<float> x = Grid(bound.low, bound.high);
  std::vector<float> y(x.size());
  ForEachTarget([&] {
    ApplyUnary(bound.call, x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    float worst_at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = bound.exact(x[i]);
      if (std::fabs(want) > 3.4028235e38) {
        ASSERT_EQ(y[i], want > 0 ? INFINITY : -INFINITY) << bound.name << "(" << x[i] << ")";
        continue;
      }
      const double error = std::fabs(y[i] - want);
      if (error <= bound.absolute * std::max(1.0, std::fabs(static_cast<double>(x[i])))) continue;
      const double ulps = error / Ulp(want);
      if (!(ulps <= worst)) worst = ulps, worst_at = x[i];
    }
    EXPECT_LE(worst, bound.ulps) << bound.name << "(" << worst_at << ")";
  });
}

double ExactSigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double ExactSoftplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + std::fmax(x, 0); }

constexpr double kTiny = 1.2e-38;  // results that would be denormal may be flushed to zero

TEST(VectorMath, ExponentialAndLogarithm) {
  ExpectBound({"exp", {UnaryOp::kExp}, [](double x) { return std::exp(x); }, 1, kTiny});
  ExpectBound({"log", {UnaryOp::kLog}, [](double x) { return std::log(x); }, 1, 0, 1e-45f});
}

TEST(VectorMath, TanhErfSigmoid) {
  ExpectBound({"tanh", {UnaryOp::kTanh}, [](double x) { return std::tanh(x); }, 6});
  ExpectBound({"erf", {UnaryOp::kErf}, [](double x) { return std::erf(x); }, 6});
  ExpectBound({"sigmoid", {UnaryOp::kSigmoid}, ExactSigmoid, 4, kTiny});
}

TEST(VectorMath, Trigonometry) {
  ExpectBound({"sin", {UnaryOp::kSin}, [](double x) { return std::sin(x); }, 3});
  ExpectBound({"cos", {UnaryOp::kCos}, [](double x) { return std::cos(x); }, 3});
  ExpectBound({"asin", {UnaryOp::kAsin}, [](double x) { return std::asin(x); }, 3, 0, -1, 1});
  ExpectBound({"acos", {UnaryOp::kAcos}, [](double x) { return std::acos(x); }, 3, 0, -1, 1});
  ExpectBound({"atan", {UnaryOp::kAtan}, [](double x) { return std::atan(x); }, 3});
}

// Floats next to multiples of pi / 2, where a poor reduction loses all digits.
TEST(VectorMath, TrigonometryNearZeros) {
  std::vector<float> x;
  for (int i = -5300; i <= 5300; ++i) {
    const auto zero = static_cast<float>(i * M_PI_2);
    x.insert(x.end(), {std::nextafter(zero, -1e9f), zero, std::nextafter(zero, 1e9f)});
  }
  std::vector<float> y(x.size());
  ForEachTarget([&] {
    for (const bool cosine : {false, true}) {
      ApplyUnary({cosine ? UnaryOp::kCos : UnaryOp::kSin}, x.data(), y.data(),
                 static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = cosine ? std::cos(static_cast<double>(x[i])) : std::sin(x[i] * 1.0);
        ASSERT_LE(std::fabs(y[i] - want), 3 * Ulp(want)) << (cosine ? "cos " : "sin ") << x[i];
      }
    }
  });
}

TEST(VectorMath, Activations) {
  const auto gelu = [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); };
  const auto gelu_tanh = [](double x) {
    return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  const auto mish = [](double x) { return x * std::tanh(ExactSoftplus(x)); };
  // Far below zero these lose relative accuracy, as 1 + erf(x) does, where the result is next to
  // nothing.
  ExpectBound({"gelu", {UnaryOp::kGelu}, gelu, 4, 2e-7});
  ExpectBound({"gelu_tanh", {UnaryOp::kGeluTanh}, gelu_tanh, 4, 2e-7});
  ExpectBound({"softplus", {UnaryOp::kSoftplus}, ExactSoftplus, 4, kTiny});
  ExpectBound({"mish", {UnaryOp::kMish}, mish, 6, kTiny});
  ExpectBound(
      {"swish", {UnaryOp::kSwish, 1.0f}, [](double x) { return x * ExactSigmoid(x); }, 5, kTiny});
  ExpectBound(
      {"elu", {UnaryOp::kElu, 1.0f}, [](double x) { return x < 0 ? std::expm1(x) : x; }, 2});
  ExpectBound({"softsign",
               {UnaryOp::kSoftsign},
               [](double x) { return x / (1 + std::fabs(x)); },
               1.5,
               1e-37});
  ExpectBound({"hardswish",
               {UnaryOp::kHardSwish},
               [](double x) { return x * std::fmin(1, std::fmax(0, x / 6 + 0.5)); },
               2,
               1e-6});
}

TEST(VectorMath, Powers) {
  ExpectBound({"sqrt", {UnaryOp::kSqrt}, [](double x) { return std::sqrt(x); }, 0.5, 0, 0});
  ExpectBound({"reciprocal", {UnaryOp::kReciprocal}, [](double x) { return 1 / x; }, 0.5});
  ExpectBound({"square", {UnaryOp::kSquare}, [](double x) { return x * x; }, 0.5});
  ExpectBound({"cube", {UnaryOp::kCube}, [](double x) { return x * x * x; }, 2, 0, -6e12f, 6e12f});
  ExpectBound({"rsqrt",
               {UnaryOp::kReciprocalSqrt},
               [](double x) { return 1 / std::sqrt(x); },
               1.5,
               0,
               1e-45f});
}

TEST(VectorMath, RoundingAndSign) {
  ExpectBound({"ceil", {UnaryOp::kCeil}, [](double x) { return std::ceil(x); }});
  ExpectBound({"floor", {UnaryOp::kFloor}, [](double x) { return std::floor(x); }});
  ExpectBound({"round", {UnaryOp::kRound}, [](double x) { return std::nearbyint(x); }});
  ExpectBound({"sign", {UnaryOp::kSign}, [](double x) {
                 return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
               }});
}

float Apply(UnaryOp op, float x, float a = 1, float b = 1) {
  // Long enough for the vectors' own path, not only for tails.
  std::vector<float> values(37, x);
  ApplyUnary({op, a, b}, values.data(), values.data(), 37);
  // The sign of a NaN means nothing, and compilers differ in it.
  for (const float y : values) {
    EXPECT_TRUE(std::bit_cast<uint32_t>(y) == std::bit_cast<uint32_t>(values[0]) ||
                (std::isnan(y) && std::isnan(values[0])))
        << "in place, at " << x;
  }
  return values[0];
}

constexpr UnaryOp kAll[] = {UnaryOp::kIdentity,
                            UnaryOp::kAbs,
                            UnaryOp::kAcos,
                            UnaryOp::kAffine,
                            UnaryOp::kAsin,
                            UnaryOp::kAtan,
                            UnaryOp::kCeil,
                            UnaryOp::kCelu,
                            UnaryOp::kClip,
                            UnaryOp::kCos,
                            UnaryOp::kCube,
                            UnaryOp::kElu,
                            UnaryOp::kErf,
                            UnaryOp::kExp,
                            UnaryOp::kFloor,
                            UnaryOp::kGelu,
                            UnaryOp::kGeluTanh,
                            UnaryOp::kHardSigmoid,
                            UnaryOp::kHardSwish,
                            UnaryOp::kLeakyRelu,
                            UnaryOp::kLog,
                            UnaryOp::kMish,
                            UnaryOp::kNeg,
                            UnaryOp::kReciprocal,
                            UnaryOp::kReciprocalSqrt,
                            UnaryOp::kRelu,
                            UnaryOp::kRound,
                            UnaryOp::kScaledTanh,
                            UnaryOp::kSelu,
                            UnaryOp::kSigmoid,
                            UnaryOp::kSign,
                            UnaryOp::kSin,
                            UnaryOp::kSoftplus,
                            UnaryOp::kSoftsign,
                            UnaryOp::kSqrt,
                            UnaryOp::kSquare,
                            UnaryOp::kSquareRoot,
                            UnaryOp::kSwish,
                            UnaryOp::kTanh,
                            UnaryOp::kThresholdedRelu};

TEST(VectorMath, NanStaysNan) {
  // Payload bits reach the exponent of a careless exp.
  for (const uint32_t bits : {0x7FC00000u, 0x7FC00001u, 0xFFC00155u, 0x7FFFFFFFu}) {
    ForEachTarget([&] {
      for (const UnaryOp op : kAll) {
        EXPECT_TRUE(std::isnan(Apply(op, std::bit_cast<float>(bits)))) << static_cast<int>(op);
      }
    });
  }
}

TEST(VectorMath, ZeroKeepsZeroWhereItSays) {
  ForEachTarget([&] {
    for (const UnaryOp op : kAll) {
      const UnaryCall call{op, 0.5f, op == UnaryOp::kAffine ? 0.0f : 1.0f};  // Clip: [0.5, 1]
      const float y = Apply(op, 0.0f, call.a, call.b);
      EXPECT_EQ(y == 0.0f, KeepsZero(call)) << static_cast<int>(op);
    }
  });
  EXPECT_TRUE(KeepsZero({UnaryOp::kClip, -1, 6}));
  EXPECT_FALSE(KeepsZero({UnaryOp::kClip, 0.5f, 6}));
}

TEST(VectorMath, InfinitiesAndSignedZeros) {
  const auto is_negative_zero = [](float x) { return x == 0 && std::signbit(x); };
  ForEachTarget([&] {
    EXPECT_EQ(Apply(UnaryOp::kExp, INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kExp, -INFINITY), 0.0f);
    EXPECT_LT(Apply(UnaryOp::kExp, 88.72283f), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kExp, 88.72284f), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kExp, -88.1f), 0.0f);
    EXPECT_EQ(Apply(UnaryOp::kLog, INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kLog, 0.0f), -INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kLog, -0.0f), -INFINITY);
    EXPECT_TRUE(std::isnan(Apply(UnaryOp::kLog, -1e-40f)));
    for (const UnaryOp op : {UnaryOp::kSin, UnaryOp::kCos, UnaryOp::kAsin, UnaryOp::kAcos}) {
      EXPECT_TRUE(std::isnan(Apply(op, INFINITY)));
      EXPECT_TRUE(std::isnan(Apply(op, -INFINITY)));
    }
    for (const UnaryOp op : {UnaryOp::kAcos, UnaryOp::kAsin}) {
      EXPECT_TRUE(std::isnan(Apply(op, 1.0000001f)));
      EXPECT_TRUE(std::isnan(Apply(op, -1.0000001f)));
    }
    EXPECT_EQ(Apply(UnaryOp::kAcos, 1.0f), 0.0f);
    EXPECT_EQ(Apply(UnaryOp::kAtan, INFINITY), static_cast<float>(M_PI_2));
    EXPECT_EQ(Apply(UnaryOp::kAtan, -INFINITY), -static_cast<float>(M_PI_2));
    for (const UnaryOp op : {UnaryOp::kSin, UnaryOp::kAsin, UnaryOp::kAtan}) {
      EXPECT_TRUE(is_negative_zero(Apply(op, -0.0f)));
    }
    for (const UnaryOp op : {UnaryOp::kTanh, UnaryOp::kErf}) {
      EXPECT_EQ(Apply(op, INFINITY), 1.0f);
      EXPECT_EQ(Apply(op, -INFINITY), -1.0f);
      EXPECT_EQ(Apply(op, 9.9f), 1.0f);
      EXPECT_TRUE(is_negative_zero(Apply(op, -0.0f)));
    }
    EXPECT_EQ(Apply(UnaryOp::kSigmoid, INFINITY), 1.0f);
    EXPECT_EQ(Apply(UnaryOp::kSigmoid, -INFINITY), 0.0f);
    EXPECT_EQ(Apply(UnaryOp::kSoftplus, INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kSoftplus, -INFINITY), 0.0f);
    EXPECT_EQ(Apply(UnaryOp::kElu, -INFINITY), -1.0f);
    EXPECT_EQ(Apply(UnaryOp::kElu, INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kGelu, INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kGelu, -100.0f), 0.0f);
    EXPECT_EQ(Apply(UnaryOp::kSquareRoot, -INFINITY), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kReciprocalSqrt, -0.0f), INFINITY);
    EXPECT_EQ(Apply(UnaryOp::kReciprocal, -0.0f), -INFINITY);
    EXPECT_TRUE(is_negative_zero(Apply(UnaryOp::kRelu, -0.0f)));
    EXPECT_TRUE(is_negative_zero(Apply(UnaryOp::kClip, -0.0f, -1, 1)));
    EXPECT_TRUE(is_negative_zero(Apply(UnaryOp::kSqrt, -0.0f)));
    EXPECT_EQ(Apply(UnaryOp::kClip, 3.0f, 2, 1), 1.0f);  // the upper bound wins
  });
}
}  // namespace
}  // namespace asc::simd
