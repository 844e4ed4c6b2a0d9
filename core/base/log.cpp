#include "core/base/log.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace asc {
namespace {
constexpr size_t kMostWaiting = 10000;

struct Queue {
  std::atomic<int> level{static_cast<int>(LogLevel::kWarning)};
  std::mutex mutex;
  std::deque<LogRecord> records;
  size_t dropped = 0;
};

Queue& GlobalQueue() {
  static Queue* queue = new Queue;  // never destroyed: threads may log during exit
  return *queue;
}
}  // namespace

void SetLogLevel(LogLevel level) { GlobalQueue().level.store(static_cast<int>(level), std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) {
  return static_cast<int>(level) >= GlobalQueue().level.load(std::memory_order_relaxed);
}

void WriteLog(LogLevel level, std::string message) {
  Queue& queue = GlobalQueue();
  const std::lock_guard lock(queue.mutex);
  if (queue.records.size() >= kMostWaiting) {
    queue.records.pop_front();
    ++queue.dropped;
  }
  queue.records.push_back({level, std::move(message)});
}

std::vector<LogRecord> DrainLog() {
  Queue& queue = GlobalQueue();
  const std::lock_guard lock(queue.mutex);
  std::vector<LogRecord> out;
  if (queue.dropped > 0) out.push_back({LogLevel::kWarning, Cat(queue.dropped, " log messages were dropped")});
  queue.dropped = 0;
  out.insert(out.end(), std::make_move_iterator(queue.records.begin()), std::make_move_iterator(queue.records.end()));
  queue.records.clear();
  return out;
}

}  // namespace asc
