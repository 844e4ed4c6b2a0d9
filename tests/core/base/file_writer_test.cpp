#include "core/base/file_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace asc {
namespace {

class FileWriterTest : public ::testing::Test {
 protected:
  FileWriterTest() {
    std::string name = (std::filesystem::temp_directory_path() / "asc_writer_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileWriterTest() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  bool Empty() const { return std::filesystem::is_empty(folder_); }

  std::filesystem::path folder_;
};

TEST_F(FileWriterTest, ReplacesAFileAsAWhole) {
  std::ofstream(Path("a")) << "old";
  FileWriter file(Path("a"));
  file.Write("new", 3);
  file.PadTo(5);
  file.Write("!", 1);
  EXPECT_EQ(file.size(), 6u);
  EXPECT_EQ(Read(Path("a")), "old");
  ASSERT_TRUE(file.Finish().ok());
  EXPECT_EQ(Read(Path("a")), std::string("new\0\0!", 6));
}

TEST_F(FileWriterTest, LeavesNothingWhenItIsGivenUp) {
  { FileWriter(Path("a")).Write("half", 4); }
  EXPECT_TRUE(Empty());
}

TEST_F(FileWriterTest, SaysWhatCannotBeWritten) {
  FileWriter file(Path("no_folder/a"));
  file.Write("x", 1);
  const Status status = file.Finish();
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find("no_folder/a"), std::string::npos);
  EXPECT_TRUE(Empty());
}

TEST_F(FileWriterTest, LeavesWhatIsNoFile) {
  const std::string pipe = Path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder_.string()}) {
    FileWriter file(path);
    file.Write("x", 1);
    EXPECT_EQ(file.Finish().code(), Code::kIo);
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

}  // namespace
}  // namespace asc
