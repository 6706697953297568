//! CoreSpread - moves a woken helper to another core than that of its waker.
//!
//! If no core is idle, the kernel runs a woken or new thread on its waker's core. If the load on
//! the other cores has less weight, niced for example, the two belong on different cores. But the
//! kernel migrates only threads that wait, now and then, and these two take turns: one sleeps
//! whenever the other runs. So they may share a core for their whole life. One object per helper.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::governor {

class CoreSpread {
 public:
  /// Any thread, before it wakes or starts the helper.
  void record_waker();

  /// The helper, awake again. If it is on its waker's core, it moves to the `number`-th core after
  /// that one, of those that it may use. Does so rarely, because the kernel may have other reasons.
  void leave_waker(std::uint32_t number);

 private:
  // Relaxed: a hint.
  std::atomic<int> caller_cpu_{-1};
  std::int64_t moved_ns_ = 0;
};

}  // namespace sorrel::governor
