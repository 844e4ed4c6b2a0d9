#include "core/kernels/machine_peaks.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "core/base/parallel.h"
#include "core/kernels/vector/peak_loops.h"

namespace asc {
namespace {
// Repetitions, of which the fastest counts: the others were disturbed.
constexpr int kTries = 8;
constexpr int64_t kMultiplyAddRounds = 2'000'000;
constexpr int64_t kLeastBytes = int64_t{64} << 20, kMostBytes = int64_t{512} << 20;

template <typename F>
double FastestSeconds(F&& work) {
  double best = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Large enough that little of it stays in the caches.
int64_t BufferBytes() {
  int64_t cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return std::clamp(4 * cache, kLeastBytes, kMostBytes);
}
}  // namespace

Result<MachinePeaks> MeasurePeaks(const std::shared_ptr<Allocator>& allocator) {
  const int64_t bytes = BufferBytes(), count = bytes / static_cast<int64_t>(sizeof(float));
  ASC_ASSIGN_OR_RETURN(const auto buffer, Buffer::Allocate(allocator, MemoryUse::kScratch,
                                                           static_cast<size_t>(bytes)));
  auto* floats = reinterpret_cast<float*>(buffer->data());
  const int64_t threads = CurrentThreads();
  // Kept, so that no compiler may leave the loops out.
  std::atomic<float> sink{0};
  MachinePeaks peaks;
  double operations = 0;
  const double multiply_seconds = FastestSeconds([&] {
    ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        sink.store(simd::MultiplyAdds(kMultiplyAddRounds), std::memory_order_relaxed);
    });
  });
  operations = 2.0 * static_cast<double>(simd::MultiplyAddsOfRound()) * kMultiplyAddRounds *
               static_cast<double>(threads);
  peaks.flops_per_second = operations / multiply_seconds;
  // Pages belong to the machine's node whose core writes them first.
  ParallelFor(count, count / threads, [&](int64_t begin, int64_t end) {
    std::memset(floats + begin, 0, static_cast<size_t>(end - begin) * sizeof(float));
  });
  const double read_seconds = FastestSeconds([&] {
    ParallelFor(count, count / threads, [&](int64_t begin, int64_t end) {
      sink.store(simd::SumOf(floats + begin, end - begin), std::memory_order_relaxed);
    });
  });
  peaks.bytes_per_second = static_cast<double>(bytes) / read_seconds;
  return peaks;
}

}  // namespace asc
