#include "core/kernels/vector/peak_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/vector/peak_loops.cpp"
#include "core/kernels/vector/targets.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

// Latency times throughput of two units is 8 to 10 on today's CPUs; with two operands twelve fit into sixteen registers.
constexpr int64_t kChains = 12;

float MultiplyAddsLoop(int64_t rounds) {
  const Floats d;
  const auto factor = hn::Set(d, 0.999f), addend = hn::Set(d, 0.001f);
  // Equal chains would be computed once.
  auto a0 = hn::Set(d, 0.0f), a1 = hn::Set(d, 0.1f), a2 = hn::Set(d, 0.2f), a3 = hn::Set(d, 0.3f);
  auto a4 = hn::Set(d, 0.4f), a5 = hn::Set(d, 0.5f), a6 = hn::Set(d, 0.6f), a7 = hn::Set(d, 0.7f);
  auto a8 = hn::Set(d, 0.8f), a9 = hn::Set(d, 0.9f), a10 = hn::Set(d, 1.1f), a11 = hn::Set(d, 1.2f);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, addend);
    a1 = hn::MulAdd(a1, factor, addend);
    a2 = hn::MulAdd(a2, factor, addend);
    a3 = hn::MulAdd(a3, factor, addend);
    a4 = hn::MulAdd(a4, factor, addend);
    a5 = hn::MulAdd(a5, factor, addend);
    a6 = hn::MulAdd(a6, factor, addend);
    a7 = hn::MulAdd(a7, factor, addend);
    a8 = hn::MulAdd(a8, factor, addend);
    a9 = hn::MulAdd(a9, factor, addend);
    a10 = hn::MulAdd(a10, factor, addend);
    a11 = hn::MulAdd(a11, factor, addend);
  }
  const auto sum =
      hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)));
  return hn::GetLane(hn::Add(sum, hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
}

int64_t MultiplyAddsOfRoundHere() { return kChains * static_cast<int64_t>(hn::Lanes(Floats())); }

float SumOfLoop(const float* x, int64_t n) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = hn::Add(a0, hn::LoadU(d, x + i));
    a1 = hn::Add(a1, hn::LoadU(d, x + i + lanes));
    a2 = hn::Add(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = hn::Add(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a0, a1), hn::Add(a2, a3))));
  for (; i < n; ++i) sum += x[i];
  return sum;
}
}  // namespace asc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asc::simd {
HWY_EXPORT(MultiplyAddsLoop);
HWY_EXPORT(MultiplyAddsOfRoundHere);
HWY_EXPORT(SumOfLoop);

float MultiplyAdds(int64_t rounds) { return HWY_DYNAMIC_DISPATCH(MultiplyAddsLoop)(rounds); }
int64_t MultiplyAddsOfRound() { return HWY_DYNAMIC_DISPATCH(MultiplyAddsOfRoundHere)(); }
float SumOf(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(SumOfLoop)(x, n); }
}  // namespace asc::simd
#endif  // HWY_ONCE
