#include "core/compile/arena_pool.h"

#include <gtest/gtest.h>

namespace asc {
namespace {
TEST(ArenaPool, GivesBackTheArenaThatAFrameIsBoundTo) {
  ArenaPool pool(HostAllocator());
  const Arena first = pool.Take(1000, 0).value(), second = pool.Take(1000, 0).value();
  EXPECT_NE(first.id, second.id);
  EXPECT_NE(first.id, 0u);
  pool.GiveBack(first);
  pool.GiveBack(second);
  EXPECT_EQ(pool.Take(1000, first.id).value().id, first.id);
  EXPECT_EQ(pool.Take(1000, first.id).value().id, second.id);  // the preferred one is in use
}

TEST(ArenaPool, ServesSmallRunsFromLargeArenasAndDropsThoseThatAreTooSmall) {
  const auto allocator = std::make_shared<Allocator>("test");
  ArenaPool pool(allocator);
  uint64_t id = 0;
  for (size_t bytes = 64; bytes <= 64000; bytes += 64) {
    Arena arena = pool.Take(bytes, id).value();
    EXPECT_NE(arena.id, id);  // a new one, whose values must be bound anew
    id = arena.id;
    pool.GiveBack(std::move(arena));
    EXPECT_EQ(allocator->stats().current_bytes, static_cast<int64_t>(bytes));
  }
  EXPECT_EQ(allocator->stats().peak_bytes, 64000);
  const Arena arena = pool.Take(128, 0).value();
  EXPECT_EQ(arena.id, id);
}

TEST(ArenaPool, SaysWhenMemoryIsRefusedAndGoesOn) {
  const auto allocator = std::make_shared<Allocator>("test");
  ArenaPool pool(allocator);
  allocator->SetHook([](MemoryUse use, size_t) { return use != MemoryUse::kArena; });
  EXPECT_EQ(pool.Take(64, 0).status().code(), Code::kOutOfMemory);
  allocator->SetHook(nullptr);
  EXPECT_TRUE(pool.Take(64, 0).ok());
}

TEST(ArenaPool, KeepsFewIdleArenas) {
  const auto allocator = std::make_shared<Allocator>("test");
  ArenaPool pool(allocator);
  std::vector<Arena> taken;
  for (int i = 0; i < 100; ++i) taken.push_back(pool.Take(64, 0).value());
  for (Arena& arena : taken) pool.GiveBack(std::move(arena));
  taken.clear();
  EXPECT_LE(allocator->stats().current_bytes, 16 * 64);
}
}  // namespace
}  // namespace asc
