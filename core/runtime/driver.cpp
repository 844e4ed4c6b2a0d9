#include "core/runtime/driver.h"

#include <exception>
#include <map>
#include <thread>

namespace asc {
namespace {
thread_local const Driver* current_driver = nullptr;
}  // namespace

std::shared_ptr<Driver> Driver::ForDevice(const std::string& device_id) {
  // Never destroyed: a detached thread serves each one until the process ends.
  static auto* mutex = new std::mutex;
  static auto* drivers = new std::map<std::string, std::shared_ptr<Driver>>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<Driver>& driver = (*drivers)[device_id];
  if (!driver) driver = std::make_shared<Driver>();
  return driver;
}

void Driver::Post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (!started_) {
    std::thread([this] { Loop(); }).detach();
    started_ = true;
  }
  queue_.push_back(std::move(work));
  changed_.notify_one();
}

void Driver::RunAndWait(absl::FunctionRef<void()> work) {
  if (OnDriverThread()) {
    work();
    return;
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr thrown;
  Post([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    // Notifying under the lock keeps the waiter from destroying the condition variable too early.
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done; });
  if (thrown) std::rethrow_exception(thrown);
}

bool Driver::OnDriverThread() const { return current_driver == this; }

void Driver::Loop() {
  current_driver = this;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty(); });
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace asc
