#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/tensor/element.h"

namespace asc {
namespace {
// Five elements equal to 1, in memory whose bits were all `filling`.
Tensor PackedOnes(DataType type, uint8_t filling) {
  auto* block = new uint8_t[4];
  std::fill_n(block, 4, filling);
  auto buffer = Buffer::Wrap(block, 4, [block] { delete[] block; });
  Tensor tensor = Tensor::FromBuffer(type, {5}, std::move(buffer)).value();
  for (int64_t i = 0; i < 5; ++i) WritePacked(type, tensor.raw(), i, 1);
  return tensor;
}

// Five packed elements leave bits of their last byte over, which belong to no element.
TEST(Tensor, SpareBitsOfPackedTypesAreNoContent) {
  for (const DataType type : {DataType::kInt4, DataType::kUInt4, DataType::kFloat4E2M1,
                              DataType::kInt2, DataType::kUInt2}) {
    const Tensor zeros = PackedOnes(type, 0x00), ones = PackedOnes(type, 0xff);
    EXPECT_TRUE(zeros.ContentEquals(ones)) << DataTypeName(type);
    EXPECT_EQ(zeros.ContentHash(), ones.ContentHash()) << DataTypeName(type);
    Tensor other = PackedOnes(type, 0x00);
    WritePacked(type, other.raw(), 4, 0);
    EXPECT_FALSE(zeros.ContentEquals(other)) << DataTypeName(type);
    EXPECT_NE(zeros.ContentHash(), other.ContentHash()) << DataTypeName(type);
  }
}

TEST(Tensor, AllocationsOfPackedTypesHaveClearSpareBits) {
  // Freed memory with all bits set is what an allocation of that size is likely to get.
  for (int turn = 0; turn < 8; ++turn) {
    Tensor tensor = Tensor::Allocate(DataType::kInt4, {5}).value();
    for (int64_t i = 0; i < 5; ++i) WritePacked(DataType::kInt4, tensor.raw(), i, 0xf);
    EXPECT_EQ(static_cast<const uint8_t*>(tensor.raw())[2], 0x0f);
    std::fill_n(static_cast<uint8_t*>(tensor.raw()), 3, uint8_t{0xff});
  }
}

TEST(Tensor, ContentOfOtherTypesCountsToTheLastByte) {
  const Tensor a = Tensor::FromValues<uint8_t>({3}, {1, 2, 3});
  EXPECT_TRUE(a.ContentEquals(Tensor::FromValues<uint8_t>({3}, {1, 2, 3})));
  EXPECT_FALSE(a.ContentEquals(Tensor::FromValues<uint8_t>({3}, {1, 2, 0x83})));
  EXPECT_FALSE(a.ContentEquals(Tensor::FromValues<int8_t>({3}, {1, 2, 3})));
  EXPECT_FALSE(a.ContentEquals(Tensor::FromValues<uint8_t>({1, 3}, {1, 2, 3})));
}

TEST(Tensor, LazyElementsAreMadeWhenTheyAreRead) {
  const auto buffer = Buffer::Lazy(
      HostAllocator(), MemoryUse::kConstant, 16, [](size_t begin, size_t count, std::byte* to) {
        const float all[] = {1, 2, 3, 4};
        std::memcpy(to, reinterpret_cast<const char*>(all) + begin, count);
      });
  EXPECT_FALSE(Tensor::FromBuffer(DataType::kFloat32, {2}, buffer, 2).ok());
  const Tensor tensor = Tensor::FromBuffer(DataType::kFloat32, {3}, buffer, 4).value(),
               copy = tensor;
  float last = 0;
  tensor.CopyBytes(8, 4, reinterpret_cast<std::byte*>(&last));
  EXPECT_EQ(last, 4.0f);
  EXPECT_TRUE(tensor.is_lazy());
  const void* const identity = tensor.identity();
  EXPECT_TRUE(copy.ContentEquals(tensor));  // shared: nothing is read
  EXPECT_TRUE(tensor.is_lazy());
  const Tensor plain = Tensor::FromValues<float>({3}, {2, 3, 4});
  EXPECT_TRUE(tensor.ContentEquals(plain));
  EXPECT_FALSE(copy.is_lazy());
  EXPECT_EQ(copy.data<float>()[1], 3.0f);
  EXPECT_EQ(tensor.ContentHash(), plain.ContentHash());
  EXPECT_EQ(tensor.identity(), identity);
  EXPECT_EQ(copy.identity(), identity);
}
}  // namespace
}  // namespace asc
