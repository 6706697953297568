#include "core/timer.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace sorrel::core {

namespace {

bool later(const Timer* a, const Timer* b) {
  return a->due_ns > b->due_ns;
}

}  // namespace

void TimerQueue::add(Timer& timer) {
  look_count_ += timer.is_poll ? 1 : 0;
  heap_.push_back(&timer);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void TimerQueue::remove(Timer& timer) {
  const auto found = std::ranges::find(heap_, &timer);
  SORREL_ASSERT(found != heap_.end());
  look_count_ -= timer.is_poll ? 1 : 0;
  heap_.erase(found);
  std::ranges::make_heap(heap_, later);
}

int TimerQueue::run_due(Worker& worker, std::int64_t now_ns) {
  int count = 0;
  while (!heap_.empty() && heap_.front()->due_ns <= now_ns) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Timer& timer = *heap_.back();
    heap_.pop_back();
    look_count_ -= timer.is_poll ? 1 : 0;
    timer.run(worker, timer);
    ++count;
  }
  return count;
}

}  // namespace sorrel::core
