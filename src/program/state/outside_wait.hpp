//! OutsideWait - a wait of a rank outside of MPI, during which its worker runs other ranks.
//!
//! Written by the rank around the wait. Read by the thread that reports ranks that no event will
//! wake (runtime/end/stall_watch.hpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::program {

struct OutsideWait {
  /// The C library's function.
  const char* call;
  /// Whether only an event ends the wait, and no time limit.
  bool is_endless;
};

/// What is waited for, where the call does not say it.
struct OutsideSubject {
  /// "GPU stream"; null: the call says it.
  const char* kind = nullptr;
  /// The program's handle of it; 0: it has none.
  std::uint64_t handle = 0;
  /// Since when, by os::monotonic_ns().
  std::int64_t began_ns = 0;
};

/// The wait of a rank at a moment.
struct OutsideState {
  /// Null: the rank runs, or waits in MPI.
  const OutsideWait* wait = nullptr;
  OutsideSubject subject = {};
};

class OutsideWaitMark {
 public:
  void set(const OutsideWait& wait, const OutsideSubject& subject = {}) {
    kind_.store(subject.kind, std::memory_order_relaxed);
    handle_.store(subject.handle, std::memory_order_relaxed);
    began_ns_.store(subject.began_ns, std::memory_order_relaxed);
    wait_.store(&wait, std::memory_order_relaxed);
    if (!was_any_set_.load(std::memory_order_relaxed))
      was_any_set_.store(true, std::memory_order_relaxed);
  }

  void clear() { wait_.store(nullptr, std::memory_order_relaxed); }

  /// Any thread. On another one than the rank's worker, the subject may be that of another wait.
  [[nodiscard]] OutsideState state() const {
    return {.wait = wait_.load(std::memory_order_relaxed),
            .subject = {.kind = kind_.load(std::memory_order_relaxed),
                        .handle = handle_.load(std::memory_order_relaxed),
                        .began_ns = began_ns_.load(std::memory_order_relaxed)}};
  }

  /// Any thread: whether a rank of this process has waited outside of MPI since the last call.
  [[nodiscard]] static bool take_any() {
    return was_any_set_.load(std::memory_order_relaxed) &&
           was_any_set_.exchange(false, std::memory_order_relaxed);
  }

 private:
  // All accesses are relaxed: the pointers are hints for a report and point to constants.
  std::atomic<const OutsideWait*> wait_{nullptr};
  std::atomic<const char*> kind_{nullptr};
  std::atomic<std::uint64_t> handle_{0};
  std::atomic<std::int64_t> began_ns_{0};
  static inline std::atomic<bool> was_any_set_{false};
};

}  // namespace sorrel::program
