#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace asc {

Result<std::shared_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const auto fail = [&](const char* what) {
    return Error(Code::kIo, "cannot ", what, " '", path, "': ", std::strerror(errno));
  };
  if (fd < 0) return fail("open").WithHint("check the path and its permissions");
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    Status status = fail("stat");
    ::close(fd);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error(Code::kIo, "'", path, "' is not a regular file").WithHint("give the path of a file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  file->size_ = static_cast<size_t>(info.st_size);
  if (file->size_ > 0) {
    void* data = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      Status status = fail("map");
      ::close(fd);
      return status;
    }
    file->data_ = static_cast<std::byte*>(data);
  }
  ::close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void MappedFile::DropPages(size_t offset, size_t bytes) const {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + bytes) / page * page;
  if (begin < end && end <= size_) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

std::shared_ptr<Buffer> MappedFile::Slice(const std::shared_ptr<MappedFile>& file, size_t offset, size_t bytes) {
  return Buffer::Wrap(file->data_ + offset, bytes, [file] {}, /*read_only=*/true);
}

}  // namespace asc
