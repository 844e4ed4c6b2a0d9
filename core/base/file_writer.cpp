#include "core/base/file_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace asc {
namespace {
// Putting the file in place would take a device or a pipe away.
bool IsOtherThanFile(const std::string& path) {
  struct stat there {};
  return ::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
}
}  // namespace

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  if (IsOtherThanFile(path_)) {
    error_ = EEXIST;
    return;
  }
  temporary_ = Cat(path_, ".", static_cast<int64_t>(::getpid()), ".tmp");
  file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) error_ = errno;
}

FileWriter::~FileWriter() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void FileWriter::Write(const void* data, size_t bytes) {
  if (error_ != 0 || bytes == 0) return;
  if (std::fwrite(data, 1, bytes, file_) != bytes) error_ = errno;
  size_ += bytes;
}

void FileWriter::PadTo(uint64_t offset) {
  static constexpr std::array<char, 4096> kZeros{};
  while (error_ == 0 && size_ < offset)
    Write(kZeros.data(), static_cast<size_t>(std::min<uint64_t>(kZeros.size(), offset - size_)));
}

Status FileWriter::Close() {
  const bool opened = file_ != nullptr;
  if (opened && std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
  return error_ == 0 ? Ok() : Failure(opened ? "write" : "create");
}

Status FileWriter::PutInPlace() {
  if (IsOtherThanFile(path_)) {
    error_ = EEXIST;
    return Failure("write");
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    error_ = errno;
    return Failure("write");
  }
  temporary_.clear();
  return Ok();
}

Status FileWriter::Failure(std::string_view what) const {
  if (error_ == EEXIST) {
    return Error(Code::kIo, "cannot write '", path_,
                 "': there is a folder, a device or a pipe, expected a file or nothing")
        .WithHint("give the path of a file");
  }
  return Error(Code::kIo, "cannot ", what, " '", path_, "': ", std::strerror(error_))
      .WithHint("check the folder, its permissions and free space");
}

}  // namespace asc
