// What the runtime promises to everything that stands on it: bounded memory, packing once, failures that leave nothing behind.
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
using testing::CompileText;
using testing::ExpectFloats;
using testing::F32;
using testing::MakeSession;

constexpr std::string_view kTwoLayers = R"(graph "main" {
  input %x: float32[N, 8]
  constant %w: float32[8, 4] = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]
  %h: float32[N, 4] = MatMul "matmul" (%x, %w)
  %r: float32[N, 4] = Relu "relu" (%h)
  %y: float32[N, 4] = Exp "exp" (%r)
  output "y" = %y
}
)";

// Sanitizers keep freed memory for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

Tensor Ones(int64_t rows) {
  Tensor x = Tensor::Allocate(DataType::kFloat32, {rows, 8}).value();
  std::fill_n(x.data<float>(), x.size(), 0.125f);
  return x;
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(Foundations, ManyShapesPackOnceAndStayInTheCache) {
  CompileOptions options;
  options.threads = 1;
  options.plan_cache_size = 8;
  const auto session = MakeSession(kTwoLayers, options);
  int64_t after_first = 0;
  for (int64_t rows = 500; rows > 0; --rows) {
    const auto out = session->Run({Ones(rows)});
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    ASSERT_EQ((*out)[0].tensor().dim(0), rows);
    if (rows == 450) after_first = ResidentBytes();
  }
  EXPECT_EQ(session->executable().plans_made(), 500);
  EXPECT_LE(session->executable().forms_made(), 2);
  const int64_t growth = ResidentBytes() - after_first;
  EXPECT_LE(kSanitized ? 0 : growth, 2 << 20);
}

TEST(Foundations, PlansOfAllShapesShareOneArena) {
  const auto session = MakeSession(kTwoLayers);
  ASSERT_TRUE(session->Run({Ones(500)}).ok());
  const auto unpacked = [&] { return HostAllocator()->stats().current_bytes - session->executable().packed_bytes(); };
  const int64_t before = unpacked();
  for (int64_t rows = 499; rows > 0; --rows) ASSERT_TRUE(session->Run({Ones(rows)}).ok());
  EXPECT_LE(unpacked(), before);
}

TEST(Foundations, ManyThreadsGetTheAnswersOfOne) {
  CompileOptions options;
  options.threads = 2;
  const auto session = MakeSession(kTwoLayers, options);
  constexpr int kCallers = 8, kRuns = 50;
  std::vector<Tensor> expected;
  for (int i = 0; i < kCallers; ++i) expected.push_back((*session->Run({Ones(i + 1)}))[0].tensor());
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (int run = 0; run < kRuns; ++run) {
        const auto out = session->Run({Ones(i + 1)});
        if (!out.ok() || !(*out)[0].tensor().ContentEquals(expected[static_cast<size_t>(i)])) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Every allocation of a first run is made to fail in turn, in a session of its own: each failure is E5012, and the next run of
// the same session is right.
TEST(Foundations, AnyAllocationMayFailAndNothingBreaks) {
  CompileOptions options;
  options.threads = 1;
  const auto& allocator = HostAllocator();
  const Tensor x = Ones(3);
  const AnyValue expected = (*MakeSession(kTwoLayers, options)->Run({x}))[0];
  std::set<MemoryUse> failed;
  for (int64_t fail_at = 0;; ++fail_at) {
    ASSERT_LT(fail_at, 100);
    const auto session = MakeSession(kTwoLayers, options);
    int64_t seen = 0;
    allocator->SetHook([&](MemoryUse use, size_t) {
      if (seen++ != fail_at) return true;
      failed.insert(use);
      return false;
    });
    const auto out = session->Run({x});
    allocator->SetHook(nullptr);
    if (out.ok()) break;
    EXPECT_EQ(out.status().code(), Code::kOutOfMemory) << out.status().ToString();
    const auto again = session->Run({x});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_TRUE((*again)[0].tensor().ContentEquals(expected.tensor()));
  }
  for (const MemoryUse use : {MemoryUse::kTensor, MemoryUse::kArena, MemoryUse::kPackedWeight}) {
    EXPECT_TRUE(failed.contains(use)) << MemoryUseName(use);
  }
}

TEST(Foundations, FailedRunsLeaveTheExecutableUsable) {
  const auto session = MakeSession(R"(graph "main" {
    input %x: float32[3]
    input %i: int64[1]
    %y: float32[1] = Gather "pick" (%x, %i) from "user/pick"
    output "y" = %y
  })");
  const Tensor x = F32({3}, {1, 2, 3});
  const auto bad = session->Run({x, testing::I64({1}, {7})});
  EXPECT_EQ(bad.status().code(), Code::kOutOfRange);
  EXPECT_EQ(bad.status().node(), "user/pick");  // the user's name, not ours
  const auto good = session->Run({x, testing::I64({1}, {2})});
  ASSERT_TRUE(good.ok());
  ExpectFloats((*good)[0], {1}, {3});
}

TEST(Foundations, OutputsCanBeWrittenIntoTheCallersTensors) {
  const auto session = MakeSession(kTwoLayers);
  RunOptions options;
  options.outputs = {Tensor::Allocate(DataType::kFloat32, {2, 4}).value()};
  const void* memory = options.outputs[0].raw();
  const auto out = session->Run({Ones(2)}, options);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].tensor().raw(), memory);
  options.outputs = {Tensor::Allocate(DataType::kFloat32, {3, 4}).value()};
  EXPECT_EQ(session->Run({Ones(2)}, options).status().code(), Code::kShapeMismatch);
}

TEST(Foundations, AllLevelsOfMemoryReuseAgree) {
  const Tensor x = Ones(5);
  std::optional<Tensor> first;
  for (const int level : {0, 1, 2}) {
    for (const bool reuse : {false, true}) {
      CompileOptions options;
      options.buffer_optimize_level = level;
      options.enable_mem_reuse = reuse;
      const auto out = MakeSession(kTwoLayers, options)->Run({x});
      ASSERT_TRUE(out.ok());
      if (!first) first = (*out)[0].tensor();
      EXPECT_TRUE((*out)[0].tensor().ContentEquals(*first));
    }
  }
}

TEST(Foundations, AnEmulatedDeviceRunsAndEnforcesItsMemoryLimit) {
  const auto executable = CompileText(kTwoLayers, {}, "npu:0");
  ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  const auto session = Session::Create(*executable).value();
  ASSERT_TRUE(session->Run({Ones(2)}).ok());
  const auto& allocator = (*executable)->device().allocator();
  const int64_t old_limit = allocator->stats().limit_bytes;
  ASSERT_TRUE(allocator->SetLimit(allocator->stats().current_bytes + (1 << 16)).ok());
  const auto refused = session->Run({Ones(100000)});
  EXPECT_EQ(refused.status().code(), Code::kOutOfMemory);
  EXPECT_FALSE(refused.status().hint().empty());
  ASSERT_TRUE(allocator->SetLimit(old_limit).ok());
  EXPECT_TRUE(session->Run({Ones(100000)}).ok());
}

Status Triple(KernelContext& context) {
  for (int64_t i = 0; i < context.input(0).size(); ++i) {
    context.output(0).data<float>()[i] = 3 * context.input(0).data<float>()[i];
  }
  return Ok();
}

TEST(Foundations, AnOperatorOfThisFileWorksLikeABuiltInOne) {
  OpSchema schema;
  schema.domain = "test.plugin";
  schema.name = "Triple";
  schema.inputs = {{"x", "T", ParameterKind::kSingle, true, "", ""}};
  schema.outputs = {{"y", "T", ParameterKind::kSingle, true, "", ""}};
  schema.type_variables["T"] = {DataType::kFloat32};
  schema.infer = [](InferContext& context) -> Status {
    context.SetOutput(0, context.type(0));
    return Ok();
  };
  schema.reference = Triple;
  ASSERT_TRUE(OpRegistry::Global().Register(schema).ok());
  EXPECT_EQ(OpRegistry::Global().Register(schema).code(), Code::kInvalidArgument);  // only once
  EXPECT_NE(OpRegistry::Global().FindMethod("triple"), nullptr);
  const auto out = MakeSession(R"(graph "main" {
    input %x: float32[N]
    %a: float32[N] = test.plugin.Triple "t" (%x)
    %y: float32[N] = Neg "n" (%a)
    output "y" = %y
  })")->Run({F32({2}, {1, 2})});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  ExpectFloats((*out)[0], {2}, {-3, -6});
}
}  // namespace
}  // namespace asc
