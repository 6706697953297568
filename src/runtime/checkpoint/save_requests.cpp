#include "runtime/checkpoint/save_requests.hpp"

#include <algorithm>
#include <unistd.h>

#include "base/check.hpp"
#include "base/text.hpp"
#include "core/burst.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "os/write_all.hpp"
#include "runtime/request_signal.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
/// After which a request without a collective is worth a line.
constexpr std::int64_t patience_ns_min = 2 * second_ns;
constexpr std::int64_t patience_ns_max = 10 * second_ns;
/// Time between two tries of a save that is refused: a tenth of the period, within these bounds.
constexpr std::int64_t retry_ns_min = second_ns / 20;
constexpr std::int64_t retry_ns_max = 5 * second_ns;

// On which the thread sleeps. Outlives every object, because a signal may arrive at any time.
std::atomic<std::uint32_t> wake_count{0};
std::atomic<bool> is_signalled{false};

/// Safe in a signal handler.
void wake() {
  // Release, pairs with run(): what the thread is to do is written before.
  wake_count.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(wake_count);
}

}  // namespace

void watch_for_save_requests() {
  watch_requests([] {
    is_signalled.store(true, std::memory_order_relaxed);
    wake();
  });
}

SaveRequests::SaveRequests(const Options& options) : options_(options) {
  if (!os::start_background_thread(thread_main, this)) has_ended_.store(1);
}

SaveRequests::~SaveRequests() {
  is_stopping_.store(true, std::memory_order_relaxed);
  wake();
  // Acquire, pairs with thread_main(): the thread no longer touches this object.
  while (has_ended_.load(std::memory_order_acquire) == 0)
    os::futex_wait(has_ended_, 0, second_ns);
}

void* SaveRequests::thread_main(void* argument) {
  auto& self = *static_cast<SaveRequests*>(argument);
  self.run();
  // Release, pairs with the destructor. The waiter may be gone after the store; waking its address
  // then does no harm.
  std::atomic<std::uint32_t>& has_ended = self.has_ended_;
  has_ended.store(1, std::memory_order_release);
  os::futex_wake_one(has_ended);
  return nullptr;
}

void SaveRequests::run() {
  SORREL_ASSERT(options_.period_ns >= 0, "a period of %lld ns",
                static_cast<long long>(options_.period_ns));
  if (options_.period_ns != 0) due_ns_ = os::monotonic_ns() + options_.period_ns;
  for (;;) {
    // Acquire, pairs with wake().
    const std::uint32_t seen = wake_count.load(std::memory_order_acquire);
    if (is_stopping_.load(std::memory_order_relaxed) ||
        is_given_up_.load(std::memory_order_relaxed))
      return;
    const std::int64_t now_ns = os::monotonic_ns();
    if (!seems_wanted()) wanted_since_ns_ = 0;
    if (is_signalled.exchange(false, std::memory_order_relaxed) && options_.takes_signals)
      want(now_ns);
    if (due_ns_ != 0 && now_ns >= due_ns_) {
      due_ns_ = now_ns + options_.period_ns;
      want(now_ns);
    }
    std::int64_t retry_ns = retry_ns_.load(std::memory_order_relaxed);
    if (retry_ns != 0 && now_ns >= retry_ns &&
        retry_ns_.compare_exchange_strong(retry_ns, 0, std::memory_order_relaxed))
      want(now_ns);
    if (wanted_since_ns_ != 0 && !has_told_ && now_ns >= wanted_since_ns_ + patience_ns()) {
      has_told_ = true;
      os::write_all(
          STDERR_FILENO,
          text_of("sorrel: no checkpoint for %lld s: the ranks have called no collective of all "
                  "ranks; the job is saved at the next one\n",
                  static_cast<long long>((now_ns - wanted_since_ns_) / second_ns)));
    }
    os::futex_wait(wake_count, seen, std::max<std::int64_t>(next_moment() - now_ns, 1));
  }
}

void SaveRequests::want(std::int64_t now_ns) {
  if (is_taken() || seems_wanted()) return;
  wanted_since_ns_ = now_ns;
  // A lone rank polls at the ends of its calls.
  if (options_.is_alone) core::begin_slow_ends();
  // Release, pairs with take(): which ends this.
  is_wanted_.store(true, std::memory_order_release);
}

std::int64_t SaveRequests::patience_ns() const {
  return std::clamp(options_.period_ns, patience_ns_min, patience_ns_max);
}

std::int64_t SaveRequests::next_moment() const {
  std::int64_t next_ns = os::monotonic_ns() + patience_ns_max;
  if (due_ns_ != 0) next_ns = std::min(next_ns, due_ns_);
  if (const std::int64_t retry_ns = retry_ns_.load(std::memory_order_relaxed); retry_ns != 0)
    next_ns = std::min(next_ns, retry_ns);
  if (wanted_since_ns_ != 0 && !has_told_)
    next_ns = std::min(next_ns, wanted_since_ns_ + patience_ns());
  return next_ns;
}

void SaveRequests::take() {
  // Acquire, pairs with want().
  if (is_wanted_.exchange(false, std::memory_order_acquire) && options_.is_alone)
    core::end_slow_ends();
}

void SaveRequests::begin() {
  take();
  is_taken_.store(true, std::memory_order_relaxed);
}

void SaveRequests::end(bool is_saved) {
  if (!is_taken_.exchange(false, std::memory_order_relaxed)) return;
  if (is_saved || options_.period_ns == 0) return;
  const std::int64_t pause_ns = std::clamp(options_.period_ns / 10, retry_ns_min, retry_ns_max);
  retry_ns_.store(os::monotonic_ns() + pause_ns, std::memory_order_relaxed);
  wake();
}

void SaveRequests::give_up() {
  is_given_up_.store(true, std::memory_order_relaxed);
  take();
  wake();
}

}  // namespace sorrel::runtime
