//! Apart - a helper that is called goes on on another core than the one it was called from.
//!
//! Where no core is idle the kernel has a thread that wakes, or begins, run on its waker's core. If
//! what keeps the others busy is of less weight, niced say, the two belong on different cores; but
//! the kernel moves only threads that wait, now and then, and these two take turns: one sleeps
//! whenever the other runs. So they may share a core for as long as they live. One object for each
//! helper.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::loop {

class Apart {
 public:
  /// Any thread, before it wakes or starts the helper.
  void note_caller();

  /// The helper, awake again: on its caller's core it moves to the `number`-th one after that, of
  /// those it may use; now and then, since what else the kernel had in mind is its to know.
  void go_on(std::uint32_t number);

 private:
  // Relaxed: a hint.
  std::atomic<int> caller_cpu_{-1};
  std::int64_t moved_ns_ = 0;
};

}  // namespace sorrel::loop
