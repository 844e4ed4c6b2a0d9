// Files that are mapped give their pages back, and what was in them when it is read again.
#include "core/base/mapped_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace asc {
namespace {
constexpr size_t kBytes = 16 << 20;

size_t ResidentFileBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

size_t CountOf(const std::byte* data, std::byte wanted) {
  return static_cast<size_t>(std::count(data, data + kBytes, wanted));
}

TEST(MappedFile, DropsThePagesOfARange) {
  const std::string path = ::testing::TempDir() + "mapped_file_test.bin";
  {
    const std::vector<char> bytes(kBytes, 7);
    std::ofstream(path, std::ios::binary).write(bytes.data(), kBytes);
  }
  auto opened = MappedFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  const auto buffer = MappedFile::Slice(*opened, 0, kBytes);
  const std::byte* data = (*opened)->data();
  ASSERT_EQ(CountOf(data, std::byte{7}), kBytes);
  const size_t before = ResidentFileBytes();
  MappedFile::DropPagesOf(data, kBytes);
  EXPECT_LE(ResidentFileBytes() + kBytes / 2, before);
  EXPECT_EQ(CountOf(data, std::byte{7}), kBytes);
  // What lies in no file, or not wholly in one, is left alone.
  const std::vector<std::byte> other(8192, std::byte{3});
  MappedFile::DropPagesOf(other.data(), other.size());
  EXPECT_EQ(other[4096], std::byte{3});
  const size_t full = ResidentFileBytes();
  MappedFile::DropPagesOf(data + 1, kBytes);
  EXPECT_GE(ResidentFileBytes() + (1 << 20), full);
  std::remove(path.c_str());
}
}  // namespace
}  // namespace asc
