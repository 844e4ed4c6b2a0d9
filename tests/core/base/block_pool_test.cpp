#include "core/base/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "core/base/allocator.h"

namespace asc {
namespace {
struct Block {
  unsigned char* data;
  size_t size;
  unsigned char mark;
};

bool Holds(const Block& block) {
  for (size_t i = 0; i < block.size; i += 997) {
    if (block.data[i] != block.mark) return false;
  }
  return block.data[block.size - 1] == block.mark;
}

// Takes and frees blocks in a random order; each keeps what was written to it.
void TakeAndFree(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int i = 0; i < 300; ++i) {
    if (blocks.size() < 40 && random() % 3 != 0) {
      const size_t size = kLeastPooledBlock + random() % (random() % 8 == 0 ? kMostPooledBlock / 4 : 300000);
      auto* data = static_cast<unsigned char*>(AllocatePooledBlock(size));
      ASSERT_NE(data, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kAlignment, 0u);
      blocks.push_back({data, size, static_cast<unsigned char>(random())});
      std::memset(data, blocks.back().mark, size);
    } else if (!blocks.empty()) {
      const size_t which = random() % blocks.size();
      EXPECT_TRUE(Holds(blocks[which]));
      EXPECT_TRUE(FreePooledBlock(blocks[which].data));
      blocks[which] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    EXPECT_TRUE(Holds(block));
    EXPECT_TRUE(FreePooledBlock(block.data));
  }
}

TEST(BlockPool, BlocksKeepApart) { TakeAndFree(1); }

TEST(BlockPool, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (uint32_t seed = 2; seed < 6; ++seed) threads.emplace_back(TakeAndFree, seed);
  for (std::thread& thread : threads) thread.join();
}

TEST(BlockPool, OtherBlocksAreNotItsOwn) {
  void* const pooled = AllocatePooledBlock(kLeastPooledBlock);
  std::vector<char> other(kLeastPooledBlock);
  EXPECT_FALSE(FreePooledBlock(other.data()));
  EXPECT_FALSE(FreePooledBlock(static_cast<char*>(pooled) + kAlignment));
  EXPECT_TRUE(FreePooledBlock(pooled));
  EXPECT_FALSE(FreePooledBlock(pooled));
}

TEST(BlockPool, WhatIsFreedIsUsedAgain) {
  void* const first = AllocatePooledBlock(kMostPooledBlock);
  void* const second = AllocatePooledBlock(kMostPooledBlock);
  FreePooledBlock(first);
  void* const third = AllocatePooledBlock(kMostPooledBlock);
  EXPECT_EQ(third, first);
  FreePooledBlock(second);
  FreePooledBlock(third);
}
}  // namespace
}  // namespace asc
