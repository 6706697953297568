#include "omp/sched/wait_list.hpp"

#include "base/check.hpp"

namespace sorrel::omp {

bool WaitList::add_unless(Thread& thread, const Condition& condition) {
  lock_.lock();
  count_.increment();
  if (thread.is_listed || condition.holds()) {
    const bool was_listed = thread.is_listed;
    count_.decrement();
    lock_.unlock();
    return was_listed;
  }
  thread.is_listed = true;
  thread.wait_key = condition.key;
  thread.next_waiting = nullptr;
  (first_ == nullptr ? first_ : last_->next_waiting) = &thread;
  last_ = &thread;
  lock_.unlock();
  return true;
}

Thread* WaitList::unlink(Thread* before, Thread& thread) {
  SORREL_ASSERT(thread.is_listed);
  Thread* next = thread.next_waiting;
  (before == nullptr ? first_ : before->next_waiting) = next;
  if (last_ == &thread) last_ = before;
  thread.is_listed = false;
  count_.decrement();
  return next;
}

bool WaitList::take_thread(Thread& thread) {
  lock_.lock();
  Thread* before = nullptr;
  Thread* at = first_;
  for (; at != nullptr && at != &thread; before = at, at = at->next_waiting) {
  }
  if (at != nullptr) unlink(before, thread);
  lock_.unlock();
  return at != nullptr;
}

Thread* WaitList::take(const void* key, bool only_one, void (*wake_native)(Thread&)) {
  Thread* woken = nullptr;
  Thread** end = &woken;
  lock_.lock();
  Thread* before = nullptr;
  for (Thread* at = first_; at != nullptr;) {
    if (key != nullptr && at->wait_key != key) {
      before = at;
      at = at->next_waiting;
      continue;
    }
    Thread* next = unlink(before, *at);
    if (at->is_native()) {
      // Woken under the lock: afterwards it may already have left, or wait elsewhere.
      wake_native(*at);
    } else {
      *end = at;
      at->next_woken = nullptr;
      end = &at->next_woken;
    }
    at = next;
    if (only_one) break;
  }
  lock_.unlock();
  return woken;
}

}  // namespace sorrel::omp
