#include "omp/tasking/task_queue.hpp"

#include "base/check.hpp"

namespace sorrel::omp {

namespace {

/// Whether `task` is a descendant of `ancestor`, which is running.
bool is_below(const Task& task, const Task& ancestor) {
  const Task* at = &task;
  // A task's memory lives as long as that of its children, so every step is safe. The ancestor is
  // compared, not read.
  while (at->level > ancestor.level + 1)
    at = at->parent;
  return at->level == ancestor.level + 1 && at->parent == &ancestor;
}

}  // namespace

void TaskQueue::check_invariants() const {
  std::uint32_t count = 0;
  const Task* last = nullptr;
  for (const Task* task = oldest_; task != nullptr; last = task, task = task->after, ++count)
    SORREL_CHECK(task->before == last && count < seems(), "the links of task %u disagree", count);
  SORREL_CHECK(last == newest_ && count == seems(), "%u tasks, counted as %u", count, seems());
}

void TaskQueue::push(Task& task) {
  lock_.lock();
  task.before = newest_;
  task.after = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->after) = &task;
  newest_ = &task;
  // Relaxed: a hint, changed under the lock.
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  push_count_.store(push_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  lock_.unlock();
}

void TaskQueue::unlink(Task& task) {
  SORREL_ASSERT(seems() != 0);
  (task.before == nullptr ? oldest_ : task.before->after) = task.after;
  (task.after == nullptr ? newest_ : task.after->before) = task.before;
  count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

Task* TaskQueue::pop(const Task* ancestor) {
  if (seems() == 0) return nullptr;
  lock_.lock();
  Task* task = newest_;
  if (task != nullptr && ancestor != nullptr && !is_below(*task, *ancestor)) task = nullptr;
  if (task != nullptr) unlink(*task);
  lock_.unlock();
  return task;
}

Task* TaskQueue::steal(std::uint32_t least) {
  if (seems() < least) return nullptr;
  lock_.lock();
  Task* task = seems() < least ? nullptr : oldest_;
  if (task != nullptr) unlink(*task);
  lock_.unlock();
  return task;
}

Task* TaskQueue::take_below(const Task& ancestor) {
  if (seems() == 0) return nullptr;
  lock_.lock();
  Task* task = newest_;
  while (task != nullptr && !is_below(*task, ancestor))
    task = task->before;
  if (task != nullptr) unlink(*task);
  lock_.unlock();
  return task;
}

}  // namespace sorrel::omp
