//! TaskQueue - the tasks of a thread that are ready and not begun.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "omp/kernel/spin_lock.hpp"
#include "omp/tasking/task.hpp"

namespace sorrel::omp {

/// Ready tasks: the queue's thread takes the newest, other threads the oldest. Any thread.
class TaskQueue {
 public:
  void push(Task& task);

  /// The newest, if it is a descendant of `ancestor` (null: any).
  Task* pop(const Task* ancestor);

  /// The oldest, if there are at least `least`.
  Task* steal(std::uint32_t least);

  /// The newest descendant of `ancestor`, at any position.
  Task* take_below(const Task& ancestor);

  /// Exact: a push that this does not see comes after what the caller did before.
  [[nodiscard]] bool is_empty() {
    lock_.lock();
    const bool is_empty = newest_ == nullptr;
    lock_.unlock();
    return is_empty;
  }

  /// While no other thread changes it.
  void check_invariants() const;

  /// Number of pushes: tells whether the contents are the same as before.
  [[nodiscard]] std::uint64_t push_count() const {
    return push_count_.load(std::memory_order_relaxed);  // a hint
  }

  [[nodiscard]] std::uint32_t seems() const {
    return count_.load(std::memory_order_relaxed);  // a hint
  }

 private:
  void unlink(Task& task);

  alignas(cache_line_bytes) std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> push_count_{0};
  SpinLock lock_;
  Task* newest_ = nullptr;
  Task* oldest_ = nullptr;
};

}  // namespace sorrel::omp
