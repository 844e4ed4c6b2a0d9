#include "core/compile/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/allocator.h"
#include "core/compile/memory_check.h"

namespace asc {
namespace {
bool Overlap(const Interval& a, const Interval& b) {
  const bool in_time = a.first_step <= b.last_step && b.first_step <= a.last_step;
  const bool in_space = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  return in_time && in_space;
}

TEST(AssignOffsets, NeverOverlapsAndReuses) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Interval> intervals(60);
    size_t total = 0;
    for (Interval& interval : intervals) {
      interval.bytes = random() % 5000;
      interval.first_step = static_cast<int>(random() % 40);
      interval.last_step = interval.first_step + static_cast<int>(random() % 6);
      total += interval.bytes;
    }
    const size_t top = AssignOffsets(intervals, /*reuse=*/true);
    EXPECT_LT(top, total);
    for (size_t i = 0; i < intervals.size(); ++i) {
      EXPECT_EQ(intervals[i].offset % kAlignment, 0u);
      EXPECT_LE(intervals[i].offset + intervals[i].bytes, top);
      for (size_t j = i + 1; j < intervals.size(); ++j) EXPECT_FALSE(Overlap(intervals[i], intervals[j]));
    }
  }
}

TEST(AssignOffsets, RepairsWhatNoFirstOrderPlacesWell) {
  std::vector<Interval> intervals = {{320, 0, 2, 0}, {192, 4, 5, 0}, {256, 0, 1, 0}, {320, 2, 4, 0}, {256, 4, 5, 0}};
  EXPECT_EQ(AssignOffsets(intervals, true), 768u) << "the three of step 4";
  for (size_t i = 0; i < intervals.size(); ++i) {
    for (size_t j = i + 1; j < intervals.size(); ++j) EXPECT_FALSE(Overlap(intervals[i], intervals[j]));
  }
}

TEST(AssignOffsets, WithoutReuseEachHasItsOwn) {
  std::vector<Interval> intervals = {{100, 0, 1, 0}, {100, 2, 3, 0}};
  EXPECT_EQ(AssignOffsets(intervals, false), 256u);
  EXPECT_NE(intervals[0].offset, intervals[1].offset);
  EXPECT_EQ(AssignOffsets(intervals, true), 128u);
}

// A plan of two arena values: step 0 writes `a`, step 1 reads it and writes `b`, step 2 reads both.
std::unique_ptr<Plan> TwoValues(size_t offset_a, size_t offset_b) {
  auto made = std::make_unique<Plan>();
  Plan& plan = *made;
  plan.slots.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    Slot& slot = plan.slots[i];
    slot.kind = StorageKind::kArena;
    slot.root = static_cast<int>(i);
    slot.dtype = DataType::kFloat32;
    slot.dims = {16};
    slot.last_step = 2;
  }
  plan.slots[0].index = offset_a;
  plan.slots[1].index = offset_b;
  plan.slots[1].first_step = 1;
  plan.arena_bytes = 128;
  plan.steps.resize(3);
  plan.steps[0].outputs = {0};
  plan.steps[1].inputs = {0};
  plan.steps[1].outputs = {1};
  plan.steps[2].inputs = {0, 1};
  return made;
}

TEST(CheckMemory, AcceptsDisjointValuesAndGivesTheLowerBound) {
  const auto report = CheckMemory(*TwoValues(0, 64));
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->lower_bound_bytes, 128u);
}

TEST(CheckMemory, FindsOverwrittenOperands) { EXPECT_EQ(CheckMemory(*TwoValues(0, 0)).status().code(), Code::kInternal); }

TEST(CheckMemory, FindsValuesOutsideTheArena) { EXPECT_FALSE(CheckMemory(*TwoValues(0, 128)).ok()); }

TEST(CheckMemory, FindsScratchOverALiveValue) {
  const auto made = TwoValues(0, 64);
  Plan& plan = *made;
  plan.steps[1].scratch_bytes = 64;
  plan.steps[1].scratch_offset = 0;
  EXPECT_FALSE(CheckMemory(plan).ok());
}

TEST(CheckMemory, FindsInPlaceWritesOverValuesThatAreReadLater) {
  const auto made = TwoValues(0, 0);
  Plan& plan = *made;
  plan.slots[1].root = 0;
  EXPECT_FALSE(CheckMemory(plan).ok());
  plan.steps[2].inputs = {1};  // nobody reads the old contents: fine
  EXPECT_TRUE(CheckMemory(plan).ok());
}

TEST(CheckMemory, FindsInPlaceWritesOverAPartOfAnOperand) {
  const auto made = TwoValues(0, 0);
  Plan& plan = *made;
  plan.slots[1].root = 0;
  plan.steps[2].inputs = {1};
  plan.slots.push_back(plan.slots[0]);
  plan.slots[2].dims = {4};
  plan.steps[1].inputs = {0, 2};
  EXPECT_FALSE(CheckMemory(plan).ok());
  plan.slots[2].dims = plan.slots[0].dims;  // the whole, once more
  EXPECT_TRUE(CheckMemory(plan).ok());
}

// A joined value (slot 2) whose parts steps 0 and 1 write, at `second` bytes into it the second one.
std::unique_ptr<Plan> Joined(size_t second) {
  auto made = TwoValues(0, 0);
  Plan& plan = *made;
  plan.slots.push_back(plan.slots[0]);
  plan.slots[2].root = 2;
  plan.slots[2].dims = {32};
  for (size_t i = 0; i < 2; ++i) plan.slots[i].root = 2;
  plan.slots[1].root_offset = second;
  plan.steps[1].inputs = {0};
  plan.steps[2].inputs = {0, 2};
  return made;
}

TEST(CheckMemory, KnowsPartsOfJoinedValues) {
  const auto report = CheckMemory(*Joined(64));
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(CheckMemory(*Joined(0)).ok());   // over the first, which is read later
  EXPECT_FALSE(CheckMemory(*Joined(32)).ok());  // over a half of it
  // A view of the joined value that ends within its second part, read before and after that is written, or after only.
  const auto viewed = Joined(64);
  viewed->slots.push_back(viewed->slots[2]);
  viewed->slots[3].dims = {24};
  viewed->slots[3].root = 2;
  viewed->steps[2].inputs = {0, 2, 3};
  EXPECT_TRUE(CheckMemory(*viewed).ok());
  viewed->steps[1].inputs = {0, 3};
  EXPECT_FALSE(CheckMemory(*viewed).ok());
  // A part that nothing writes.
  const auto hollow = Joined(64);
  hollow->steps[1].outputs = {};
  EXPECT_FALSE(CheckMemory(*hollow).ok());
}
}  // namespace
}  // namespace asc
