// How fast products with constant weights are: GFLOP/s, and the share of what a loop of multiply-adds reaches
// on the same cores at the same time; next to oneDNN's product of weights in its own packed form. Weights are
// cold: each call takes another copy, of more in all than the caches hold. Not a test: run it by hand.
//   gemm_bench [PART-OF-A-NAME [avx2]]
// With avx2, our kernels run as on a CPU that has no AVX-512; what oneDNN takes says ONEDNN_MAX_CPU_ISA=AVX2.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/allocator.h"
#include "core/base/parallel.h"
#include "core/kernels/gemm/blocked.h"
#include "core/kernels/vector/peak_loops.h"
#include "core/kernels/vector/targets.h"
//
#include "hwy/targets.h"

#ifdef ASC_WITH_ONEDNN
#include "core/kernels/onednn/common.h"
#endif

namespace asc {
namespace {
constexpr int kRounds = 15;
constexpr int64_t kColdBytes = int64_t{96} << 20;
constexpr int64_t kPeakRounds = 100'000;

struct Extents {
  const char* name;
  int64_t m, n, k;
};
constexpr Extents kShapes[] = {
    {"bert query", 128, 768, 768},    {"bert up", 128, 3072, 768},
    {"bert down", 128, 768, 3072},    {"minilm query", 128, 384, 384},
    {"minilm up", 128, 1536, 384},    {"minilm down", 128, 384, 1536},
    {"vit query", 197, 384, 384},     {"vit up", 197, 1536, 384},
    {"vit down", 197, 384, 1536},     {"resnet 56", 3136, 64, 256},
    {"resnet 28", 784, 128, 512},     {"resnet 14", 196, 256, 1024},
    {"resnet 14 up", 196, 1024, 256}, {"resnet 7", 49, 512, 2048},
    {"resnet 7 up", 49, 2048, 512},   {"32 rows", 32, 768, 768},
    {"8 rows", 8, 768, 768},          {"gpt row", 1, 768, 768},
    {"gpt row up", 1, 3072, 768},
};

// In pages as packed weights have them.
std::shared_ptr<Buffer> Floats(int64_t count) {
  auto buffer = Buffer::Allocate(HostAllocator(), MemoryUse::kPackedWeight,
                                 static_cast<size_t>(count) * sizeof(float))
                    .value();
  auto* x = reinterpret_cast<float*>(buffer->data());
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 1009) * 0x1p-9f - 1;
  return buffer;
}
float* Data(const std::shared_ptr<Buffer>& buffer) {
  return reinterpret_cast<float*>(buffer->data());
}

template <typename F>
double Seconds(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
double Median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

// Times of one contender, each with the peak measured just before it.
struct Times {
  std::vector<double> seconds, shares;
  void Add(double flops, double time, double peak) {
    seconds.push_back(time);
    shares.push_back(flops / time / peak);
  }
  void Print(const char* label, double flops) const {
    std::printf("  %s %6.1f GFLOP/s %5.1f %%", label, flops / Median(seconds) / 1e9,
                100 * Median(shares));
  }
};

void Measure(const Extents& s, int threads) {
  const ScopedThreads team(threads);
  const auto a = Floats(s.m * s.k), bias = Floats(s.n), c = Floats(s.m * s.n);
  const int64_t packed = gemm::PackedCount(s.k, s.n);
  const int64_t copies = std::max<int64_t>(2, kColdBytes / (packed * 4));
  const auto weights = Floats(packed * copies);

  gemm::Product p{.m = s.m, .n = s.n, .k = s.k, .a = Data(a), .a_row = s.k};
  p.b_panel = s.k * gemm::Tiles().width;
  p.c = Data(c);
  p.c_row = s.n;
  p.bias = Data(bias);
  const gemm::Cutting cutting = gemm::Cut(p, 1, threads), halved = gemm::Cut(p, 1, threads, true);
  const auto scratch = Floats(
      static_cast<int64_t>(std::max(cutting.scratch_bytes, halved.scratch_bytes) / sizeof(float)) +
      1);
  const auto multiply = [&](int64_t copy, const std::optional<simd::UnaryCall>& activation,
                            const gemm::Cutting& how) {
    gemm::Product one = p;
    one.b = Data(weights) + copy * packed;
    gemm::MultiplyOnTeam(one, 1, how, activation, scratch->data());
  };

#ifdef ASC_WITH_ONEDNN
  using dnnl::memory;
  const auto desc = [](int64_t rows, int64_t columns) {
    return onednn::PlainDesc({rows, columns});
  };
  const memory::desc any({s.k, s.n}, memory::data_type::f32, memory::format_tag::any);
  const dnnl::matmul::primitive_desc described(onednn::Engine(), desc(s.m, s.k), any, desc(1, s.n),
                                               desc(s.m, s.n));
  const dnnl::matmul primitive(described);
  const auto their_count =
      static_cast<int64_t>(described.weights_desc().get_size() / sizeof(float));
  const int64_t their_copies = std::max<int64_t>(2, kColdBytes / (their_count * 4));
  const auto their_weights = Floats(their_count * their_copies);
  memory from(desc(s.m, s.k), onednn::Engine(), Data(a)),
      add(desc(1, s.n), onednn::Engine(), Data(bias)),
      to(desc(s.m, s.n), onednn::Engine(), Data(c)),
      with(described.weights_desc(), onednn::Engine(), Data(their_weights));
  Times theirs;
#endif
  constexpr auto kGelu = simd::UnaryCall{simd::UnaryOp::kGelu};
  Times ours, gelu, strassen, strassen_gelu;
  const double flops = 2.0 * static_cast<double>(s.m * s.n * s.k);
  const auto peak = [&] {
    const double seconds = Seconds([&] {
      ParallelFor(threads, 1, [](int64_t, int64_t) {
        volatile float kept = simd::MultiplyAdds(kPeakRounds);
        (void)kept;
      });
    });
    return 2.0 * static_cast<double>(simd::MultiplyAddsOfRound() * kPeakRounds * threads) / seconds;
  };
  for (int round = -2; round < kRounds; ++round) {
    // Small products are measured several at a time.
    const auto times = static_cast<int64_t>(std::max(1.0, 5e7 / flops));
    const auto timed = [&](Times& into, auto&& call) {
      const double most = peak();
      const double seconds = Seconds([&] {
        for (int64_t i = 0; i < times; ++i) call((round + 2) * times + i);
      });
      if (round >= 0) into.Add(flops, seconds / static_cast<double>(times), most);
    };
    timed(ours, [&](int64_t i) { multiply(i % copies, {}, cutting); });
    timed(gelu, [&](int64_t i) { multiply((i + copies / 2) % copies, kGelu, cutting); });
    if (halved.halved) {
      timed(strassen, [&](int64_t i) { multiply(i % copies, {}, halved); });
      timed(strassen_gelu, [&](int64_t i) { multiply((i + copies / 2) % copies, kGelu, halved); });
    }
#ifdef ASC_WITH_ONEDNN
    timed(theirs, [&](int64_t i) {
      with.set_data_handle(Data(their_weights) + i % their_copies * their_count);
      primitive.execute(onednn::ThreadStream(), {{DNNL_ARG_SRC, from},
                                                 {DNNL_ARG_WEIGHTS, with},
                                                 {DNNL_ARG_BIAS, add},
                                                 {DNNL_ARG_DST, to}});
    });
#endif
  }
  std::printf("%-14s %4lld x %4lld x %4lld  %d", s.name, static_cast<long long>(s.m),
              static_cast<long long>(s.n), static_cast<long long>(s.k), threads);
  ours.Print("ours", flops);
  gelu.Print("gelu", flops);
  if (halved.halved) {
    strassen.Print("strassen", flops);
    strassen_gelu.Print("gelu", flops);
  }
#ifdef ASC_WITH_ONEDNN
  theirs.Print("oneDNN", flops);
#endif
  std::printf("\n");
}
}  // namespace
}  // namespace asc

int main(int count, char** arguments) {
  const std::string wanted = count > 1 ? arguments[1] : "";
  if (count > 2 && std::string(arguments[2]) == "avx2") {
    hwy::SetSupportedTargetsForTest(HWY_AVX2);
    hwy::GetChosenTarget().Update(HWY_AVX2);
  }
  std::printf("name           rows x columns x depth, threads\n");
  for (const auto& shape : asc::kShapes) {
    if (std::string(shape.name).find(wanted) == std::string::npos) continue;
    for (const int threads : {1, 2}) asc::Measure(shape, threads);
  }
}
