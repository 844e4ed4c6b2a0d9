#include "core/runtime/stream.h"

#include <new>

#include "core/runtime/driver.h"

namespace asc {

std::shared_ptr<Stream> Stream::Create(const std::string& device_id) {
  return std::shared_ptr<Stream>(new Stream(Driver::ForDevice(device_id)));
}

void Stream::Enqueue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  if (running_) return;
  try {
    driver_->Post([self = shared_from_this()] { self->RunNext(); });
  } catch (...) {
    waiting_.pop_back();
    throw;
  }
  running_ = true;
}

void Stream::RunNext() {
  do {
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex_);
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
    work = nullptr;  // what it owns goes before anybody is told that it is done
  } while (!Finish());
}

bool Stream::Finish() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    running_ = false;
    changed_.notify_all();
    return true;
  }
  try {
    driver_->Post([self = shared_from_this()] { self->RunNext(); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool Stream::idle() const {
  const std::lock_guard lock(mutex_);
  return !running_;
}

void Stream::Synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !running_; });
}

bool Stream::TryRunInline(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    if (running_) return false;
    running_ = true;
  }
  work();
  if (!Finish()) RunNext();
  return true;
}

}  // namespace asc
