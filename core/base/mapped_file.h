// A file mapped for reading: big weights are paged in on use and never copied as a whole.
#ifndef ASC_CORE_BASE_MAPPED_FILE_H_
#define ASC_CORE_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "core/base/allocator.h"
#include "core/base/status.h"

namespace asc {

class MappedFile {
 public:
  // E5010 when the file cannot be opened or is not a regular file. An empty file gives size 0.
  static Result<std::shared_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Tells the kernel that the pages wholly inside [offset, offset + bytes) are not needed for now (they come back from the
  // file if read again); used once weights are packed.
  void DropPages(size_t offset, size_t bytes) const;
  // The same for bytes of whatever mapped file they lie in; nothing happens where they lie in none. Thread-safe.
  static void DropPagesOf(const void* data, size_t bytes);

  // A read-only Buffer over a part of the file, which keeps the mapping alive. The range must lie inside the file.
  static std::shared_ptr<Buffer> Slice(const std::shared_ptr<MappedFile>& file, size_t offset, size_t bytes);

 private:
  MappedFile() = default;
  std::string path_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace asc

#endif  // ASC_CORE_BASE_MAPPED_FILE_H_
