//! OutsideWait - what a rank waits for outside of MPI while its worker runs other ranks.
//!
//! Written by the rank around the wait, read by the thread that reports ranks that nothing will
//! wake (runtime/stall_watch.hpp).
#pragma once

#include <atomic>

namespace sorrel::program {

struct OutsideWait {
  /// The C library's function.
  const char* call;
  /// Ends only when something else happens, not by itself after a time.
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

  /// Any thread: whether a rank of this process has waited so since the last time this was asked.
  [[nodiscard]] static bool take_any() {
    return was_any_set_.load(std::memory_order_relaxed) &&
           was_any_set_.exchange(false, std::memory_order_relaxed);
  }

 private:
  // Relaxed, all of them: hints for a report, to constants.
  std::atomic<const OutsideWait*> wait_{nullptr};
  static inline std::atomic<bool> was_any_set_{false};
};

}  // namespace sorrel::program
