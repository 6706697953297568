#include "stream.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fake_cuda {

namespace {

// Threads of streams use them until the process ends, so they have no end themselves: the
// destructor of a condition waits for its waiters.
std::mutex& mutex = *new std::mutex;
std::condition_variable& changed = *new std::condition_variable;

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
  changed.notify_all();
  thread_.join();
}

Issued Stream::issue(std::function<void()> body, unsigned delay_us, const Issued& after) {
  auto operation = std::make_shared<Operation>();
  operation->body = std::move(body);
  operation->delay_us = delay_us;
  {
    const std::lock_guard lock(mutex);
    if (after != nullptr) operation->after.push_back(after);
    if (is_legacy_) {
      for (Stream* stream : group_.blocking) {
        if (stream->last_ != nullptr) operation->after.push_back(stream->last_);
      }
      group_.last_legacy = operation;
    } else if ((flags_ & 1U) == 0 && group_.last_legacy != nullptr) {
      operation->after.push_back(group_.last_legacy);
    }
    queue_.push_back(operation);
    last_ = operation;
  }
  changed.notify_all();
  return operation;
}

Issued Stream::last() {
  const std::lock_guard lock(mutex);
  return last_;
}

void Stream::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] {
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
    changed.notify_all();
  }
}

bool is_done(const Issued& operation) {
  const std::lock_guard lock(mutex);
  return operation == nullptr || operation->is_done;
}

bool wait(const Issued& operation) {
  std::unique_lock lock(mutex);
  if (operation == nullptr || operation->is_done) return false;
  changed.wait(lock, [&] { return operation->is_done; });
  return true;
}

}  // namespace fake_cuda
