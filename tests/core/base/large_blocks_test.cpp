#include "core/base/large_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "core/base/allocator.h"

namespace asc {
namespace {
TEST(LargeBlocks, AreZeroedAlignedAndWritable) {
  for (const size_t bytes : {kLeastLargeBlock, kLeastLargeBlock + 1, (size_t{5} << 20) + 12345}) {
    auto* block = static_cast<unsigned char*>(AllocateLargeBlock(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0u);
    EXPECT_EQ(block[0], 0);
    EXPECT_EQ(block[bytes - 1], 0);
    std::memset(block, 7, bytes);
    EXPECT_TRUE(FreeLargeBlock(block, bytes));
    EXPECT_FALSE(FreeLargeBlock(block, bytes));
  }
}

TEST(LargeBlocks, OthersAreLeftAlone) {
  std::vector<char> other(16);
  EXPECT_FALSE(FreeLargeBlock(other.data(), kLeastLargeBlock));
  EXPECT_EQ(AllocateLargeBlock(std::numeric_limits<size_t>::max() - 100), nullptr);
  EXPECT_EQ(AllocateLargeBlock(size_t{1} << 60), nullptr);
}

TEST(LargeBlocks, ManyThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 50; ++k) {
        void* block = AllocateLargeBlock(kLeastLargeBlock);
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(FreeLargeBlock(block, kLeastLargeBlock));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LargeBlocks, TheAllocatorCountsThemLikeOthers) {
  const auto allocator = std::make_shared<Allocator>("test");
  constexpr size_t kBytes = size_t{3} << 20;
  for (const MemoryUse use : {MemoryUse::kPackedWeight, MemoryUse::kArena, MemoryUse::kTensor}) {
    auto buffer = Buffer::Allocate(allocator, use, kBytes);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % kAlignment, 0u);
    std::memset((*buffer)->data(), 1, kBytes);
    EXPECT_EQ(allocator->stats().current_bytes, static_cast<int64_t>(kBytes));
    buffer->reset();
    EXPECT_EQ(allocator->stats().current_bytes, 0);
  }
  ASSERT_TRUE(allocator->SetLimit(kBytes / 2).ok());
  EXPECT_EQ(Buffer::Allocate(allocator, MemoryUse::kPackedWeight, kBytes).status().code(), Code::kOutOfMemory);
  EXPECT_EQ(allocator->stats().current_bytes, 0);
}
}  // namespace
}  // namespace asc
