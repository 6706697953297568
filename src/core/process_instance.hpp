//! ProcessInstance - the one object of its type in a process, made at its first use, whose threads
//! use it until the process ends.
//!
//! A child process has none of its parent's threads: it makes an object of its own. The old one
//! stays, because the child may be inside one of its calls. `Object` has deregister(), called as
//! the process that made it ends, and a static on_fork(), called in children. Any thread. Ordering
//! label: (P) the object is published.
#pragma once

#include <atomic>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "os/thread.hpp"

namespace sorrel::core {

template <class Object>
class ProcessInstance {
 public:
  /// Null if it has not been made.
  [[nodiscard]] static Object* get_if_made() {
    // (P) acquire.
    return object_.load(std::memory_order_acquire);
  }

  /// The object is used no more: the next get() makes another. Null if there was none.
  static Object* retire() { return object_.exchange(nullptr, std::memory_order_acq_rel); }

  /// `make` returns a new object, which is never freed.
  [[nodiscard]] static Object& get(Object* (*make)()) {
    Object* object = get_if_made();
    return object != nullptr ? *object : get_slow(make);
  }

 private:
  [[gnu::noinline]] static Object& get_slow(Object* (*make)()) {
    // One thread makes it; others wait the 0.1 ms.
    while (is_making_.test_and_set(std::memory_order_acquire))
      os::yield_core();
    Object* object = get_if_made();
    if (object == nullptr) {
      object = make();
      process_ = getpid();
      // (P) release.
      object_.store(object, std::memory_order_release);
      static std::atomic_flag has_handlers;
      if (!has_handlers.test_and_set(std::memory_order_relaxed)) {
        pthread_atfork(nullptr, nullptr, forget);
        std::atexit(deregister);
      }
    }
    is_making_.clear(std::memory_order_release);
    return *object;
  }

  static void forget() {
    object_.store(nullptr, std::memory_order_relaxed);
    is_making_.clear(std::memory_order_relaxed);
    Object::on_fork();
  }

  static void deregister() {
    Object* object = get_if_made();
    if (object != nullptr && process_ == getpid()) object->deregister();
  }

  static inline std::atomic<Object*> object_{nullptr};
  static inline std::atomic_flag is_making_;
  static inline pid_t process_ = 0;
};

}  // namespace sorrel::core
