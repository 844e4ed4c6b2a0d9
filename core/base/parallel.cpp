#include "core/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#ifdef ASC_THREADS_STD
#include <vector>
#else
#include <omp.h>
#endif

namespace asc {
namespace {
thread_local int current_threads = 1;
thread_local bool inside_parallel = false;
}  // namespace

int AvailableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int CurrentThreads() { return inside_parallel ? 1 : current_threads; }

ScopedThreads::ScopedThreads(int threads) : previous_(current_threads) {
  current_threads = std::max(1, threads);
#ifndef ASC_THREADS_STD
  omp_set_num_threads(current_threads);
#endif
}

ScopedThreads::~ScopedThreads() {
  current_threads = previous_;
#ifndef ASC_THREADS_STD
  omp_set_num_threads(current_threads);
#endif
}

void ParallelFor(int64_t count, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  const int64_t most = std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  const int parts = static_cast<int>(std::min<int64_t>(CurrentThreads(), most));
  if (parts <= 1) {
    body(0, count);
    return;
  }
  std::exception_ptr thrown;
  std::mutex thrown_mutex;
  auto run_part = [&](int part) {
    inside_parallel = true;
    try {
      body(count * part / parts, count * (part + 1) / parts);
    } catch (...) {  // out of memory; it may not leave the thread
      const std::lock_guard lock(thrown_mutex);
      thrown = std::current_exception();
    }
    inside_parallel = false;
  };
#ifdef ASC_THREADS_STD
  std::vector<std::thread> workers;
  workers.reserve(parts - 1);
  for (int part = 1; part < parts; ++part) workers.emplace_back(run_part, part);
  run_part(0);
  for (std::thread& worker : workers) worker.join();
#else
  // Work is split by `parts`, never by the team that happens to be there: a smaller team takes several parts a thread.
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int part = 0; part < parts; ++part) run_part(part);
#endif
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace asc
