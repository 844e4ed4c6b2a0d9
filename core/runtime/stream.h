// Streams: in-order queues of work for one device, and events that order them with each other.
#ifndef ASC_CORE_RUNTIME_STREAM_H_
#define ASC_CORE_RUNTIME_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/status.h"

namespace asc {

class Driver;

// Thread-safe. Work on a stream keeps its order; a piece that fails does not stop the stream.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // A stream that feeds the driver thread of the device with this id.
  static std::shared_ptr<Stream> Create(const std::string& device_id);

  // `work` runs on the device's driver thread after everything enqueued before.
  void Enqueue(std::function<void()> work);
  // True when nothing waits and nothing runs.
  bool idle() const;
  // Blocks until everything enqueued so far is done.
  void Synchronize();
  // Runs `work` on the calling thread if the stream is idle, as the stream's work; false when it is not.
  bool TryRunInline(const std::function<void()>& work);

 private:
  explicit Stream(std::shared_ptr<Driver> driver) : driver_(std::move(driver)) {}
  void RunNext();
  // False when the next piece could not be posted for want of memory: the caller must run it.
  bool Finish();

  std::shared_ptr<Driver> driver_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool running_ = false;
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_STREAM_H_
