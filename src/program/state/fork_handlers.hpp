//! ForkHandlers - the functions that a rank has registered with pthread_atfork.
//!
//! Any thread of the rank; the lock is held from prepare() to in_parent(), so that no other thread
//! of the rank registers meanwhile. In the child, the forking thread is the only one.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "program/base/program_calls.hpp"

namespace sorrel::program {

class ForkHandlers {
 public:
  /// Each may be null.
  struct Handler {
    void (*prepare)();
    void (*in_parent)();
    void (*in_child)();
    const void* owner;  ///< the module that has registered them, by an address in it
  };

  void add(const Handler& handler) {
    const std::lock_guard lock(mutex_);
    handlers_.push_back(handler);
  }

  [[nodiscard]] bool any() {
    const std::lock_guard lock(mutex_);
    return !handlers_.empty();
  }

  /// By address: for a rank whose memory is saved and restored.
  void save(ByteWriter& to) {
    const std::lock_guard lock(mutex_);
    to.add(handlers_.size());
    for (const Handler& handler : handlers_)
      to.add(handler);
  }

  void restore(ByteCursor& from) {
    const std::lock_guard lock(mutex_);
    for (auto left = from.take<std::size_t>(); left > 0 && from.is_good(); --left)
      handlers_.push_back(from.take<Handler>());
  }

  /// Before the end of a module.
  void remove_of(const void* owner) {
    const std::lock_guard lock(mutex_);
    std::erase_if(handlers_, [owner](const Handler& handler) { return handler.owner == owner; });
  }

  /// In reverse order of registration; the next two in that order.
  void prepare() {
    mutex_.lock();
    for (auto handler = handlers_.rbegin(); handler != handlers_.rend(); ++handler)
      call(handler->prepare);
  }

  void in_parent() {
    for (const Handler& handler : handlers_)
      call(handler.in_parent);
    mutex_.unlock();
  }

  void in_child() {
    for (const Handler& handler : handlers_)
      call(handler.in_child);
    mutex_.unlock();
  }

 private:
  static void call(void (*function)()) {
    if (function != nullptr) call_program(function);
  }

  std::mutex mutex_;
  std::vector<Handler> handlers_;
};

}  // namespace sorrel::program
