// External data stays inside the model's folder and inside its file.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/core/onnx/onnx_bytes.h"

namespace asc::onnx {
namespace {
namespace fs = std::filesystem;

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "asc_onnx_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "model" / "sub");
    const float values[] = {0, 1, 2, 3};
    Save(root_ / "model" / "w.bin", {reinterpret_cast<const char*>(values), sizeof values});
    Save(root_ / "model" / "sub" / "w.bin", {reinterpret_cast<const char*>(values), sizeof values});
    Save(root_ / "secret.bin", {reinterpret_cast<const char*>(values), sizeof values});
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Save(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  using Entries = std::vector<std::pair<std::string, std::string>>;
  // Loads a model whose output is float32[2] of these entries.
  Result<std::unique_ptr<Graph>> Load(const Entries& entries) {
    const fs::path path = root_ / "model" / "m.onnx";
    Save(path, Model(entries));
    return ImportOnnxFile(path.string());
  }
  static Message Model(const Entries& entries) {
    return ModelMessage(
        GraphMessage({.nodes = {},
                      .inputs = {},
                      .outputs = {ValueInfo("t", "")},
                      .initializers = {ExternalTensor("t", DataType::kFloat32, {2}, entries)}}));
  }
  std::vector<float> Values(const Entries& entries) {
    const auto graph = Load(entries);
    if (!graph.ok()) {
      ADD_FAILURE() << graph.status().ToString();
      return {};
    }
    const auto values = (*graph)->Constant((*graph)->outputs()[0].value)->values<float>();
    return {values.begin(), values.end()};
  }
  void ExpectRefused(const Entries& entries, std::string_view part) {
    const auto graph = Load(entries);
    ASSERT_FALSE(graph.ok()) << part;
    EXPECT_NE(graph.status().message().find(part), std::string::npos) << graph.status().ToString();
  }

  fs::path root_;
};

TEST_F(ExternalData, IsReadFromTheFolderAndBelow) {
  EXPECT_EQ(Values({{"location", "w.bin"}}), (std::vector<float>{0, 1}));
  EXPECT_EQ(Values({{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}}),
            (std::vector<float>{2, 3}));
  EXPECT_EQ(Values({{"location", "sub/../sub/w.bin"}, {"offset", "4"}}),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(Values({{"location", "../model/w.bin"}}), (std::vector<float>{0, 1}));
  EXPECT_EQ(Values({{"location", "w.bin"}, {"bogus", "7"}, {"checksum", "00"}}),
            (std::vector<float>{0, 1}));
}

TEST_F(ExternalData, IsMappedNotCopied) {
  const auto graph = Load({{"location", "w.bin"}, {"offset", "4"}});
  ASSERT_TRUE(graph.ok());
  const Tensor* tensor = (*graph)->Constant((*graph)->outputs()[0].value);
  EXPECT_TRUE(tensor->buffer()->read_only());
  EXPECT_EQ(tensor->offset(), 4u);
}

TEST_F(ExternalData, MisalignedDataIsCopied) {
  const auto graph = Load({{"location", "w.bin"}, {"offset", "2"}});
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE((*graph)->Constant((*graph)->outputs()[0].value)->buffer()->read_only());
}

TEST_F(ExternalData, MayNotLeaveTheFolder) {
  ExpectRefused({{"location", "../secret.bin"}}, "leaves the model's folder");
  ExpectRefused({{"location", "../nothing.bin"}}, "leaves the model's folder");
  ExpectRefused({{"location", "sub/../../secret.bin"}}, "leaves the model's folder");
  ExpectRefused({{"location", (root_ / "secret.bin").string()}}, "must be relative");
  fs::create_symlink(root_ / "secret.bin", root_ / "model" / "link.bin");
  ExpectRefused({{"location", "link.bin"}}, "leaves the model's folder");
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  ExpectRefused({{"location", "up/secret.bin"}}, "leaves the model's folder");
  // A folder whose name begins like the model's is another one.
  fs::create_directories(root_ / "model2");
  Save(root_ / "model2" / "w.bin", std::string(8, 'a'));
  ExpectRefused({{"location", "../model2/w.bin"}}, "leaves the model's folder");
}

TEST_F(ExternalData, LinksThatStayInsideAreFine) {
  fs::create_symlink("sub/w.bin", root_ / "model" / "inside.bin");
  EXPECT_EQ(Values({{"location", "inside.bin"}}), (std::vector<float>{0, 1}));
}

TEST_F(ExternalData, MustBeARegularFile) {
  ExpectRefused({{"location", "sub"}}, "is not a regular file");
  ExpectRefused({{"location", "nothing.bin"}}, "cannot find");
  ExpectRefused({{"location", ""}}, "no location");
  ExpectRefused({}, "no location");
  ASSERT_EQ(::mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  ExpectRefused({{"location", "pipe"}}, "not a regular file");
}

TEST_F(ExternalData, RangesMustLieInsideTheFile) {
  ExpectRefused({{"location", "w.bin"}, {"offset", "12"}}, "not inside");
  ExpectRefused({{"location", "w.bin"}, {"offset", "17"}}, "not inside");
  ExpectRefused({{"location", "w.bin"}, {"length", "17"}}, "not inside");
  ExpectRefused({{"location", "w.bin"}, {"offset", "18446744073709551615"}, {"length", "8"}},
                "not inside");
  ExpectRefused({{"location", "w.bin"}, {"length", "4"}}, "needs 8 bytes");
  ExpectRefused({{"location", "w.bin"}, {"length", "-8"}}, "not a non-negative number");
  ExpectRefused({{"location", "w.bin"}, {"offset", "-1"}}, "not a non-negative number");
  ExpectRefused({{"location", "w.bin"}, {"offset", "0x4"}}, "not a non-negative number");
  ExpectRefused({{"location", "w.bin"}, {"offset", " 4"}}, "not a non-negative number");
  ExpectRefused({{"location", "w.bin"}, {"offset", "99999999999999999999"}},
                "not a non-negative number");
}

TEST_F(ExternalData, NeedsAFolder) {
  const Status status = Import(Model({{"location", "w.bin"}})).status();
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_NE(status.message().find("external data not reachable"), std::string::npos);
  EXPECT_TRUE(Import(Model({{"location", "w.bin"}}), (root_ / "model").string()).ok());
}

}  // namespace
}  // namespace asc::onnx
