#include "runtime/page_follower.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"

namespace sorrel::runtime {

PageFollower::~PageFollower() {
  if (!has_thread_) return;
  is_stopping_.store(true, std::memory_order_relaxed);
  // Release, pairs with run().
  news_.fetch_add(1, std::memory_order_release);
  os::futex_wake_one(news_);
  // Acquire, pairs with thread_main(): the thread no longer touches this object.
  while (has_ended_.load(std::memory_order_acquire) == 0)
    os::futex_wait(has_ended_, 0, -1);
}

void PageFollower::follow(std::size_t place, std::vector<os::MemoryRange> memory, int node) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(journeys_, [place](const Journey& journey) { return journey.place == place; });
  if (!has_thread_ && !os::start_background_thread(thread_main, this)) return;
  has_thread_ = true;
  ++report_.rank_count;
  journeys_.push_back({.place = place, .memory = std::move(memory), .node = node});
  // Release, pairs with run().
  news_.fetch_add(1, std::memory_order_release);
  os::futex_wake_one(news_);
}

void PageFollower::forget(std::size_t place) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(journeys_, [place](const Journey& journey) { return journey.place == place; });
}

PageFollower::Report PageFollower::report() {
  const std::scoped_lock lock(mutex_);
  return report_;
}

void* PageFollower::thread_main(void* argument) {
  auto& self = *static_cast<PageFollower*>(argument);
  self.run();
  // Release, pairs with the destructor. The waiter may be gone after the store; waking its address
  // then does no harm.
  std::atomic<std::uint32_t>& has_ended = self.has_ended_;
  has_ended.store(1, std::memory_order_release);
  os::futex_wake_one(has_ended);
  return nullptr;
}

/// The next piece; false: all memory has been moved.
bool PageFollower::take(Chunk& chunk) {
  const std::scoped_lock lock(mutex_);
  while (!journeys_.empty()) {
    Journey& journey = journeys_.front();
    if (journey.memory.empty()) {
      journeys_.erase(journeys_.begin());
      continue;
    }
    const os::MemoryRange& range = journey.memory.front();
    SORREL_ASSERT(range.begin <= range.end, "0x%zx to 0x%zx", range.begin, range.end);
    const std::uintptr_t begin = range.begin + journey.done_bytes;
    if (begin >= range.end) {
      journey.memory.erase(journey.memory.begin());
      journey.done_bytes = 0;
      continue;
    }
    chunk = {.range = {begin, std::min(begin + chunk_bytes, range.end)}, .node = journey.node};
    journey.done_bytes += chunk_bytes;
    return true;
  }
  return false;
}

void PageFollower::run() {
  while (!is_stopping_.load(std::memory_order_relaxed)) {
    // Acquire, pairs with follow().
    const std::uint32_t seen = news_.load(std::memory_order_acquire);
    Chunk chunk;
    if (!take(chunk)) {
      if (!is_stopping_.load(std::memory_order_relaxed)) os::futex_wait(news_, seen, -1);
      continue;
    }
    const std::int64_t began_ns = os::monotonic_ns();
    const os::PageCount pages = os::move_pages_to(chunk.node, chunk.range);
    const std::int64_t spent_ns = os::monotonic_ns() - began_ns;
    {
      const std::scoped_lock lock(mutex_);
      report_.pages.there += pages.there;
      report_.pages.elsewhere += pages.elsewhere;
    }
    os::sleep_ns(pause_factor * spent_ns);
  }
}

}  // namespace sorrel::runtime
