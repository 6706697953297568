//! FiberPool - fibers of one worker for tasks that may wait, on behalf of another fiber.
//!
//! The worker's thread only. A fiber runs one task after the other and waits in the pool in
//! between. The latest one to return is the first to be taken: its stack is in the caches. The pool
//! has as many fibers as tasks have been in progress at once; it grows by a slab of stacks and
//! never shrinks. Does not know what the tasks do (mpi/collectives/operation_pool.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/worker.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::core {

class FiberPool {
 public:
  /// `stack_bytes` of each fiber's stack.
  FiberPool(Worker& worker, std::size_t stack_bytes);

  /// The worker runs no fiber any more. A task that has not ended never will.
  ~FiberPool();

  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// Begins task(argument) at once. When it first waits, or has ended, the fibers that are ready
  /// run, the caller as the last one; so all fibers that start tasks do so before any goes on. A
  /// task that can continue goes first (Fiber::goes_first).
  /// For the layers above the task is `owner`: it has its user, thread pointer and settings. Until
  /// the task ends, `owner` must not be lent (has_task_of()): two threads would use one thread
  /// control block. False without memory for a further stack. May suspend.
  [[nodiscard]] bool run(const Fiber& owner, FiberEntry task, void* argument);

  /// Whether a task in progress is `owner`. O(fibers of the pool).
  [[nodiscard]] bool has_task_of(const Fiber& owner) const;

  struct Stack {
    const os::StackSlab* slab;
    std::size_t index;
  };

  /// The stack of a fiber of the pool; nullopt for other fibers. Also in a signal handler of the
  /// worker's thread.
  [[nodiscard]] std::optional<Stack> stack_of(const Fiber& fiber) const;

 private:
  struct Member {
    Fiber fiber;
    FiberPool* pool = nullptr;
    const Fiber* owner = nullptr;  ///< null between two tasks
    FiberEntry task = nullptr;
    void* argument = nullptr;
    Member* next_idle = nullptr;
  };

  static void run_tasks(void* argument);
  bool grow();

  Worker& worker_;
  const std::size_t stack_bytes_;
  Member* idle_ = nullptr;
  std::vector<std::unique_ptr<os::StackSlab>> slabs_;
  /// In the order of the slabs and of their stacks.
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace sorrel::core
