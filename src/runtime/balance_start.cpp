#include "runtime/balance_start.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/check.hpp"
#include "core/later_balance.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "os/thread_limits.hpp"

namespace sorrel::runtime {

namespace {

/// One sample stands for so much time.
constexpr std::int64_t sample_ns = 20'000'000;
constexpr std::int64_t short_sample_ns = 1'000'000;
/// A computation so long is worth a loan (core/README.md, "Loans").
constexpr std::int64_t computation_ns_min = 50'000;
/// Workers that are asked in a sample.
constexpr std::uint32_t asked_count_max = 4;
constexpr std::uint32_t round_count_max = 12;
/// Control blocks take at most this part of the threads that the system allows.
constexpr std::uint64_t threads_part = 4;
/// Ranks that the report names.
constexpr std::size_t named_count_max = 4;

double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

BalanceStart::BalanceStart(core::Scheduler& scheduler,
                           Begin begin,
                           std::int32_t block_count,
                           Give give)
    : scheduler_(scheduler),
      begin_(begin),
      sample_ns_(begin == Begin::at_once ? short_sample_ns : sample_ns),
      block_count_(block_count),
      give_(std::move(give)),
      created_ns_(os::monotonic_ns()),
      places_(scheduler.worker_count()),
      gate_(created_ns_),
      pause_ns_(sample_ns_) {
  if (!os::start_background_thread(thread_main, this)) has_ended_.store(1);
}

BalanceStart::~BalanceStart() {
  stop();
}

void BalanceStart::stop() {
  is_stopping_.store(1, std::memory_order_relaxed);
  os::futex_wake_one(is_stopping_);
  // Acquire, pairs with thread_main(): the thread no longer touches this object.
  while (has_ended_.load(std::memory_order_acquire) == 0)
    os::futex_wait(has_ended_, 0, sample_ns);
}

void* BalanceStart::thread_main(void* argument) {
  auto& self = *static_cast<BalanceStart*>(argument);
  while (!self.is_over_ && self.is_stopping_.load(std::memory_order_relaxed) == 0) {
    os::futex_wait(self.is_stopping_, 0, self.sample_ns_);
    self.sample();
  }
  std::atomic<std::uint32_t>& has_ended = self.has_ended_;
  // Release, pairs with stop(). The waiter may be gone after the store; waking its address is
  // harmless.
  has_ended.store(1, std::memory_order_release);
  os::futex_wake_one(has_ended);
  return nullptr;
}

void BalanceStart::sample() {
  const std::int64_t now_ns = os::monotonic_ns();
  if (is_in_round_) {
    // Acquire, pairs with on_attention().
    if (left_count_.load(std::memory_order_acquire) == 0) end_round(now_ns);
    return;
  }
  const std::int64_t wasted_ns = new_waste_ns_.exchange(0, std::memory_order_relaxed);
  waste_ns_ += wasted_ns;
  const bool is_worth_it = wasted_ns != 0 && gate_.record(wasted_ns, now_ns);
  // The first round shows that balancing is worth it; what keeps a rank may pass without waste.
  if (now_ns >= next_round_ns_ && (is_worth_it || began_ns_ != 0 || begin_ == Begin::at_once)) {
    if (began_ns_ == 0 && !may_start_threads()) {
      has_given_up_ = is_over_ = true;
      return;
    }
    begin_round();
  } else if (began_ns_ == 0 && has_sleeper()) {
    ask_others(now_ns);
  }
}

/// No user has asked for them, and the program and others may need theirs.
bool BalanceStart::may_start_threads() const {
  const auto limit = os::thread_limit();
  return !limit || static_cast<std::uint64_t>(block_count_) <= *limit / threads_part;
}

bool BalanceStart::has_sleeper() const {
  for (std::uint32_t i = 0; i < scheduler_.worker_count(); ++i) {
    if (scheduler_.worker(i).seems_asleep()) return true;
  }
  return false;
}

void BalanceStart::ask_others(std::int64_t now_ns) {
  const std::uint32_t count = scheduler_.worker_count();
  std::uint32_t asked_count = 0;
  for (std::uint32_t i = 0; i < count && asked_count < asked_count_max; ++i) {
    const std::uint32_t index = next_asked_++ % count;
    core::Worker& worker = scheduler_.worker(index);
    Place& place = places_[index];
    if (worker.seems_asleep() || place.asked_at_ns.load(std::memory_order_relaxed) != 0) continue;
    place.asked_at_ns.store(now_ns, std::memory_order_relaxed);
    worker.request_attention();
    ++asked_count;
  }
}

void BalanceStart::on_attention(core::Worker& worker) {
  SORREL_ASSERT(worker.index() < places_.size(), "worker %u of %zu", worker.index(),
                places_.size());
  Place& place = places_[worker.index()];
  answer(worker, place);
  // Acquire, pairs with begin_round().
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  if (std::exchange(place.done_round, round) == round) return;
  place.given = give_(worker);
  // Release, pairs with sample(): what this worker has given. The others' decrements continue it.
  const std::uint32_t left = left_count_.fetch_sub(1, std::memory_order_release);
  SORREL_CHECK(left > 0, "worker %u answers twice in round %u", worker.index(), round);
}

void BalanceStart::answer(core::Worker& worker, Place& place) {
  const std::int64_t asked_at_ns = place.asked_at_ns.exchange(0, std::memory_order_relaxed);
  if (asked_at_ns == 0 || !worker.has_ready() || !has_sleeper()) return;
  const std::int64_t late_ns = os::monotonic_ns() - asked_at_ns;
  // So long it has computed without a call.
  if (late_ns >= computation_ns_min)
    new_waste_ns_.fetch_add(std::max(late_ns, sample_ns), std::memory_order_relaxed);
}

void BalanceStart::begin_round() {
  const std::uint32_t count = scheduler_.worker_count();
  SORREL_ASSERT(!is_in_round_ && left_count_.load(std::memory_order_relaxed) == 0,
                "a round begins in another one");
  if (began_ns_ == 0) began_ns_ = os::monotonic_ns();
  is_in_round_ = true;
  left_count_.store(count, std::memory_order_relaxed);
  // Release, pairs with on_attention(): the count. A request for another reason may come first.
  round_.fetch_add(1, std::memory_order_release);
  for (std::uint32_t i = 0; i < count; ++i)
    scheduler_.worker(i).request_attention();
}

/// Workers that sleep do not seek loans yet.
void BalanceStart::begin_loans() {
  core::begin_loans();
  for (std::uint32_t i = 0; i < scheduler_.worker_count(); ++i)
    scheduler_.worker(i).request_attention();
}

void BalanceStart::end_round(std::int64_t now_ns) {
  SORREL_ASSERT(is_in_round_ && round_.load(std::memory_order_relaxed) <= round_count_max,
                "the end of round %u", round_.load(std::memory_order_relaxed));
  is_in_round_ = false;
  bool has_given = false;
  bool has_kept = false;
  for (const Place& place : places_) {
    has_given |= place.given.count != 0;
    has_kept |= !place.given.kept.empty();
  }
  if (has_given) begin_loans();
  if (!has_kept) core::begin_measuring(scheduler_);
  is_over_ = !has_kept || round_.load(std::memory_order_relaxed) == round_count_max;
  next_round_ns_ = now_ns + pause_ns_;
  pause_ns_ *= 2;
}

void BalanceStart::report() {
  stop();
  std::int32_t given_count = 0;
  std::size_t kept_count = 0;
  for (const Place& place : places_) {
    given_count += place.given.count;
    kept_count += place.given.kept.size();
  }
  if (has_given_up_) {
    std::fprintf(
        stderr,
        "sorrel: balance: not begun: %d ranks need a thread each for their control blocks, "
        "more than a quarter of what the system allows; %s\n",
        block_count_, os::describe_thread_limits().c_str());
    return;
  }
  if (began_ns_ == 0) {
    std::fprintf(stderr,
                 "sorrel: balance: not begun: workers slept for %.3f s while others had ranks "
                 "ready\n",
                 seconds_of(waste_ns_));
    return;
  }
  std::fprintf(stderr,
               "sorrel: balance: begun after %.3f s, when workers had slept for %.3f s while "
               "others had ranks ready; %d of %zu ranks have a control block of their own\n",
               seconds_of(began_ns_ - created_ns_), seconds_of(waste_ns_), given_count,
               static_cast<std::size_t>(given_count) + kept_count);
  std::size_t named_count = 0;
  for (const Place& place : places_) {
    for (const Kept& kept : place.given.kept) {
      if (named_count++ == named_count_max) {
        std::fprintf(stderr, "sorrel: balance: so do %zu more\n", kept_count - named_count_max);
        return;
      }
      std::fprintf(stderr, "sorrel: balance: rank %d stays on its worker: %s\n", kept.rank,
                   kept.reason.c_str());
    }
  }
}

}  // namespace sorrel::runtime
