#include "core/compile/om.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/hash.h"
#include "core/compile/om_format.h"
#include "core/graph/builder.h"
#include "core/kernels/registry.h"
#include "core/ops/registry.h"

namespace asc {
namespace {
class OmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    InstallHostKernels();
    path_ = (std::filesystem::temp_directory_path() / Cat("om_test_", static_cast<int64_t>(::getpid()), ".om")).string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Device& device() { return **FindDevice("cpu"); }

  // y = x W, with W constant.
  std::shared_ptr<Executable> MakeExecutable() {
    auto graph = std::make_unique<Graph>();
    const ValueId x = graph->AddInput("x", ValueType::Tensor(DataType::kFloat32, Shape({Dim(2), Dim(64)})));
    std::vector<float> elements(64 * 8);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 13) - 6;
    NodeSpec spec;
    spec.schema = OpRegistry::Global().Find("", "MatMul");
    spec.inputs = {x, graph->AddConstant("w", Tensor::FromValues<float>({64, 8}, std::span<const float>(elements)))};
    const Result<NodeId> node = BuildNode(*graph, std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    graph->AddOutput(graph->node(*node).outputs[0], "y");
    Result<std::shared_ptr<Executable>> made = Executable::Compile(std::move(graph), device(), {});
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return *made;
  }

  std::string Bytes() {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  // `shift`: bytes past an aligned address.
  Result<std::shared_ptr<Executable>> LoadExecutable(const std::string& bytes, size_t shift = 0) {
    auto whole = Buffer::Allocate(HostAllocator(), MemoryUse::kTensor, bytes.size() + shift).value();
    std::memcpy(whole->data() + shift, bytes.data(), bytes.size());
    return LoadOm(Buffer::Wrap(whole->data() + shift, bytes.size(), [whole] {}), device(), {});
  }
  Status Load(const std::string& bytes) { return LoadExecutable(bytes).status(); }

  // The file with the first `from` replaced by `to`, which is as long, and right checksums.
  static std::string Forge(std::string bad, std::string_view from, std::string_view to) {
    const size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    om::Header header;
    std::memcpy(&header, bad.data(), sizeof header);
    std::vector<om::Section> table(header.section_count);
    std::memcpy(table.data(), bad.data() + sizeof header, table.size() * sizeof(om::Section));
    for (om::Section& section : table) section.hash = HashBytes(bad.data() + section.offset, section.size);
    header.table_hash = HashBytes(table.data(), table.size() * sizeof(om::Section));
    std::memcpy(bad.data(), &header, sizeof header);
    std::memcpy(bad.data() + sizeof header, table.data(), table.size() * sizeof(om::Section));
    return bad;
  }

  std::string path_;
};

TEST_F(OmTest, RoundTripKeepsPortsWeightsAndPackedForms) {
  const auto saved = MakeExecutable();
  ASSERT_TRUE(saved->StaticPlan().ok());  // packs the weight
  ASSERT_EQ(saved->forms_made(), 1);
  ASSERT_TRUE(SaveOm(*saved, path_).ok());
  const auto loaded = LoadOm(path_, device(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  ASSERT_EQ((*loaded)->inputs().size(), 1u);
  EXPECT_EQ((*loaded)->inputs()[0].name, "x");
  EXPECT_EQ((*loaded)->inputs()[0].type.ToString(), "float32[2, 64]");
  EXPECT_EQ((*loaded)->outputs()[0].name, "y");
  ASSERT_TRUE((*loaded)->StaticPlan().ok());
  EXPECT_EQ((*loaded)->forms_made(), 0);  // nothing was packed again
}

TEST_F(OmTest, DamageAnywhereIsRefused) {
  ASSERT_TRUE(SaveOm(*MakeExecutable(), path_).ok());
  const std::string good = Bytes();
  ASSERT_TRUE(Load(good).ok());
  for (size_t cut = 0; cut < good.size(); cut += 37) {
    EXPECT_EQ(Load(good.substr(0, cut)).code(), Code::kInvalidModel) << "cut at " << cut;
  }
  size_t undetected = 0;
  for (size_t at = 0; at < good.size(); at += 11) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    undetected += Load(bad).ok();
  }
  // Only padding between the table and the first section is covered by no checksum.
  EXPECT_LE(undetected, om::kSectionAlignment / 11 + 1);
}

// A hostile writer can make the checksums right: what they cover must still be checked.
TEST_F(OmTest, HostileContentsWithRightChecksumsAreRefused) {
  ASSERT_TRUE(SaveOm(*MakeExecutable(), path_).ok());
  const std::string good = Bytes();
  const auto forge = [&](std::string_view from, std::string_view to) { return Load(Forge(good, from, to)); };
  EXPECT_FALSE(forge("\"dims\":[64,8]", "\"dims\":[64,9]").ok());
  EXPECT_FALSE(forge("\"bytes\":2048", "\"bytes\":9048").ok());
  EXPECT_FALSE(forge("\"offset\":0", "\"offset\":9").ok());
  EXPECT_FALSE(forge("MatMul", "NoSuch").ok());
  EXPECT_FALSE(forge("float32[2, 8]", "float32[2, 9]").ok());
  EXPECT_FALSE(forge("\"float32\"", "\"float64\"").ok());
  EXPECT_FALSE(forge("\"assume_finite\":false", "\"assume_finite\":\"no!\"").ok());
  EXPECT_FALSE(forge("\"winograd\":true", "\"winograd\":\"no\"").ok());
}

// Packed weights of a hostile file are taken only when a kernel asks for that very form and size.
TEST_F(OmTest, PackedFormsThatNobodyAsksForAreLeftAside) {
  const auto saved = MakeExecutable();
  ASSERT_TRUE(saved->StaticPlan().ok());
  ASSERT_TRUE(SaveOm(*saved, path_).ok());
  const std::string good = Bytes();
  // The size depends on the machine: its first two digits become 10, which is less.
  const std::string field = "\"packed\":[{\"bytes\":", size = good.substr(good.find(field) + field.size(), 2);
  ASSERT_NE(size, "10");
  // Another first letter of the form's name, whatever kernel that is.
  const size_t at = good.find("\"form\":[");
  const std::string form = good.substr(at, good.find(',', at) - at);
  const std::string other = form.substr(0, form.size() - 1) + (form.back() == '1' ? "2" : "1");
  for (const auto& [from, to] : {std::pair(field + size, field + "10"), std::pair(form, other)}) {
    const auto loaded = LoadExecutable(Forge(good, from, to));
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    ASSERT_TRUE((*loaded)->StaticPlan().ok());
    EXPECT_EQ((*loaded)->forms_made(), 1) << to;
  }
}

TEST_F(OmTest, MemoryAtAnyAddressCanBeLoaded) {
  const auto saved = MakeExecutable();
  ASSERT_TRUE(saved->StaticPlan().ok());
  ASSERT_TRUE(SaveOm(*saved, path_).ok());
  const auto loaded = LoadExecutable(Bytes(), 1);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_TRUE((*loaded)->StaticPlan().ok());
}

TEST_F(OmTest, FailuresLeaveNothingBehind) {
  const Status status = SaveOm(*MakeExecutable(), (std::filesystem::temp_directory_path() / "no_such_folder" / "m.om").string());
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(LoadOm(path_, device(), {}).status().code(), Code::kIo);
}
}  // namespace
}  // namespace asc
