//! OutsideWait - a wait of a rank outside of MPI, during which its worker runs other ranks.
//!
//! Written by the rank around the wait. Read by the thread that reports ranks that no event will
//! wake (runtime/end/stall_watch.hpp).
#pragma once

#include <atomic>

namespace sorrel::program {

struct OutsideWait {
  /// The C library's function.
  const char* call;
  /// Whether only an event ends the wait, and no time limit.
  bool is_endless;
};

class OutsideWaitMark {
 public:
  void set(const OutsideWait& wait) {
    wait_.store(&wait, std::memory_order_relaxed);
    if (!was_any_set_.load(std::memory_order_relaxed))
      was_any_set_.store(true, std::memory_order_relaxed);
  }

  void clear() { wait_.store(nullptr, std::memory_order_relaxed); }

  /// Any thread; null for a rank that runs or waits in MPI.
  [[nodiscard]] const OutsideWait* wait() const { return wait_.load(std::memory_order_relaxed); }

  /// Any thread: whether a rank of this process has waited outside of MPI since the last call.
  [[nodiscard]] static bool take_any() {
    return was_any_set_.load(std::memory_order_relaxed) &&
           was_any_set_.exchange(false, std::memory_order_relaxed);
  }

 private:
  // All accesses are relaxed: the pointers are hints for a report and point to constants.
  std::atomic<const OutsideWait*> wait_{nullptr};
  static inline std::atomic<bool> was_any_set_{false};
};

}  // namespace sorrel::program
