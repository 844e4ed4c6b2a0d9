// ParallelFor: the one way the engine splits work over cores.
//
// OpenMP in normal builds, so that oneDNN and our own loops share one team (two pools would fight for the cores: libgomp's
// workers spin after a loop); std::thread in the thread-sanitizer build (ASC_THREADS_STD), which cannot see into libgomp.
#ifndef ASC_CORE_BASE_PARALLEL_H_
#define ASC_CORE_BASE_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace asc {

// Cores that this process may use (respects the affinity mask); at least 1.
int AvailableCores();

// The number of threads that parallel work of the calling thread is split over. Set by the executor from the thread option
// before kernels are made and run; 1 unless set, so that a plain thread never forks a team by accident.
int CurrentThreads();

// Sets CurrentThreads() (and OpenMP's) of the calling thread while it lives.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads);
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int previous_;
};

// Calls body(begin, end) over disjoint ranges that cover [0, count), split evenly over CurrentThreads() and never smaller
// than `grain` items, so that small work stays on the caller. The split depends on count, grain and the thread setting only:
// results are bit-equal from run to run. What body throws (out of memory) is thrown here.
void ParallelFor(int64_t count, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body);

}  // namespace asc

#endif  // ASC_CORE_BASE_PARALLEL_H_
