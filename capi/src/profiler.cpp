#include "asc/profiler.h"

#include <cmath>

#include "capi/src/handle.h"
#include "core/base/parallel.h"
#include "core/runtime/driver.h"
#include "core/runtime/profile_report.h"

using asc::InvalidArgument;
using asc::Ok;
using asc::Profiler;
using asc::Status;
using asc::capi::Guard;

namespace asc::capi {
namespace {
struct ProfilerState {
  ProfilerState() : profiler(std::make_shared<Profiler>()) {}
  ~ProfilerState() { profiler->Stop().ok(); }  // not collecting is fine
  ProfilerState(const ProfilerState&) = delete;
  ProfilerState& operator=(const ProfilerState&) = delete;

  std::shared_ptr<Profiler> profiler;
};

Status CheckPeak(double peak, std::string_view name) {
  if (peak >= 0 && std::isfinite(peak)) return Ok();
  return InvalidArgument(name, " must be positive, or 0 for not known, given ", peak);
}
}  // namespace
}  // namespace asc::capi

struct asc_profiler : asc::capi::Handle<asc_profiler, asc::capi::ProfilerState> {
  static constexpr std::string_view kName = "profiler";
};

asc_status* asc_profiler_create(asc_profiler** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_profiler::New();
    return Ok();
  });
}

void asc_profiler_retain(asc_profiler* profiler) { asc_profiler::Retain(profiler); }
void asc_profiler_release(asc_profiler* profiler) { asc_profiler::Release(profiler); }

asc_status* asc_profiler_start(asc_profiler* profiler) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    return (*profiler)->profiler->Start();
  });
}

asc_status* asc_profiler_stop(asc_profiler* profiler) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    return (*profiler)->profiler->Stop();
  });
}

asc_status* asc_profiler_set_peaks(asc_profiler* profiler, double flops_per_second,
                                   double bytes_per_second) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    ASC_RETURN_IF_ERROR(asc::capi::CheckPeak(flops_per_second, "flops_per_second"));
    ASC_RETURN_IF_ERROR(asc::capi::CheckPeak(bytes_per_second, "bytes_per_second"));
    (*profiler)->profiler->SetPeaks({flops_per_second, bytes_per_second}, false);
    return Ok();
  });
}

asc_status* asc_profiler_measure_peaks(asc_profiler* profiler, int32_t threads) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    if (threads < 0) return InvalidArgument("threads must not be negative, given ", threads);
    const int cores = asc::AvailableCores();
    asc::Result<asc::MachinePeaks> peaks = asc::InternalError("the measurement did not happen");
    // The team belongs to the driver's thread.
    asc::Driver::ForDevice("cpu")->RunAndWait([&] {
      const asc::ScopedThreads team(threads == 0 ? cores : std::min(threads, cores));
      peaks = asc::MeasurePeaks(asc::HostAllocator());
    });
    ASC_RETURN_IF_ERROR(peaks.status());
    (*profiler)->profiler->SetPeaks(*peaks, true);
    return Ok();
  });
}

asc_status* asc_profiler_create_report(const asc_profiler* profiler, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    ASC_NEED(out);
    *out = asc_bytes::New(asc::ProfileReport((*profiler)->profiler->Take()));
    return Ok();
  });
}

asc_status* asc_profiler_create_trace(const asc_profiler* profiler, asc_bytes** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(profiler);
    ASC_NEED(out);
    *out = asc_bytes::New(asc::ProfileTrace((*profiler)->profiler->Take()));
    return Ok();
  });
}
