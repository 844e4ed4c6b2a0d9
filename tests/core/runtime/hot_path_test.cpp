// A run takes what it needs when it starts and when it ends; the steps between allocate nothing.
#include "tests/core/runtime/graph_text.h"

extern "C" long count_of_news();  // tests/support/counted_new.cpp

namespace asc {
namespace {
using testing::MakeSession;

// A chain of that many pairs of operators that have vector kernels and do not fuse, on a matrix of 4 columns.
std::string Chain(int pairs) {
  std::string text = "graph \"main\" {\n  input %x0: float32[N, 4]\n";
  for (int i = 0; i < pairs; ++i) {
    const std::string from = Cat("%x", i), sum = Cat("%s", i), to = Cat("%x", i + 1), type = ": float32[N, 4] = ";
    text += Cat("  ", sum, type, "Softmax (", from, ") {axis = 1}\n  ", to, type, "Mul (", sum, ", ", from, ")\n");
  }
  return text + Cat("  output \"y\" = %x", pairs, "\n}\n");
}

// How often a warm run calls `operator new`, and asks our allocator for memory.
std::pair<long, int> Allocations(int pairs, int64_t rows) {
  CompileOptions options;
  options.threads = 1;
  const auto session = MakeSession(Chain(pairs), options);
  Tensor x = Tensor::Allocate(DataType::kFloat32, {rows, 4}).value();
  std::fill_n(x.data<float>(), x.size(), 0.5f);
  for (int warm = 0; warm < 3; ++warm) EXPECT_TRUE(session->Run({x}).ok());
  int buffers = 0;
  HostAllocator()->SetHook([&](MemoryUse, size_t) { return ++buffers > 0; });
  const long before = count_of_news();
  const bool ok = session->Run({x}).ok();
  const long news = count_of_news() - before;
  HostAllocator()->SetHook(nullptr);
  EXPECT_TRUE(ok);
  return {news, buffers};
}

TEST(HotPath, LongerGraphsAllocateNoMore) {
  const auto [few, few_buffers] = Allocations(2, 8);
  const auto [many, many_buffers] = Allocations(60, 8);
  EXPECT_EQ(few, many);
  EXPECT_EQ(many_buffers, 1) << "the result alone";
  EXPECT_EQ(few_buffers, 1);
}
}  // namespace
}  // namespace asc
