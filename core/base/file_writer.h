// A file that is there as a whole or not at all.
#ifndef ASC_CORE_BASE_FILE_WRITER_H_
#define ASC_CORE_BASE_FILE_WRITER_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "core/base/status.h"

namespace asc {

// Writes beside `path` and puts the file in place at the end: whatever goes wrong, what was there
// stays. A path at which there is no regular file (a folder, a device, a pipe) is refused. Errors
// are kept for Finish.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();  // takes away what was not put in place
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(const void* data, size_t bytes);
  // Zeros up to `offset` from the start.
  void PadTo(uint64_t offset);
  uint64_t size() const { return size_; }
  // E5010 when anything could not be written. Called once; the file is closed, and not in place yet.
  Status Close();
  // E5010. After Close.
  Status PutInPlace();
  Status Finish() {
    ASC_RETURN_IF_ERROR(Close());
    return PutInPlace();
  }

 private:
  Status Failure(std::string_view what) const;

  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
  int error_ = 0;  // the first errno
};

}  // namespace asc

#endif  // ASC_CORE_BASE_FILE_WRITER_H_
