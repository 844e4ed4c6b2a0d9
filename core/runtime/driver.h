// The driver: a device's one thread that owns the team of threads. Work that needs the team goes through it (libgomp keeps a
// team for each thread that forks one: callers must not).
#ifndef ASC_CORE_RUNTIME_DRIVER_H_
#define ASC_CORE_RUNTIME_DRIVER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/functional/function_ref.h"

namespace asc {

// Thread-safe; lives as long as the process. The thread starts with the first piece of work.
class Driver {
 public:
  static std::shared_ptr<Driver> ForDevice(const std::string& device_id);

  // Pieces run one after the other, in the order of posting. They must not throw.
  void Post(std::function<void()> work);
  // Posts and waits; on the driver's own thread it runs at once. What the work throws (out of memory) is thrown here.
  void RunAndWait(absl::FunctionRef<void()> work);
  bool OnDriverThread() const;

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool started_ = false;
};

}  // namespace asc

#endif  // ASC_CORE_RUNTIME_DRIVER_H_
