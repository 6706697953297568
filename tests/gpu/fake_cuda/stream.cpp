#include "stream.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fake_cuda {

namespace {

// Threads of streams use it until the process ends, so it has no end itself.
std::mutex& mutex = *new std::mutex;

}  // namespace

Stream::Stream(StreamGroup& group, unsigned flags, bool is_legacy)
    : group_(group), flags_(flags), is_legacy_(is_legacy) {
  const std::lock_guard lock(mutex);
  if (!is_legacy && (flags & 1U) == 0) group_.blocking.insert(this);
  thread_ = std::thread([this] { run(); });
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex);
    ends_ = true;
    group_.blocking.erase(this);
  }
  changed_.notify_one();
  thread_.join();
}

/// With the lock.
void Stream::put_behind(Operation& operation, const Issued& earlier) {
  if (earlier == nullptr || earlier->is_done) return;
  operation.after.push_back(earlier);
  earlier->waiters.push_back(&changed_);
}

Issued Stream::issue(std::function<void()> body, unsigned delay_us, const Issued& after) {
  auto operation = std::make_shared<Operation>();
  operation->body = std::move(body);
  operation->delay_us = delay_us;
  {
    const std::lock_guard lock(mutex);
    put_behind(*operation, after);
    if (is_legacy_) {
      for (Stream* stream : group_.blocking)
        put_behind(*operation, stream->last_);
      group_.last_legacy = operation;
    } else if ((flags_ & 1U) == 0) {
      put_behind(*operation, group_.last_legacy);
    }
    queue_.push_back(operation);
    last_ = operation;
  }
  changed_.notify_one();
  return operation;
}

Issued Stream::last() {
  const std::lock_guard lock(mutex);
  return last_;
}

void Stream::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed_.wait(lock, [this] {
      if (queue_.empty()) return ends_;
      return std::ranges::all_of(queue_.front()->after,
                                 [](const Issued& earlier) { return earlier->is_done; });
    });
    if (queue_.empty()) return;
    const Issued operation = queue_.front();
    lock.unlock();
    if (operation->delay_us != 0)
      std::this_thread::sleep_for(std::chrono::microseconds(operation->delay_us));
    if (operation->body) operation->body();
    lock.lock();
    queue_.pop_front();
    operation->is_done = true;
    operation->after.clear();
    operation->body = nullptr;
    // With the lock: a waiter on the stack of a thread ends with its wait.
    for (std::condition_variable* waiter : std::exchange(operation->waiters, {}))
      waiter->notify_one();
  }
}

bool is_done(const Issued& operation) {
  const std::lock_guard lock(mutex);
  return operation == nullptr || operation->is_done;
}

bool wait(const Issued& operation) {
  std::unique_lock lock(mutex);
  if (operation == nullptr || operation->is_done) return false;
  std::condition_variable done;
  operation->waiters.push_back(&done);
  done.wait(lock, [&] { return operation->is_done; });
  return true;
}

}  // namespace fake_cuda
