#include <cmath>
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/gemm/weights.h"
#include "tests/core/kernels/vector_test.h"

namespace asc {
namespace {
using testing::ForEachTarget;
using testing::KernelCase;
using testing::Noise;

// The case agrees with the reference on each instruction set, with one thread and with two, by the kernel for
// constant weights where the instruction set has vectors.
void ExpectGemm(KernelCase test, double tolerance = 2e-6) {
  test.constants = {1};
  ForEachTarget([&] {
    for (const int threads : {1, 2}) {
      test.threads = threads;
      const std::vector<std::string> ran = testing::ExpectKernelsAgree(test, tolerance);
      const bool vectors = gemm::Tiles().lanes >= 4;
      EXPECT_EQ(std::ranges::count(ran, "gemm.matmul"), vectors ? 1 : 0);
    }
  });
}

TEST(GemmMatMul, AgreesWithTheReference) {
  const std::pair<Dims, Dims> shapes[] = {
      {{5, 7}, {7, 3}},
      {{2, 5, 7}, {7, 3}},
      {{7}, {7, 3}},
      {{5, 7}, {7}},
      {{7}, {7}},
      {{2, 3, 4, 7}, {7, 40}},
      {{1, 1}, {1, 1}},
      {{2, 5, 7}, {1, 7, 3}},
      {{1, 640}, {640, 513}},
      {{130, 300}, {300, 70}},
  };
  for (const auto& [a, b] : shapes) {
    SCOPED_TRACE(Cat(a, b));
    ExpectGemm({"MatMul", "", {Noise(a), Noise(b, 2)}});
  }
}

TEST(GemmMatMul, LongSumsAndManyRowsAreCut) {
  ExpectGemm({"MatMul", "", {Noise({30, 2000}), Noise({2000, 50}, 2)}});
  ExpectGemm({"MatMul", "", {Noise({400, 768}), Noise({768, 33}, 2)}});
  // Rows at a distance of 4 KiB are copied.
  ExpectGemm({"MatMul", "", {Noise({40, 1024}), Noise({1024, 150}, 2)}});
}

TEST(GemmMatMul, Gemm) {
  for (const int64_t transpose_a : {0, 1}) {
    for (const int64_t transpose_b : {0, 1}) {
      for (const Dims& c : {Dims{6}, Dims{1, 6}, Dims{20, 6}}) {
        AttributeMap attributes;
        attributes.Set("transA", transpose_a);
        attributes.Set("transB", transpose_b);
        attributes.Set("alpha", c.size() == 1 ? 1.0f : -0.5f);
        ExpectGemm({"Gemm",
                    "",
                    {Noise(transpose_a ? Dims{37, 20} : Dims{20, 37}),
                     Noise(transpose_b ? Dims{6, 37} : Dims{37, 6}, 2), Noise(c, 3)},
                    {},
                    attributes});
      }
    }
  }
}

TEST(GemmMatMul, TransposedOperandsOfOneMatrix) {
  AttributeMap attributes;
  attributes.Set("transA", int64_t{1});
  KernelCase test{"FusedMatMul",
                  "asc",
                  {Noise({1, 37, 20}), Noise({37, 70}, 2), Noise({70}, 3)},
                  {},
                  attributes};
  ExpectGemm(test);
  test.inputs[0] = Noise({1, 1, 37, 20});
  ExpectGemm(test);
  test.inputs[0] = Noise({2, 37, 20});
  test.constants = {1};
  EXPECT_EQ(std::ranges::count(testing::ExpectKernelsAgree(test), "gemm.matmul"), 0);
}

TEST(GemmMatMul, AddendsThatAreNoRowsGoElsewhere) {
  KernelCase test{"Gemm", "", {Noise({5, 7}), Noise({7, 6}, 2), Noise({5, 1}, 3)}};
  test.constants = {1};
  EXPECT_EQ(std::ranges::count(testing::ExpectKernelsAgree(test), "gemm.matmul"), 0);
  test.inputs[2] = Noise({6}, 3);
  test.attributes.Set("beta", 0.5f);
  EXPECT_EQ(std::ranges::count(testing::ExpectKernelsAgree(test), "gemm.matmul"), 0);
}

TEST(GemmMatMul, AddsAndActivates) {
  for (const char* activation : {"", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Silu",
                                 "LeakyRelu", "Tanh", "Gelu", "GeluTanh"}) {
    SCOPED_TRACE(activation);
    AttributeMap attributes;
    attributes.Set("activation", activation);
    if (std::string_view(activation) == "Clip")
      attributes.Set("activation_params", std::vector<float>{-0.5f, 1.5f});
    KernelCase test{"FusedMatMul",
                    "asc",
                    {Noise({2, 9, 20}), Noise({20, 70}, 2), Noise({70}, 3), Noise({2, 9, 70}, 4)},
                    {},
                    attributes};
    ExpectGemm(test);
    test.inputs[2] = std::nullopt;
    ExpectGemm(test);
  }
}

TEST(GemmMatMul, ActivatesColumnsInGroupsAfterALongSum) {
  AttributeMap attributes;
  attributes.Set("activation", "Gelu");
  ExpectGemm({"FusedMatMul",
              "asc",
              {Noise({3, 900}), Noise({900, 300}, 2), Noise({300}, 3)},
              {},
              attributes});
}

TEST(GemmMatMul, NanAndInfinityGoThrough) {
  for (const char* activation : {"", "Relu", "Clip", "Gelu"}) {
    AttributeMap attributes;
    attributes.Set("activation", activation);
    if (std::string_view(activation) == "Clip")
      attributes.Set("activation_params", std::vector<float>{0, 6});
    Tensor a = Noise({20, 33});
    a.data<float>()[33 * 2 + 5] = NAN;
    a.data<float>()[33 * 7 + 32] = INFINITY;
    Tensor bias = Noise({41}, 3);
    bias.data<float>()[40] = NAN;
    ExpectGemm({"FusedMatMul", "asc", {a, Noise({33, 41}, 2), bias}, {}, attributes});
  }
}

// A product with weights of noise, cut for `threads`, run by a team of `team`.
std::vector<float> Multiplied(int64_t m, int64_t n, int64_t k, int threads, int team) {
  const Tensor a = Noise({m, k}), b = Noise({k, n}, 2);
  std::vector<float> packed(static_cast<size_t>(gemm::PackedCount(k, n))),
      c(static_cast<size_t>(m * n));
  gemm::Pack(b.data<float>(), n, 1, k, n, 0, k, packed.data());
  gemm::Product p{.m = m, .n = n, .k = k, .a = a.data<float>(), .a_row = k, .b = packed.data()};
  p.b_panel = k * gemm::Tiles().width;
  p.c = c.data();
  p.c_row = n;
  const gemm::Cutting cutting = gemm::Cut(p, 1, threads);
  std::vector<std::byte> scratch(cutting.scratch_bytes);
  const ScopedThreads scoped(team);
  gemm::MultiplyOnTeam(p, 1, cutting, simd::UnaryCall{simd::UnaryOp::kGelu}, scratch.data());
  return c;
}

TEST(GemmMatMul, BitsDependOnTheThreadOptionAlone) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const auto& [m, n, k] :
         {std::tuple(1, 2000, 700), std::tuple(150, 300, 1024), std::tuple(500, 40, 200)}) {
      const std::vector<float> once = Multiplied(m, n, k, threads, threads);
      EXPECT_EQ(once, Multiplied(m, n, k, threads, threads));
      EXPECT_EQ(once, Multiplied(m, n, k, threads, 1))
          << "by a team that is smaller than asked for";
    }
  }
}

TEST(GemmMatMul, ThreadsShareImagesByRows) {
  if (gemm::Tiles().lanes < 4) GTEST_SKIP() << "images go by other kernels";
  gemm::Product p{.m = 784, .n = 512, .k = 64, .a_row = 64};
  EXPECT_EQ(gemm::Cut(p, 1, 2).column_parts, 2) << "a matrix";
  p.c_width = 8;
  EXPECT_EQ(gemm::Cut(p, 1, 2).row_parts, 2) << "an image in blocks of channels";
}

TEST(GemmMatMul, LongSumsKeepTheirDigits) {
  const int64_t k = 20000, n = 40;
  const Tensor a = Noise({1, k}), b = Noise({k, n}, 2);
  std::vector<float> packed(static_cast<size_t>(gemm::PackedCount(k, n))), c(n);
  gemm::Pack(b.data<float>(), n, 1, k, n, 0, k, packed.data());
  gemm::Product p{.m = 1, .n = n, .k = k, .a = a.data<float>(), .a_row = k, .b = packed.data()};
  p.b_panel = k * gemm::Tiles().width;
  p.c = c.data();
  p.c_row = n;
  gemm::MultiplyOnTeam(p, 1, gemm::Cut(p, 1, 1), {}, nullptr);
  for (int64_t j = 0; j < n; ++j) {
    double want = 0, size = 0;
    for (int64_t i = 0; i < k; ++i) {
      const double term =
          static_cast<double>(a.data<float>()[i]) * static_cast<double>(b.data<float>()[i * n + j]);
      want += term;
      size += std::fabs(term);
    }
    EXPECT_NEAR(static_cast<double>(c[static_cast<size_t>(j)]), want, 1e-7 * size);
  }
}

// Makes each form that it is asked for, or has no room for any.
class FormStore : public PackedConstants {
 public:
  explicit FormStore(std::shared_ptr<Allocator> allocator, bool full = false)
      : allocator_(std::move(allocator)), full_(full) {}
  Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor&, std::string_view, size_t,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make)
      override {
    if (full_) return Error(Code::kUnavailable, "full");
    return make(allocator_);
  }
  std::vector<std::string> Forms(const Tensor&) const override { return {}; }

 private:
  std::shared_ptr<Allocator> allocator_;
  bool full_;
};

// The same elements, read when they are asked for.
Tensor LazyLike(const Tensor& plain) {
  const auto read = [plain](size_t begin, size_t count, std::byte* to) {
    plain.CopyBytes(begin, count, to);
  };
  return Tensor::FromBuffer(
             plain.dtype(), plain.dims(),
             Buffer::Lazy(HostAllocator(), MemoryUse::kConstant, plain.bytes(), read))
      .value();
}

TEST(GemmWeights, LazyOnesArePackedInSlices) {
  // 20 MB: two slices.
  const int64_t k = 1000, n = 5001;
  for (const bool transposed : {false, true}) {
    const Tensor plain = Noise(transposed ? Dims{n, k} : Dims{k, n}), lazy = LazyLike(plain);
    FormStore forms(HostAllocator());
    const auto want = gemm::PackWeight(forms, plain, k, n, transposed).value();
    HostAllocator()->ResetPeak();
    const int64_t before = HostAllocator()->stats().current_bytes;
    const auto got = gemm::PackWeight(forms, lazy, k, n, transposed).value();
    EXPECT_LT(HostAllocator()->stats().peak_bytes - before,
              static_cast<int64_t>(want->size()) + (17 << 20));
    EXPECT_TRUE(lazy.is_lazy());
    ASSERT_EQ(got->size(), want->size());
    EXPECT_EQ(std::memcmp(got->data(), want->data(), want->size()), 0);
  }
}

TEST(GemmWeights, FailuresAreStatuses) {
  const Tensor plain = Noise({40, 30}), lazy = LazyLike(plain);
  FormStore full(HostAllocator(), true);
  EXPECT_EQ(gemm::PackWeight(full, plain, 40, 30, false).status().code(), Code::kUnavailable);
  for (const Tensor& weight : {plain, lazy}) {
    // The packed form, and of lazy weights the slice that is plain.
    for (int refused = 0; refused < (weight.is_lazy() ? 2 : 1); ++refused) {
      const auto allocator = std::make_shared<Allocator>("test");
      int asked = 0;
      allocator->SetHook([&](MemoryUse, size_t) { return asked++ != refused; });
      FormStore forms(allocator);
      EXPECT_EQ(gemm::PackWeight(forms, weight, 40, 30, false).status().code(), Code::kOutOfMemory);
      EXPECT_EQ(allocator->stats().current_bytes, 0);
    }
  }
}
}  // namespace
}  // namespace asc
