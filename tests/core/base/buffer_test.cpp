#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

#include "core/base/allocator.h"

namespace asc {
namespace {
constexpr size_t kBytes = 1000;

// Byte i is i % 251.
std::shared_ptr<Buffer> Numbers(const std::shared_ptr<Allocator>& allocator, std::atomic<int>* reads = nullptr) {
  return Buffer::Lazy(allocator, MemoryUse::kConstant, kBytes, [reads](size_t begin, size_t count, std::byte* to) {
    if (reads != nullptr) ++*reads;
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>((begin + i) % 251);
  });
}

TEST(LazyBuffer, GivesPartsWithoutMakingTheWhole) {
  const auto allocator = std::make_shared<Allocator>("test");
  const auto buffer = Numbers(allocator);
  std::byte part[3];
  buffer->CopyTo(500, 3, part);
  EXPECT_EQ(part[0], std::byte{500 % 251});
  EXPECT_TRUE(buffer->is_lazy());
  EXPECT_EQ(allocator->stats().current_bytes, 0);
  EXPECT_TRUE(buffer->read_only());
}

TEST(LazyBuffer, IsMadeOnceWhenAskedForAll) {
  const auto allocator = std::make_shared<Allocator>("test");
  std::atomic<int> reads{0};
  auto buffer = Numbers(allocator, &reads);
  EXPECT_EQ(buffer->data(), buffer->data());
  EXPECT_EQ(reads, 1);
  EXPECT_FALSE(buffer->is_lazy());
  EXPECT_EQ(buffer->data()[700], std::byte{700 % 251});
  EXPECT_GE(allocator->stats().current_bytes, static_cast<int64_t>(kBytes));
  std::byte part[1];
  buffer->CopyTo(999, 1, part);
  EXPECT_EQ(part[0], std::byte{999 % 251});
  buffer.reset();
  EXPECT_EQ(allocator->stats().current_bytes, 0);
}

TEST(LazyBuffer, ThreadsThatAskAtOnceGetTheSame) {
  const auto allocator = std::make_shared<Allocator>("test");
  std::atomic<int> reads{0};
  const auto buffer = Numbers(allocator, &reads);
  std::vector<std::byte*> seen(4);
  std::vector<std::thread> threads;
  for (std::byte*& data : seen) threads.emplace_back([&] { data = buffer->data(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), 4);
  EXPECT_EQ(reads, 1);
}

TEST(LazyBuffer, RefusedMemoryIsAStatusAndLeavesItLazy) {
  const auto allocator = std::make_shared<Allocator>("test");
  const auto buffer = Numbers(allocator);
  allocator->SetHook([](MemoryUse, size_t) { return false; });
  EXPECT_EQ(buffer->Materialize().code(), Code::kOutOfMemory);
  EXPECT_THROW(buffer->data(), std::bad_alloc);
  EXPECT_TRUE(buffer->is_lazy());
  allocator->SetHook(nullptr);
  EXPECT_TRUE(buffer->Materialize().ok());
}
}  // namespace
}  // namespace asc
