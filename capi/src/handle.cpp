#include "capi/src/handle.h"

asc_string asc_bytes_get(const asc_bytes* bytes) {
  return asc::capi::Lend(bytes != nullptr && bytes->alive() ? std::string_view(**bytes)
                                                            : std::string_view(""));
}
void asc_bytes_retain(asc_bytes* bytes) { asc_bytes::Retain(bytes); }
void asc_bytes_release(asc_bytes* bytes) { asc_bytes::Release(bytes); }

int64_t asc_handle_count(void) { return asc::capi::live_handles.load(std::memory_order_relaxed); }
