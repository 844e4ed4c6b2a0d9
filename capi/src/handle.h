// What every entry of the C ABI is made of: counted handles with a tag, and the guard that turns
// whatever happens inside into a status.
//
// Memory of handles is never given back: a released one waits in a queue before it is used again.
// So a handle that is used after its release is nearly always told by its tag, and reading that tag
// is always defined.
#ifndef ASC_CAPI_SRC_HANDLE_H_
#define ASC_CAPI_SRC_HANDLE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "asc/handle.h"
#include "core/base/status.h"

namespace asc::capi {

inline std::atomic<int64_t> live_handles{0};

// A handle type is `struct asc_x : Handle<asc_x, Payload> { static constexpr std::string_view kName
// = "x"; };`
template <typename Self, typename Payload>
class Handle {
 public:
  template <typename... Args>
  static Self* New(Args&&... args) {
    Self* handle = Pool().Take();
    try {
      new (&handle->payload_) Payload(std::forward<Args>(args)...);
    } catch (...) {
      Pool().Give(handle);
      throw;
    }
    handle->references_.store(1, std::memory_order_relaxed);
    handle->tag_.store(&kTag, std::memory_order_release);
    live_handles.fetch_add(1, std::memory_order_relaxed);
    return handle;
  }

  static void Retain(Self* handle) noexcept {
    if (handle != nullptr && handle->alive())
      handle->references_.fetch_add(1, std::memory_order_relaxed);
  }

  static void Release(Self* handle) noexcept {
    if (handle == nullptr || !handle->alive()) return;
    if (handle->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    handle->tag_.store(&kDead, std::memory_order_release);
    handle->payload_.~Payload();
    live_handles.fetch_sub(1, std::memory_order_relaxed);
    Pool().Give(handle);
  }

  bool alive() const { return tag_.load(std::memory_order_acquire) == &kTag; }
  bool released() const { return tag_.load(std::memory_order_acquire) == &kDead; }
  Payload& operator*() { return payload_; }
  const Payload& operator*() const { return payload_; }
  Payload* operator->() { return &payload_; }
  const Payload* operator->() const { return &payload_; }

 protected:
  Handle() {}   // NOLINT: the payload lives from New to Release
  ~Handle() {}  // NOLINT

 private:
  class Queue {
   public:
    Self* Take() {
      {
        const std::lock_guard lock(mutex_);
        if (waiting_ > kQuarantine) {
          Self* handle = first_;
          first_ = handle->next_;
          --waiting_;
          return handle;
        }
      }
      return new Self;
    }
    void Give(Self* handle) noexcept {
      const std::lock_guard lock(mutex_);
      handle->next_ = nullptr;
      if (waiting_++ == 0) {
        first_ = handle;
      } else {
        last_->next_ = handle;
      }
      last_ = handle;
    }

   private:
    static constexpr size_t kQuarantine = 64;
    std::mutex mutex_;
    Self *first_ = nullptr, *last_ = nullptr;
    size_t waiting_ = 0;
  };
  static Queue& Pool() {
    static Queue* pool =
        new Queue;  // never destroyed: hosts may release handles while the process ends
    return *pool;
  }

  // The tag is an address of the type's own.
  static inline const char kTag = 0, kDead = 0;
  std::atomic<const char*> tag_{&kDead};
  std::atomic<int32_t> references_{0};
  Self* next_ = nullptr;
  union {
    Payload payload_;
  };
};

// ---- checks of arguments
// --------------------------------------------------------------------------------------------------

template <typename H>
Status CheckHandle(const H* handle, std::string_view argument) {
  if (handle == nullptr) return InvalidArgument("argument '", argument, "' is NULL");
  if (handle->alive()) return Ok();
  if (handle->released())
    return Error(Code::kDestroyed, "argument '", argument, "': the ", H::kName,
                 " was released already");
  return InvalidArgument("argument '", argument, "' is no ", H::kName);
}

inline Status CheckPointer(const void* pointer, std::string_view argument) {
  return pointer == nullptr ? InvalidArgument("argument '", argument, "' is NULL") : Ok();
}

// An array of `count` things: NULL only where there are none.
inline Status CheckArray(const void* array, size_t count, std::string_view argument) {
  return count > 0 ? CheckPointer(array, argument) : Ok();
}

inline Status CheckText(asc_string text, std::string_view argument) {
  return CheckArray(text.data, text.size, argument);
}

#define ASC_NEED_HANDLE(name) ASC_RETURN_IF_ERROR(::asc::capi::CheckHandle(name, #name))
#define ASC_NEED(name) ASC_RETURN_IF_ERROR(::asc::capi::CheckPointer(name, #name))
#define ASC_NEED_TEXT(name) ASC_RETURN_IF_ERROR(::asc::capi::CheckText(name, #name))
#define ASC_NEED_ARRAY(name, count) ASC_RETURN_IF_ERROR(::asc::capi::CheckArray(name, count, #name))

// ---- text
// -----------------------------------------------------------------------------------------------------------------

inline std::string_view View(asc_string text) {
  return {text.data == nullptr ? "" : text.data, text.size};
}
inline asc_string Lend(std::string_view text) { return {text.data(), text.size()}; }

// ---- the border
// -----------------------------------------------------------------------------------------------------------

asc_status* MakeStatus(Status status) noexcept;
// The status for an exception that is being handled.
asc_status* StatusOfException() noexcept;

// Runs the body of an entry: a Status or whatever is thrown becomes an asc_status.
template <typename F>
asc_status* Guard(F&& body) noexcept {
  try {
    Status status = body();
    return status.ok() ? nullptr : MakeStatus(std::move(status));
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace asc::capi

struct asc_bytes : asc::capi::Handle<asc_bytes, std::string> {
  static constexpr std::string_view kName = "byte string";
};

#endif  // ASC_CAPI_SRC_HANDLE_H_
