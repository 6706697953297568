//! ExitHandlers - the functions that a rank has registered with atexit, on_exit, at_quick_exit and
//! for the end of its thread.
//!
//! Any thread of the rank registers; the others are called by the rank alone, or while it opens or
//! closes libraries. Runs last in, first out. A handler may register further handlers, or call
//! exit(), which runs the remaining ones. `owner` is the module that has registered a function, by
//! an address in it.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"

namespace sorrel::program {

class ExitHandlers {
 public:
  using AtExit = void (*)(void* argument);
  using OnExit = void (*)(int status, void* argument);

  void add(AtExit function, void* argument, const void* owner) {
    add(at_exit_, {function, nullptr, argument, owner});
  }

  void add(OnExit function, void* argument) {
    add(at_exit_, {nullptr, function, argument, nullptr});
  }

  void add_quick(AtExit function, void* argument, const void* owner) {
    add(quick_, {function, nullptr, argument, owner});
  }

  /// Destructors of thread_local objects, which run before all others.
  void add_thread_local(AtExit function, void* argument, const void* owner) {
    add(thread_local_, {function, nullptr, argument, owner});
  }

  /// Whether there is a destructor of a thread_local object of a module for which `is_owner(owner)`
  /// holds.
  template <class IsOwner>
  [[nodiscard]] bool has_thread_local(IsOwner is_owner) {
    const std::lock_guard lock(mutex_);
    return std::any_of(thread_local_.begin(), thread_local_.end(),
                       [&](const Handler& handler) { return is_owner(handler.owner); });
  }

  /// All of them, by address: for a rank whose memory is saved and restored.
  void save(ByteWriter& to);
  void restore(ByteCursor& from);

  /// May suspend, because a handler may.
  void run(int status);
  void run_quick();

  /// Before the end of one module: its own handlers; those for quick_exit() are forgotten.
  void run_of(const void* owner);

 private:
  struct Handler {
    AtExit at_exit;
    OnExit on_exit;
    void* argument;
    const void* owner;
  };

  using Handlers = std::vector<Handler>;

  void add(Handlers& handlers, const Handler& handler) {
    const std::lock_guard lock(mutex_);
    handlers.push_back(handler);
  }

  [[nodiscard]] bool take_last(Handlers& handlers, const void* owner, Handler& taken);
  static void call(const Handler& handler, int status);
  void run(Handlers& handlers, int status);

  std::mutex mutex_;
  Handlers at_exit_;
  Handlers quick_;
  Handlers thread_local_;
};

}  // namespace sorrel::program
