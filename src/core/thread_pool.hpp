//! ThreadPool - numbered background threads (helpers) that sleep when they have no work.
//!
//! They are started one at a time, when a caller requests one, and never end. `Helper`, the user's
//! record of a thread, derives from PoolThread. Any thread, except park(). See sleeper.hpp; a child
//! process makes a pool of its own, see process_instance.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/sleeper.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

/// Threads that a woken thread wakes first, where many are needed. A wake-up takes its waker some
/// 5 us, and the sleeper 5 to 100.
inline constexpr std::uint32_t wake_fan_out = 4;

/// After sleeper.prepare(): sleeps until unparked.
inline void sleep(Sleeper& sleeper) {
  while (sleeper.is_parked())
    os::futex_wait(sleeper.state().std_atomic(), Sleeper::parked, -1);
}

struct alignas(cache_line_bytes) PoolThread {
  Sleeper sleeper;
};

template <class Helper>
class ThreadPool {
 public:
  explicit ThreadPool(std::uint32_t count_max)
      : count_max_(count_max), helpers_(std::make_unique<Helper[]>(count_max)) {}

  /// Counted from 1.
  [[nodiscard]] std::uint32_t number_of(const Helper& helper) const {
    return static_cast<std::uint32_t>(&helper - helpers_.get()) + 1;
  }

  [[nodiscard]] Helper& at(std::uint32_t number) {
    SORREL_ASSERT(number >= 1 && number <= count_max_);
    return helpers_[number - 1];
  }

  [[nodiscard]] std::uint32_t started_count() const {
    // Relaxed: a count by itself.
    return started_count_.load(std::memory_order_relaxed);
  }

  /// Whether a helper sleeps or is about to. After publishing work.
  [[nodiscard]] bool has_parked() const { return parked_count_.has_parked(); }

  /// A hint.
  [[nodiscard]] std::uint32_t awake_count() const {
    const std::uint32_t parked = parked_count_.seems();
    const std::uint32_t started = started_count();
    return started - std::min(started, parked);
  }

  /// Starts the next helper in entry(&helper), after prepare(helper), if its number is below
  /// `limit` and no other thread is starting one. False if it was not started.
  template <class Prepare>
  bool start(std::uint32_t limit, void* (*entry)(void*), Prepare prepare) {
    if (is_starting_.exchange(true, std::memory_order_acquire)) return false;
    const std::uint32_t number = started_count() + 1;
    bool is_started = false;
    if (number < std::min(limit, count_max_ + 1)) {
      prepare(at(number));
      started_count_.store(number, std::memory_order_relaxed);
      is_started = os::start_background_thread(entry, &at(number));
      if (!is_started) started_count_.store(number - 1, std::memory_order_relaxed);
    }
    is_starting_.store(false, std::memory_order_release);
    return is_started;
  }

  /// After publishing work. prepare(helper) runs before the helper is awake. Returns whether this
  /// call has woken it.
  template <class Prepare>
  bool wake(Helper& helper, Prepare prepare) {
    if (!helper.sleeper.seems_parked()) return false;
    prepare(helper);
    if (!parked_count_.unpark(helper.sleeper)) return false;
    os::futex_wake_one(helper.sleeper.state().std_atomic());
    return true;
  }

  /// As wake(), for the first that sleeps of the helpers whose numbers are below `limit`.
  template <class Prepare>
  bool wake_first(std::uint32_t limit, Prepare prepare) {
    limit = std::min(limit, started_count() + 1);
    for (std::uint32_t number = 1; number < limit; ++number) {
      if (wake(at(number), prepare)) return true;
    }
    return false;
  }

  /// On the thread of `self`: sleeps until woken, unless has_work(). Returns whether it has slept.
  template <class HasWork>
  bool park(Helper& self, HasWork has_work) {
    parked_count_.prepare(self.sleeper);
    if (has_work()) {
      parked_count_.cancel(self.sleeper);
      return false;
    }
    sleep(self.sleeper);
    return true;
  }

 private:
  const std::uint32_t count_max_;
  const std::unique_ptr<Helper[]> helpers_;
  // Seldom written.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> started_count_{0};
  ParkedCount parked_count_;
  std::atomic<bool> is_starting_{false};
};

}  // namespace sorrel::core
