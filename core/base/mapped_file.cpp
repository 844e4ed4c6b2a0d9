#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace asc {
namespace {
// Where the files are mapped that live now.
struct Mappings {
  std::mutex mutex;
  std::map<const std::byte*, const MappedFile*, std::greater<>> by_address;
};
Mappings& LiveMappings() {
  static auto* mappings = new Mappings;  // never destroyed: files may outlive static destruction
  return *mappings;
}
}  // namespace

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
    const std::lock_guard lock(LiveMappings().mutex);
    LiveMappings().by_address.emplace(file->data_, file.get());
  }
  ::close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(LiveMappings().mutex);
  LiveMappings().by_address.erase(data_);
  ::munmap(data_, size_);
}

void MappedFile::DropPages(size_t offset, size_t bytes) const {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + bytes) / page * page;
  if (begin < end && end <= size_) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::DropPagesOf(const void* data, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  Mappings& mappings = LiveMappings();
  const std::lock_guard lock(mappings.mutex);
  const auto it = mappings.by_address.lower_bound(begin);  // the nearest that starts at or before
  if (it == mappings.by_address.end()) return;
  const auto offset = static_cast<size_t>(begin - it->first);
  const size_t size = it->second->size();
  if (offset < size && bytes <= size - offset) it->second->DropPages(offset, bytes);
}

std::shared_ptr<Buffer> MappedFile::Slice(const std::shared_ptr<MappedFile>& file, size_t offset, size_t bytes) {
  return Buffer::Wrap(file->data_ + offset, bytes, [file] {}, /*read_only=*/true);
}

}  // namespace asc
