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
#include "base/check.hpp"
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
    SORREL_ASSERT(handler.owner != nullptr, "handlers of no module");
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

  /// Outside of a fork: each handler is of a module, and no fork holds the lock.
  void check_invariants() const {
    const std::lock_guard lock(mutex_);
    SORREL_CHECK(!is_forking_, "a fork has not ended");
    for (const Handler& handler : handlers_)
      SORREL_CHECK(handler.owner != nullptr, "one of %zu handlers is of no module",
                   handlers_.size());
  }

  /// Before the end of a module.
  void remove_of(const void* owner) {
    const std::lock_guard lock(mutex_);
    std::erase_if(handlers_, [owner](const Handler& handler) { return handler.owner == owner; });
  }

  /// In reverse order of registration; the next two in that order.
  void prepare() {
    mutex_.lock();
    SORREL_ASSERT(!is_forking_, "a fork begins in another one");
    is_forking_ = true;
    for (auto handler = handlers_.rbegin(); handler != handlers_.rend(); ++handler)
      call(handler->prepare);
  }

  void in_parent() {
    for (const Handler& handler : handlers_)
      call(handler.in_parent);
    end_fork();
  }

  void in_child() {
    for (const Handler& handler : handlers_)
      call(handler.in_child);
    end_fork();
  }

 private:
  void end_fork() {
    SORREL_ASSERT(is_forking_, "a fork ends that has not begun");
    is_forking_ = false;
    mutex_.unlock();
  }

  static void call(void (*function)()) {
    if (function != nullptr) call_program(function);
  }

  mutable std::mutex mutex_;
  std::vector<Handler> handlers_;
  /// From prepare() to the end of in_parent() or in_child(); written under the lock.
  bool is_forking_ = false;
};

}  // namespace sorrel::program
