// Philox against the published vectors, and the operators that draw from it.
#include <cmath>

#include "core/ops/evaluate.h"
#include "core/ops/philox.h"
#include "core/ops/registry.h"
#include "core/tensor/element.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

// The known answers that the authors publish with their library (Random123).
TEST(Philox, GivesThePublishedNumbers) {
  EXPECT_EQ(Philox(0)(0, 0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(UINT64_MAX)(UINT64_MAX, UINT64_MAX),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(0x299f31d0a4093822)(0x85a308d3243f6a88, 0x0370734413198a2e),
            (Philox::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Tensor Draw(std::string_view op, const std::vector<AnyValue>& inputs, OpAttributes attributes,
            uint64_t seed, uint64_t node) {
  AttributeMap map;
  for (const auto& [name, value] : attributes) map.Set(name, value);
  RunState run;
  run.allocator = HostAllocator();
  run.seed = seed;
  std::vector<const AnyValue*> pointers;
  for (const AnyValue& input : inputs) pointers.push_back(&input);
  auto out = Evaluate(*OpRegistry::Global().Find("", op), map, pointers, 1, run, node);
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return out.ok() ? (*out)[0].tensor() : Tensor();
}

struct Moments {
  double mean = 0, deviation = 0, least = INFINITY, most = -INFINITY;
};

Moments MomentsOf(const Tensor& tensor) {
  Moments out;
  double squares = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double x = ReadAsDouble(tensor.dtype(), tensor.raw(), i);
    out.mean += x / static_cast<double>(tensor.size());
    squares += x * x / static_cast<double>(tensor.size());
    out.least = std::min(out.least, x);
    out.most = std::max(out.most, x);
  }
  out.deviation = std::sqrt(squares - out.mean * out.mean);
  return out;
}

const std::vector<int64_t> kMany = {50001};

TEST(RandomUniform, FillsItsRange) {
  for (const int64_t dtype : {1, 10, 11, 16}) {
    const Moments m =
        MomentsOf(Draw("RandomUniform", {},
                       {{"shape", kMany}, {"dtype", dtype}, {"low", -1.0f}, {"high", 3.0f}}, 1, 1));
    EXPECT_NEAR(m.mean, 1.0, 0.02);
    EXPECT_NEAR(m.deviation, 4 / std::sqrt(12.0), 0.02);
    EXPECT_GE(m.least, -1.0);
    EXPECT_LE(m.most, 3.0);
  }
}

TEST(RandomNormal, HasItsMoments) {
  for (const int64_t dtype : {1, 10, 11, 16}) {
    const Moments m = MomentsOf(
        Draw("RandomNormal", {},
             {{"shape", kMany}, {"dtype", dtype}, {"mean", 2.0f}, {"scale", 0.5f}}, 1, 1));
    EXPECT_NEAR(m.mean, 2.0, 0.01);
    EXPECT_NEAR(m.deviation, 0.5, 0.01);
    EXPECT_LT(m.most, 6.0);
  }
}

TEST(Random, DependsOnRunAndNodeUnlessSeeded) {
  const std::vector<int64_t> shape = {8};
  const Tensor a = Draw("RandomNormal", {}, {{"shape", shape}}, 1, 1);
  EXPECT_TRUE(a.ContentEquals(Draw("RandomNormal", {}, {{"shape", shape}}, 1, 1)));
  EXPECT_FALSE(a.ContentEquals(Draw("RandomNormal", {}, {{"shape", shape}}, 2, 1)));
  EXPECT_FALSE(a.ContentEquals(Draw("RandomNormal", {}, {{"shape", shape}}, 1, 2)));
  const Tensor b = Draw("RandomNormal", {}, {{"shape", shape}, {"seed", 3.0f}}, 1, 1);
  EXPECT_TRUE(b.ContentEquals(Draw("RandomNormal", {}, {{"shape", shape}, {"seed", 3.0f}}, 2, 2)));
  EXPECT_FALSE(b.ContentEquals(Draw("RandomNormal", {}, {{"shape", shape}, {"seed", 4.0f}}, 1, 1)));
}

// RunOp runs each operator with one and with three threads and compares.
TEST(Random, DoesNotDependOnThreads) {
  EXPECT_EQ(RunOp1("RandomUniform", {}, {{"shape", kMany}}).size(), kMany[0]);
  EXPECT_EQ(RunOp1("RandomNormalLike", {I32({3}, {1, 2, 3})}, {{"dtype", int64_t{1}}}).TypeString(),
            "float32[3]");
  EXPECT_EQ(RunOp1("RandomUniformLike", {Pseudo({40000})}).size(), 40000);
}

TEST(Random, RefusesBadAttributes) {
  EXPECT_EQ(RunOp("RandomUniform", {}, {{"shape", std::vector<int64_t>{-1}}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(
      RunOp("RandomUniform", {}, {{"shape", std::vector<int64_t>{INT64_MAX, 9}}}).status().code(),
      Code::kInvalidArgument);
  EXPECT_EQ(RunOp("RandomUniform", {}, {{"shape", std::vector<int64_t>{1}}, {"dtype", int64_t{7}}})
                .status()
                .code(),
            Code::kTypeMismatch);
  EXPECT_EQ(RunOp("RandomNormalLike", {I32({1}, {1})}).status().code(), Code::kTypeMismatch);
}

TEST(Bernoulli, DrawsByProbability) {
  Tensor p = Pseudo({20000});
  for (int64_t i = 0; i < p.size(); ++i)
    p.data<float>()[i] = i % 4 == 0 ? 0.0f : i % 4 == 1 ? 1.0f : 0.25f;
  const Tensor y = RunOp1("Bernoulli", {p}, {{"dtype", int64_t{7}}});
  int64_t sum = 0;
  for (int64_t i = 0; i < y.size(); ++i) {
    if (i % 4 < 2) {
      EXPECT_EQ(y.data<int64_t>()[i], i % 4);
    } else {
      sum += y.data<int64_t>()[i];
    }
  }
  EXPECT_NEAR(static_cast<double>(sum) / 10000, 0.25, 0.02);
  EXPECT_EQ(RunOp("Bernoulli", {F32({1}, {1.5f})}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(RunOp("Bernoulli", {F32({1}, {NAN})}).status().code(), Code::kOutOfRange);
}

TEST(Multinomial, DrawsByLogProbability) {
  const Tensor x = F32({2, 3}, {-INFINITY, 0, 0, std::log(3.0f), 0, -INFINITY});
  const Tensor y = RunOp1("Multinomial", {x}, {{"sample_size", int64_t{10000}}});
  EXPECT_EQ(y.TypeString(), "int32[2, 10000]");
  std::array<int, 6> counts{};
  for (int64_t i = 0; i < y.size(); ++i)
    ++counts[static_cast<size_t>(i / 10000 * 3 + y.data<int32_t>()[i])];
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 5000, 250);
  EXPECT_NEAR(counts[3], 7500, 250);
  EXPECT_EQ(counts[5], 0);
  EXPECT_EQ(RunOp("Multinomial", {F32({1, 0}, {})}).status().code(), Code::kOutOfRange);
}

}  // namespace
}  // namespace asc::testing
