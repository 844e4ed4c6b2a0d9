#include "asc/status.h"

#include <exception>

#include "capi/src/handle.h"

namespace {
struct Failure {
  explicit Failure(asc::Status failure) : status(std::move(failure)), text(status.ToString()) {}
  asc::Status status;
  std::string text;
};
}  // namespace

struct asc_status : asc::capi::Handle<asc_status, Failure> {
  static constexpr std::string_view kName = "status";
};

namespace asc::capi {
namespace {
constexpr const char* kNoMemoryMessage = "the system has no more memory";

// Stands for "out of memory" where there is not even enough for a status: an address that is no
// handle.
asc_status* NoMemory() {
  alignas(asc_status) static char mark[sizeof(asc_status)];
  return reinterpret_cast<asc_status*>(mark);
}
}  // namespace

asc_status* MakeStatus(Status status) noexcept {
  try {
    return asc_status::New(std::move(status));
  } catch (...) {
    return NoMemory();
  }
}

asc_status* StatusOfException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (const std::exception& error) {
    try {
      return MakeStatus(InternalError("unexpected failure: ", error.what()));
    } catch (...) {
      return NoMemory();
    }
  } catch (...) {
    return NoMemory();
  }
}
}  // namespace asc::capi

using asc::capi::NoMemory;

namespace {
// Null for success and for a status that was released.
const Failure* FailureOf(const asc_status* status) {
  return status != nullptr && status != NoMemory() && status->alive() ? &**status : nullptr;
}
}  // namespace

asc_code asc_status_code(const asc_status* status) {
  if (status == NoMemory()) return ASC_OUT_OF_MEMORY;
  if (status != nullptr && status->released()) return ASC_DESTROYED;
  const Failure* failure = FailureOf(status);
  return failure ? static_cast<asc_code>(failure->status.code()) : ASC_OK;
}

const char* asc_status_get_message(const asc_status* status) {
  if (status == NoMemory()) return asc::capi::kNoMemoryMessage;
  const Failure* failure = FailureOf(status);
  return failure ? failure->status.message().c_str() : "";
}

const char* asc_status_get_node(const asc_status* status) {
  const Failure* failure = FailureOf(status);
  return failure ? failure->status.node().c_str() : "";
}

const char* asc_status_get_hint(const asc_status* status) {
  const Failure* failure = FailureOf(status);
  return failure ? failure->status.hint().c_str() : "";
}

const char* asc_status_get_text(const asc_status* status) {
  if (status == NoMemory()) return "E5012: the system has no more memory";
  const Failure* failure = FailureOf(status);
  return failure ? failure->text.c_str() : "OK";
}

void asc_status_release(asc_status* status) {
  if (status != NoMemory()) asc_status::Release(status);
}
