#include "core/base/allocator.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/block_pool.h"
#include "core/base/large_blocks.h"
#include "core/base/recycled_blocks.h"

namespace asc {
namespace {
size_t RoundUp(size_t bytes) {
  const size_t wanted = bytes == 0 ? 1 : bytes;
  return (wanted + kAlignment - 1) / kAlignment * kAlignment;
}

// What comes and goes with every run stays with the C library, which keeps it ready. The sanitizer sees the bounds of its blocks only.
#ifdef __SANITIZE_ADDRESS__
bool IsLarge(MemoryUse, size_t) { return false; }
bool IsPooled(MemoryUse, size_t) { return false; }
bool MayBeRecycled(size_t) { return false; }
#else
bool IsLarge(MemoryUse use, size_t bytes) {
  return bytes >= kLeastLargeBlock && (use == MemoryUse::kPackedWeight || use == MemoryUse::kArena);
}
bool IsPooled(MemoryUse use, size_t bytes) {
  return use == MemoryUse::kPackedWeight && bytes >= kLeastPooledBlock && bytes <= kMostPooledBlock;
}
bool MayBeRecycled(size_t size) { return size >= kLeastRecycledBlock && size <= kMostRecycledBlock; }
#endif

// Blocks of the C library of sizes that are recycled say in front of themselves whether they are.
void* AllocateMarkedBlock(MemoryUse use, size_t size) {
  const bool recycled = use == MemoryUse::kTensor;
  const size_t whole = size + kAlignment;
  void* start = recycled ? TakeRecycledBlock(whole) : nullptr;
  if (start == nullptr) start = std::aligned_alloc(kAlignment, whole);
  if (start == nullptr) return nullptr;
  *static_cast<bool*>(start) = recycled;
  return static_cast<std::byte*>(start) + kAlignment;
}
void FreeMarkedBlock(void* block, size_t size) noexcept {
  void* const start = static_cast<std::byte*>(block) - kAlignment;
  if (*static_cast<bool*>(start)) return RecycleBlock(start, size + kAlignment);
  std::free(start);
}
}  // namespace

std::string_view MemoryUseName(MemoryUse use) {
  switch (use) {
    case MemoryUse::kTensor: return "tensor";
    case MemoryUse::kArena: return "arena";
    case MemoryUse::kPackedWeight: return "packed weight";
    case MemoryUse::kConstant: return "constant";
    case MemoryUse::kScratch: return "scratch";
  }
  return "unknown";
}

Result<void*> Allocator::Allocate(MemoryUse use, size_t bytes) {
  const auto refuse = [&](std::string_view why) {
    const MemoryStats now = stats();
    Status status = Error(Code::kOutOfMemory, "cannot allocate ", bytes, " bytes (", MemoryUseName(use),
                          ") on ", name_, ": ", why, "; in use ", now.current_bytes, " bytes");
    return std::move(status).WithHint("use smaller inputs or a smaller batch, or raise the memory limit");
  };
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) - kAlignment) return refuse("the size is absurd");
  if (auto hook = std::atomic_load(&hook_); hook && *hook && !(*hook)(use, bytes)) return refuse("refused by the allocation hook");
  const int64_t size = static_cast<int64_t>(RoundUp(bytes));
  const int64_t limit = limit_.load(std::memory_order_relaxed);
  const int64_t now = current_.fetch_add(size, std::memory_order_relaxed) + size;
  if (limit > 0 && now > limit) {
    current_.fetch_sub(size, std::memory_order_relaxed);
    return refuse(Cat("the limit is ", limit, " bytes, free ", limit - (now - size)));
  }
  void* block = IsPooled(use, bytes)  ? AllocatePooledBlock(static_cast<size_t>(size))
                : IsLarge(use, bytes) ? AllocateLargeBlock(static_cast<size_t>(size))
                : MayBeRecycled(static_cast<size_t>(size))
                    ? AllocateMarkedBlock(use, static_cast<size_t>(size))
                    : std::aligned_alloc(kAlignment, static_cast<size_t>(size));
  if (block == nullptr) {
    current_.fetch_sub(size, std::memory_order_relaxed);
    return refuse("the system has no more memory");
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return block;
}

void Allocator::Free(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  current_.fetch_sub(static_cast<int64_t>(RoundUp(bytes)), std::memory_order_relaxed);
  if (bytes >= kLeastPooledBlock && bytes <= kMostPooledBlock && FreePooledBlock(block)) return;
  if (bytes >= kLeastLargeBlock && FreeLargeBlock(block, RoundUp(bytes))) return;
  if (MayBeRecycled(RoundUp(bytes))) return FreeMarkedBlock(block, RoundUp(bytes));
  std::free(block);
}

MemoryStats Allocator::stats() const {
  return {current_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed),
          count_.load(std::memory_order_relaxed), limit_.load(std::memory_order_relaxed)};
}

void Allocator::ResetPeak() { peak_.store(current_.load(std::memory_order_relaxed), std::memory_order_relaxed); }

Status Allocator::SetLimit(int64_t bytes) {
  const int64_t used = current_.load(std::memory_order_relaxed);
  if (bytes < 0) return InvalidArgument("memory limit of ", name_, " must not be negative, got ", bytes);
  if (bytes > 0 && used > bytes) {
    return InvalidArgument("memory limit of ", name_, " cannot be ", bytes, " bytes: ", used, " bytes are in use");
  }
  limit_.store(bytes, std::memory_order_relaxed);
  return Ok();
}

void Allocator::SetHook(Hook hook) {
  std::atomic_store(&hook_, hook ? std::make_shared<const Hook>(std::move(hook)) : nullptr);
}

const std::shared_ptr<Allocator>& HostAllocator() {
  // Never destroyed: buffers may outlive static destruction.
  static const auto* allocator = new std::shared_ptr<Allocator>(std::make_shared<Allocator>("cpu"));
  return *allocator;
}

Result<std::shared_ptr<Buffer>> Buffer::Allocate(const std::shared_ptr<Allocator>& allocator, MemoryUse use, size_t bytes) {
  // The owner comes first: `new` may fail too, and nobody would free the block.
  std::shared_ptr<Buffer> buffer(new Buffer);
  ASC_ASSIGN_OR_RETURN(buffer->data_, allocator->Allocate(use, bytes));
  buffer->size_ = bytes;
  buffer->allocator_ = allocator;
  return buffer;
}

std::shared_ptr<Buffer> Buffer::Wrap(void* data, size_t bytes, Deleter deleter, bool read_only) {
  std::shared_ptr<Buffer> buffer(new Buffer);
  buffer->data_ = data;
  buffer->size_ = bytes;
  buffer->read_only_ = read_only;
  buffer->deleter_ = std::move(deleter);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::Lazy(const std::shared_ptr<Allocator>& allocator, MemoryUse use, size_t bytes, Reader read) {
  std::shared_ptr<Buffer> buffer(new Buffer);
  buffer->size_ = bytes;
  buffer->read_only_ = true;
  buffer->allocator_ = allocator;
  buffer->use_ = use;
  buffer->read_ = std::move(read);
  return buffer;
}

Status Buffer::Materialize() const {
  if (!is_lazy()) return Ok();
  const std::lock_guard lock(making_);
  if (!is_lazy()) return Ok();
  ASC_ASSIGN_OR_RETURN(void* const made, allocator_->Allocate(use_, size_));
  read_(0, size_, static_cast<std::byte*>(made));
  data_.store(made, std::memory_order_release);
  return Ok();
}

void* Buffer::MakeNow() const {
  if (!Materialize().ok()) throw std::bad_alloc();
  return data_.load(std::memory_order_relaxed);
}

void Buffer::CopyTo(size_t begin, size_t count, std::byte* to) const {
  if (is_lazy()) {
    read_(begin, count, to);
  } else if (count > 0) {
    std::memcpy(to, data() + begin, count);
  }
}

Buffer::~Buffer() {
  void* const data = data_.load(std::memory_order_relaxed);
  if (allocator_ && data != nullptr) allocator_->Free(data, size_);
  if (deleter_) deleter_();
}

}  // namespace asc
