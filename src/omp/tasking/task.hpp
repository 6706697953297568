//! Task - an explicit OpenMP task, or the implicit one of a thread; README.md, "Tasks".
//!
//! Created and run by threads of one team. `blockers` counts unfinished predecessors; at 0 the task
//! goes into the queue of the thread that released it. The memory of a task lives until the task
//! has finished, the memory of all its children is freed, and no dependence table refers to it.
//! Ordering labels: (F) a finished child, (B) blockers.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "omp/icv/icv.hpp"
#include "omp/kernel/spin_lock.hpp"

namespace sorrel::omp {

class DependTable;
struct Task;
struct Team;

/// A set of tasks that are awaited, or cancelled, together.
struct TaskGroup {
  TaskGroup* outer = nullptr;
  std::uintptr_t* reductions = nullptr;
  void* llvm_reduction = nullptr;  ///< of programs for LLVM's library
  /// Created for the task reductions of a region, loop or sections: no taskgroup construct.
  bool is_of_construct = false;
  std::atomic<std::uint64_t> unfinished{0};
  std::atomic<bool> has_request{false};  ///< to be cancelled

  /// Requests to cancel the group of the innermost taskgroup construct.
  void cancel() {
    // Relaxed: a request that may take effect later; nothing is read through it.
    construct_group().has_request.store(true, std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_cancelled() const {
    return has_request.load(std::memory_order_relaxed) ||
           (is_of_construct && outer != nullptr &&
            outer->has_request.load(std::memory_order_relaxed));
  }

 private:
  TaskGroup& construct_group() { return is_of_construct && outer != nullptr ? *outer : *this; }
};

/// An entry in a task's list of tasks to unblock.
struct Successor {
  Task* task = nullptr;
  Successor* next = nullptr;
  bool is_inline = false;
};

struct alignas(cache_line_bytes) Task {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  Task* parent = nullptr;
  TaskGroup* taskgroup = nullptr;
  Team* team = nullptr;
  std::uint32_t level = 0;  ///< 0: implicit
  std::uint32_t bytes = 0;  ///< of its block of memory
  bool is_final = false;
  bool has_dependences = false;
  bool is_detached = false;
  bool has_copies = false;    ///< its body destroys copies of objects
  bool is_discarded = false;  ///< cancelled: only the end of its body has run
  bool is_cancelled = false;  ///< to a tool: its body ends at a cancellation point
  bool has_finished = false;  ///< under `lock`
  Icv icv;
  // In a queue: under the queue's lock.
  Task* before = nullptr;
  Task* after = nullptr;

  // As a parent: `created` is accessed only by the task's own thread.
  std::uint32_t created = 0;
  DependTable* table = nullptr;
  /// Low half: children that have finished; high half: children whose memory is freed, less
  /// `created` once the task itself is done.
  std::atomic<std::uint64_t> family{0};

  // As a task with dependences.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> blockers{1};
  std::atomic<std::uint32_t> references{1};
  /// Unfinished parts of a task with a detach clause: body and event.
  std::atomic<std::uint32_t> parts{1};
  SpinLock lock;
  Successor* successors = nullptr;
  std::uint32_t predecessors = 0;  ///< counted by the thread that creates it
  Successor own_successor;         ///< its first entry in a predecessor's list

  /// (F) acquire, pairs with finish(): the effects of the children.
  [[nodiscard]] bool children_done(std::memory_order order = std::memory_order_acquire) const {
    return static_cast<std::uint32_t>(family.load(order)) == created;
  }
};

}  // namespace sorrel::omp
