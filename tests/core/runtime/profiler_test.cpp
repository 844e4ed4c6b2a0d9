// The profiler: what it collects, that it sees bodies and dynamic steps, and what reports say of it.
#include "core/runtime/profiler.h"

#include <algorithm>
#include <thread>

#include "core/runtime/profile_report.h"
#include "nlohmann/json.hpp"
#include "tests/core/runtime/graph_text.h"

namespace asc {
namespace {
using nlohmann::json;
using testing::F32;
using testing::MakeSession;

constexpr std::string_view kProduct = R"(graph "product" {
  input %x: float32[N, 4]
  constant %w: float32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]
  %m: float32[N, 2] = MatMul (%x, %w)
  %y: float32[N, 2] = Tanh (%m)
  output "y" = %y
}
)";

// Collects while it lives.
struct Collecting {
  explicit Collecting(Profiler& profiler) : profiler(profiler) {
    EXPECT_TRUE(profiler.Start().ok());
  }
  ~Collecting() { EXPECT_TRUE(profiler.Stop().ok()); }
  Profiler& profiler;
};

json ReportOf(const Profiler& profiler) { return json::parse(ProfileReport(profiler.Take())); }

TEST(Profiler, CollectsStepsWithTheirCosts) {
  const auto session = MakeSession(kProduct);
  const auto profiler = std::make_shared<Profiler>();
  ASSERT_TRUE(session->Run({F32({3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})}).ok());
  {
    const Collecting scope(*profiler);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Run({F32({1, 4}, {1, 2, 3, 4})}).ok());
    ASSERT_TRUE(session->Run({F32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}).ok());
  }
  ASSERT_TRUE(session->Run({F32({1, 4}, {1, 2, 3, 4})}).ok());

  const Profiler::Collected collected = profiler->Take();
  ASSERT_EQ(collected.runs.size(), 4u);
  for (const RunTrace& run : collected.runs) {
    EXPECT_EQ(run.ends.size(), run.plan->steps.size());
    EXPECT_TRUE(std::is_sorted(run.ends.begin(), run.ends.end()));
    EXPECT_LE(run.begin, run.ends.front());
  }
  const json report = ReportOf(*profiler);
  EXPECT_EQ(report["runs"], 4);
  ASSERT_EQ(report["plans"].size(), 2u);  // one for each shape
  const json& plan = report["plans"][0];
  EXPECT_EQ(plan["graph"], "product");
  EXPECT_EQ(plan["runs"], 3);
  EXPECT_EQ(plan["inputs"], json::array({"float32[1, 4]"}));
  double share = 0, flops = 0;
  for (const json& step : plan["steps"]) {
    share += step["share"].get<double>();
    flops += step["flops"].get<double>();
    EXPECT_EQ(step["calls"], 3);
    EXPECT_FALSE(step["kernel"].get<std::string>().empty());
    EXPECT_LE(step["min_ms"], step["ms"]);
    EXPECT_TRUE(step["roofline"].is_null()) << "no peaks were given";
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GE(flops, 16);  // 2 * 1 * 4 * 2 of the product
  EXPECT_EQ(report["peaks"]["source"], "unknown");
}

TEST(Profiler, RooflineIsTheTimeThatPeaksAllow) {
  const auto session = MakeSession(kProduct);
  const auto profiler = std::make_shared<Profiler>();
  profiler->SetPeaks({1e3, 1e12}, false);  // 16 flops take 16 ms
  {
    const Collecting scope(*profiler);
    ASSERT_TRUE(session->Run({F32({1, 4}, {1, 2, 3, 4})}).ok());
  }
  const json report = ReportOf(*profiler);
  EXPECT_EQ(report["peaks"]["source"], "given");
  const json& plan = report["plans"][0];
  double bound_ms = 0;
  for (const json& step : plan["steps"])
    bound_ms += step["roofline"].get<double>() * step["ms"].get<double>();
  EXPECT_NEAR(bound_ms, plan["steps"].size() == 1 ? 16 : 18, 2.1);
}

TEST(Profiler, StepsThatRunBodiesAreCountedWithoutThem) {
  const auto session = MakeSession(R"(graph "main" {
  input %c: bool[]
  input %x: float32[2]
  %y: float32[2] = If "choose" (%c)
    region "then_branch" (%x) graph "then" {
      input %a: float32[2]
      %b: float32[2] = Tanh (%a)
      output "b" = %b
    }
    region "else_branch" (%x) graph "else" {
      input %d: float32[2]
      %e: float32[2] = Neg (%d)
      output "e" = %e
    }
  output "y" = %y
}
)");
  ASSERT_NE(session, nullptr);
  const auto profiler = std::make_shared<Profiler>();
  {
    const Collecting scope(*profiler);
    ASSERT_TRUE(session->Run({Tensor::Scalar<bool>(true), F32({2}, {1, 2})}).ok());
  }
  const Profiler::Collected collected = profiler->Take();
  ASSERT_EQ(collected.runs.size(), 2u);
  EXPECT_EQ(collected.runs[0].depth, 1);  // the body ends first
  EXPECT_EQ(collected.runs[1].depth, 0);
  ASSERT_EQ(collected.runs[1].details.size(), 1u);
  EXPECT_GE(collected.runs[1].details[0].nested, collected.runs[0].total());
  const json report = ReportOf(*profiler);
  EXPECT_EQ(report["runs"], 1);
  std::vector<std::string> operators;
  for (const json& group : report["operators"]) operators.push_back(group["operator"]);
  std::sort(operators.begin(), operators.end());
  EXPECT_EQ(operators, (std::vector<std::string>{"If", "Tanh"}));
}

TEST(Profiler, DynamicStepsTellKernelAndCostOfTheirRun) {
  const auto session = MakeSession(R"(graph "main" {
  input %x: float32[6]
  %i: int64[1, ?0] = NonZero (%x)
  %f: float32[1, ?0] = Cast (%i) {to = 1}
  output "f" = %f
}
)");
  ASSERT_NE(session, nullptr);
  const auto profiler = std::make_shared<Profiler>();
  {
    const Collecting scope(*profiler);
    ASSERT_TRUE(session->Run({F32({6}, {1, 0, 2, 0, 3, 0})}).ok());
  }
  const json report = ReportOf(*profiler);
  const json& steps = report["plans"][0]["steps"];
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1]["operator"], "Cast");
  EXPECT_NE(steps[1]["kernel"], "");
  EXPECT_EQ(steps[1]["bytes"], 3 * 8 + 3 * 4);
}

TEST(Profiler, OneCollectsAtATime) {
  const auto first = std::make_shared<Profiler>(), second = std::make_shared<Profiler>();
  EXPECT_EQ(Profiler::Collecting(), nullptr);
  EXPECT_EQ(first->Stop().code(), Code::kInvalidArgument);
  ASSERT_TRUE(first->Start().ok());
  EXPECT_EQ(Profiler::Collecting(), first);
  EXPECT_EQ(first->Start().code(), Code::kInvalidArgument);
  EXPECT_EQ(second->Start().code(), Code::kInvalidArgument);
  EXPECT_EQ(second->Stop().code(), Code::kInvalidArgument);
  ASSERT_TRUE(first->Stop().ok());
  ASSERT_TRUE(second->Start().ok());
  ASSERT_TRUE(second->Stop().ok());
}

TEST(Profiler, ManyThreadsRunWhileItStartsAndStops) {
  const auto session = MakeSession(kProduct);
  const auto profiler = std::make_shared<Profiler>();
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int run = 0; run < 200; ++run)
        EXPECT_TRUE(session->Run({F32({1, 4}, {1, 2, 3, 4})}).ok());
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(profiler->Start().ok());
    EXPECT_FALSE(ProfileReport(profiler->Take()).empty());
    EXPECT_TRUE(profiler->Stop().ok());
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(Profiler, TheTimelineHasRunsAndTheirSteps) {
  const auto session = MakeSession(kProduct);
  const auto profiler = std::make_shared<Profiler>();
  {
    const Collecting scope(*profiler);
    ASSERT_TRUE(session->Run({F32({1, 4}, {1, 2, 3, 4})}).ok());
  }
  const json events = json::parse(ProfileTrace(profiler->Take()))["traceEvents"];
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[0]["name"], "product");
  for (const json& event : events) {
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["ts"], events[0]["ts"]);
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(),
              events[0]["ts"].get<double>() + events[0]["dur"].get<double>() + 1e-6);
  }
}

TEST(MachinePeaks, ArePositive) {
  const Result<MachinePeaks> peaks = MeasurePeaks(HostAllocator());
  ASSERT_TRUE(peaks.ok()) << peaks.status().ToString();
  // No machine that runs this is a hundred times slower or faster than today's.
  EXPECT_GT(peaks->flops_per_second, 1e8);
  EXPECT_LT(peaks->flops_per_second, 1e14);
  EXPECT_GT(peaks->bytes_per_second, 1e8);
  EXPECT_LT(peaks->bytes_per_second, 1e13);
}
}  // namespace
}  // namespace asc
