// oneDNN and ParallelFor must run on one OpenMP runtime: two would each keep a team of spinning
// threads.

#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "core/base/parallel.h"

namespace asc {
namespace {

std::vector<std::string> OpenMpRuntimes() {
  std::vector<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const std::string name = std::filesystem::path(info->dlpi_name).filename();
        for (const char* runtime : {"libgomp", "libomp", "libiomp"}) {
          if (name.rfind(runtime, 0) == 0) {
            static_cast<std::vector<std::string>*>(data)->push_back(info->dlpi_name);
          }
        }
        return 0;
      },
      &found);
  return found;
}

// Large enough that oneDNN takes its whole team.
void MultiplyWithOneDnn() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc square({512, 512}, dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::ab);
  dnnl::memory a(square, engine), b(square, engine), c(square, engine);
  dnnl::matmul(dnnl::matmul::primitive_desc(engine, square, square, square))
      .execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
  stream.wait();
}

constexpr int kThreads = 3;

TEST(OneOpenMp, RuntimeIsLoadedOnce) {
  const ScopedThreads threads(kThreads);
  MultiplyWithOneDnn();
  const std::vector<std::string> runtimes = OpenMpRuntimes();
  EXPECT_EQ(runtimes.size(), 1u) << testing::PrintToString(runtimes);
}

#ifndef ASC_THREADS_STD
int64_t ThreadCount() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

TEST(OneOpenMp, OneDnnAndParallelForShareATeam) {
  const ScopedThreads threads(kThreads);
  MultiplyWithOneDnn();
  std::atomic<int64_t> sum{0};
  ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  MultiplyWithOneDnn();
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(ThreadCount(), kThreads);
}
#endif

}  // namespace
}  // namespace asc
