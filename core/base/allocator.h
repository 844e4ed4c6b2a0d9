// The one door through which tensors, arenas and packed weights get memory.
//
// Everything is counted (current, peak), a limit can be enforced, and a hook can refuse any single allocation, which is how
// the tests inject failures at each of them.
#ifndef ASC_CORE_BASE_ALLOCATOR_H_
#define ASC_CORE_BASE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/base/status.h"

namespace asc {

// Every block starts at a multiple of this: a cache line and the widest vector.
inline constexpr size_t kAlignment = 64;

enum class MemoryUse { kTensor, kArena, kPackedWeight, kConstant, kScratch };
std::string_view MemoryUseName(MemoryUse use);

struct MemoryStats {
  int64_t current_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t allocations = 0;  // count of Allocate calls that succeeded, ever
  int64_t limit_bytes = 0;  // 0: none
};

// Thread-safe. Owned by a device; must outlive all blocks (blocks keep it alive through shared_ptr).
class Allocator {
 public:
  // Called before each allocation; a false return makes it fail with E5012 (for tests).
  using Hook = std::function<bool(MemoryUse use, size_t bytes)>;

  explicit Allocator(std::string name) : name_(std::move(name)) {}
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Uninitialised memory of at least `bytes` (0 gives a valid unique block), aligned to kAlignment. E5012 when the limit, the
  // hook or the system refuses, saying what was asked and what is free.
  Result<void*> Allocate(MemoryUse use, size_t bytes);
  void Free(void* block, size_t bytes) noexcept;

  MemoryStats stats() const;
  void ResetPeak();
  // 0 lifts the limit. Refused (E5003) when more than that is in use.
  Status SetLimit(int64_t bytes);
  // Install before use by other threads; an empty function removes it.
  void SetHook(Hook hook);
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::atomic<int64_t> current_{0}, peak_{0}, count_{0}, limit_{0};
  std::shared_ptr<const Hook> hook_;
};

// The host's allocator, shared by everything that names no device.
const std::shared_ptr<Allocator>& HostAllocator();

// Bytes with an owner: from an Allocator, from a mapped file, or from the caller. Immutable size; the bytes may be written by
// whoever holds the only reference.
class Buffer {
 public:
  using Deleter = std::function<void()>;
  static Result<std::shared_ptr<Buffer>> Allocate(const std::shared_ptr<Allocator>& allocator, MemoryUse use, size_t bytes);
  // Wraps foreign memory; `deleter` runs once when the last reference goes. `read_only` marks memory that must not be written
  // (mapped files, a caller's constant).
  static std::shared_ptr<Buffer> Wrap(void* data, size_t bytes, Deleter deleter, bool read_only = false);
  // Bytes that are somewhere else, or are computed, until somebody asks for all of them. `read` gives any part at any time and on any
  // thread; the first data() or Materialize() makes the whole, from `allocator`, and it stays. Weights that kernels pack are read
  // part by part and so are never in memory twice.
  using Reader = std::function<void(size_t begin, size_t count, std::byte* to)>;
  static std::shared_ptr<Buffer> Lazy(const std::shared_ptr<Allocator>& allocator, MemoryUse use, size_t bytes, Reader read);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Throws std::bad_alloc when lazy bytes cannot be made: Materialize() first where that must be a status.
  std::byte* data() const {
    void* const data = data_.load(std::memory_order_acquire);
    return static_cast<std::byte*>(data != nullptr || !read_ ? data : MakeNow());
  }
  size_t size() const { return size_; }
  bool read_only() const { return read_only_; }
  bool is_lazy() const { return read_ && data_.load(std::memory_order_acquire) == nullptr; }
  // Ends laziness. E5012 when memory is refused.
  Status Materialize() const;
  // Copies a part without ending laziness.
  void CopyTo(size_t begin, size_t count, std::byte* to) const;

 private:
  Buffer() = default;
  void* MakeNow() const;

  mutable std::atomic<void*> data_{nullptr};
  size_t size_ = 0;
  bool read_only_ = false;
  std::shared_ptr<Allocator> allocator_;
  Deleter deleter_;
  Reader read_;
  MemoryUse use_ = MemoryUse::kConstant;  // of lazy bytes
  mutable std::mutex making_;
};

}  // namespace asc

#endif  // ASC_CORE_BASE_ALLOCATOR_H_
