// Log messages go into a bounded queue that the host language drains: engine threads never call into it.
#ifndef ASC_CORE_BASE_LOG_H_
#define ASC_CORE_BASE_LOG_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.h"

namespace asc {

enum class LogLevel : int { kDebug = 10, kInfo = 20, kWarning = 30, kError = 40, kOff = 100 };

struct LogRecord {
  LogLevel level;
  std::string message;
};

// Messages below this level are dropped where they are made. Default: kWarning. Thread-safe, as all of this file.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

// Appends to the queue; when 10,000 messages wait, the oldest is dropped and counted.
void WriteLog(LogLevel level, std::string message);

// Takes everything that waits. A message about dropped records, if any, comes first.
std::vector<LogRecord> DrainLog();

template <typename... Args>
void Log(LogLevel level, const Args&... args) {
  if (LogEnabled(level)) WriteLog(level, Cat(args...));
}

}  // namespace asc

#endif  // ASC_CORE_BASE_LOG_H_
