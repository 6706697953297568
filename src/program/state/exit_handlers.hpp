//! ExitHandlers - the functions that a rank has registered with atexit, on_exit, at_quick_exit and
//! for the end of its thread.
//!
//! Used by the rank alone. Runs last in, first out. A handler may register further handlers, or
//! call exit(), which runs the remaining ones.
#pragma once

#include <vector>

namespace sorrel::program {

class ExitHandlers {
 public:
  using AtExit = void (*)(void* argument);
  using OnExit = void (*)(int status, void* argument);

  void add(AtExit function, void* argument) { at_exit_.push_back({function, nullptr, argument}); }

  void add(OnExit function, void* argument) { at_exit_.push_back({nullptr, function, argument}); }

  void add_quick(AtExit function, void* argument) {
    quick_.push_back({function, nullptr, argument});
  }

  /// Destructors of thread_local objects, which run before all others.
  void add_thread_local(AtExit function, void* argument) {
    thread_local_.push_back({function, nullptr, argument});
  }

  /// May suspend, because a handler may.
  void run(int status);
  void run_quick();

 private:
  struct Handler {
    AtExit at_exit;
    OnExit on_exit;
    void* argument;
  };

  static void run(std::vector<Handler>& handlers, int status);

  std::vector<Handler> at_exit_;
  std::vector<Handler> quick_;
  std::vector<Handler> thread_local_;
};

}  // namespace sorrel::program
