#include "core/base/recycled_blocks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/allocator.h"
#include "core/base/heap.h"

namespace asc {
namespace {
void* Block(size_t bytes) { return std::aligned_alloc(kAlignment, bytes); }

TEST(RecycledBlocks, GivesBlocksOfTheSameSizeBack) {
  DropRecycledBlocks();
  void* const a = Block(1 << 17);
  void* const b = Block(1 << 18);
  RecycleBlock(a, 1 << 17);
  RecycleBlock(b, 1 << 18);
  EXPECT_EQ(TakeRecycledBlock(1 << 16), nullptr);
  EXPECT_EQ(TakeRecycledBlock(1 << 17), a);
  EXPECT_EQ(TakeRecycledBlock(1 << 17), nullptr);
  RecycleBlock(a, 1 << 17);
  ReturnFreePages();
  EXPECT_EQ(TakeRecycledBlock(1 << 18), nullptr);
}

TEST(RecycledBlocks, KeepsTheLatestOfSoMany) {
  DropRecycledBlocks();
  constexpr size_t kBytes = size_t{1} << 20;
  std::vector<void*> blocks;
  for (size_t i = 0; i < 2 * kMostRecycledBytes / kBytes; ++i) {
    blocks.push_back(Block(kBytes));
    RecycleBlock(blocks.back(), kBytes);
  }
  size_t kept = 0;
  while (void* block = TakeRecycledBlock(kBytes)) {
    EXPECT_EQ(block, blocks[blocks.size() - 1 - kept++]);
    std::free(block);
  }
  EXPECT_EQ(kept, kMostRecycledBytes / kBytes);
}

#ifndef __SANITIZE_ADDRESS__
TEST(RecycledBlocks, ServeTensorsAlone) {
  DropRecycledBlocks();
  const auto address = [](MemoryUse use) {
    return Buffer::Allocate(HostAllocator(), use, 100000).value()->data();
  };
  const std::byte* const tensor = address(MemoryUse::kTensor);
  EXPECT_EQ(address(MemoryUse::kTensor), tensor);
  EXPECT_EQ(TakeRecycledBlock(100000), nullptr);  // the block is larger by its mark
  address(MemoryUse::kScratch);
  EXPECT_EQ(address(MemoryUse::kTensor), tensor);
}
#endif

TEST(RecycledBlocks, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = size_t{1} << (16 + (i + t) % 6);
        auto buffer = Buffer::Allocate(HostAllocator(), MemoryUse::kTensor, bytes).value();
        std::memset(buffer->data(), t, bytes);
        EXPECT_EQ(buffer->data()[bytes - 1], static_cast<std::byte>(t));
        if (i % 100 == 99) ReturnFreePages();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
}  // namespace
}  // namespace asc
