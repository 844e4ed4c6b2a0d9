#include "asc/log.h"

#include "capi/src/handle.h"
#include "core/base/log.h"

using asc::LogLevel;
using asc::LogRecord;
using asc::Ok;
using asc::Status;
using asc::capi::Guard;

struct asc_log_records : asc::capi::Handle<asc_log_records, std::vector<LogRecord>> {
  static constexpr std::string_view kName = "list of log records";
};

static_assert(ASC_LOG_DEBUG == static_cast<int>(LogLevel::kDebug) &&
              ASC_LOG_INFO == static_cast<int>(LogLevel::kInfo) &&
              ASC_LOG_WARNING == static_cast<int>(LogLevel::kWarning) &&
              ASC_LOG_ERROR == static_cast<int>(LogLevel::kError) &&
              ASC_LOG_OFF == static_cast<int>(LogLevel::kOff));

asc_status* asc_log_set_level(asc_log_level level) {
  return Guard([&]() -> Status {
    if (level != ASC_LOG_DEBUG && level != ASC_LOG_INFO && level != ASC_LOG_WARNING &&
        level != ASC_LOG_ERROR && level != ASC_LOG_OFF) {
      return asc::InvalidArgument(
          "a log level is 10 (debug), 20 (info), 30 (warning), 40 (error) or 100 (off), given ",
          level);
    }
    asc::SetLogLevel(static_cast<LogLevel>(level));
    return Ok();
  });
}

asc_status* asc_log_take_records(asc_log_records** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_log_records::New(asc::DrainLog());
    return Ok();
  });
}

asc_status* asc_log_records_get_count(const asc_log_records* records, size_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(records);
    ASC_NEED(out);
    *out = (*records)->size();
    return Ok();
  });
}

asc_status* asc_log_records_get(const asc_log_records* records, size_t index, asc_log_level* level,
                                asc_string* message) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(records);
    ASC_NEED(level);
    ASC_NEED(message);
    if (index >= (*records)->size()) {
      return asc::Error(asc::Code::kOutOfRange, "log record ", index, " of ", (*records)->size());
    }
    const LogRecord& record = (**records)[index];
    *level = static_cast<asc_log_level>(record.level);
    *message = asc::capi::Lend(record.message);
    return Ok();
  });
}

void asc_log_records_retain(asc_log_records* records) { asc_log_records::Retain(records); }
void asc_log_records_release(asc_log_records* records) { asc_log_records::Release(records); }
