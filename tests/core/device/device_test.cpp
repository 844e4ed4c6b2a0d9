// The device conformance suite: what must hold for every device, so that a new one is one more folder.
#include "core/device/device.h"

#include <gtest/gtest.h>

#include <set>

namespace asc {
namespace {
class DeviceConformance : public ::testing::TestWithParam<std::string> {
 protected:
  Device& device() {
    Result<Device*> found = FindDevice(GetParam());
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return **found;
  }
};

TEST_P(DeviceConformance, HasProperties) {
  const DeviceProperties& properties = device().properties();
  EXPECT_EQ(properties.id, GetParam());
  EXPECT_FALSE(properties.name.empty());
  EXPECT_TRUE(properties.kind == "host" || properties.kind == "emulated");
  EXPECT_GE(properties.cores, 1);
  EXPECT_GT(properties.memory_bytes, 0);
  for (const DataType type : types::kNumeric.Types()) EXPECT_GE(device().C0(type), 1);
  EXPECT_EQ(device().C0(DataType::kFloat16), 16);
}

TEST_P(DeviceConformance, CountsItsMemory) {
  const auto& allocator = device().allocator();
  const MemoryStats before = allocator->stats();
  {
    const auto buffer = Buffer::Allocate(allocator, MemoryUse::kTensor, 1000);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % kAlignment, 0u);
    EXPECT_GE(allocator->stats().current_bytes, before.current_bytes + 1000);
    EXPECT_GE(allocator->stats().peak_bytes, allocator->stats().current_bytes);
  }
  EXPECT_EQ(allocator->stats().current_bytes, before.current_bytes);
}

TEST_P(DeviceConformance, EnforcesItsLimit) {
  const auto& allocator = device().allocator();
  const int64_t old_limit = allocator->stats().limit_bytes;
  ASSERT_TRUE(allocator->SetLimit(allocator->stats().current_bytes + 4096).ok());
  const auto refused = Buffer::Allocate(allocator, MemoryUse::kArena, 1 << 20);
  EXPECT_EQ(refused.status().code(), Code::kOutOfMemory);
  EXPECT_NE(refused.status().message().find("1048576"), std::string::npos);
  EXPECT_TRUE(Buffer::Allocate(allocator, MemoryUse::kArena, 1024).ok());
  EXPECT_TRUE(allocator->SetLimit(old_limit).ok());
}

TEST_P(DeviceConformance, AllocationsCanBeMadeToFail) {
  const auto& allocator = device().allocator();
  std::set<MemoryUse> seen;
  allocator->SetHook([&](MemoryUse use, size_t) {
    seen.insert(use);
    return use != MemoryUse::kScratch;
  });
  EXPECT_EQ(Buffer::Allocate(allocator, MemoryUse::kScratch, 8).status().code(), Code::kOutOfMemory);
  EXPECT_TRUE(Buffer::Allocate(allocator, MemoryUse::kTensor, 8).ok());
  allocator->SetHook(nullptr);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(Buffer::Allocate(allocator, MemoryUse::kScratch, 8).ok());
}

std::vector<std::string> AllIds() {
  std::vector<std::string> ids;
  for (const Device* device : ListDevices()) ids.push_back(device->properties().id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(AllDevices, DeviceConformance, ::testing::ValuesIn(AllIds()));

TEST(ListDevices, HasTheHostAndAnEmulatedNpu) {
  EXPECT_EQ(AllIds(), (std::vector<std::string>{"cpu", "npu:0"}));
}

TEST(FindDevice, UnderstandsEveryWayToWriteAnNpu) {
  EXPECT_EQ((*FindDevice("0"))->properties().id, "npu:0");
  EXPECT_EQ((*FindDevice("npu0"))->properties().id, "npu:0");
  EXPECT_EQ((*FindDevice("npu:0"))->properties().kind, "emulated");
}

TEST(FindDevice, RefusesAChoiceOfNpusThatIsNotBuilt) {
  setenv("PYASC_NPUS", "310P", 1);
  const Status status = FindDevice("npu:0").status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("PYASC_NPUS"), std::string::npos);
  EXPECT_TRUE(FindDevice("cpu").ok());
  unsetenv("PYASC_NPUS");
  EXPECT_TRUE(FindDevice("npu:0").ok());
}

TEST(FindDevice, RefusesOthersByName) {
  const Status status = FindDevice("npu:1").status();
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_NE(status.message().find("npu:1"), std::string::npos);
  EXPECT_NE(status.hint().find("npu:0"), std::string::npos);
}
}  // namespace
}  // namespace asc
