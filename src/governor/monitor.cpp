#include "governor/monitor.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <utility>

#include "governor/core_wait.hpp"
#include "governor/cpu_budget.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/shared_page.hpp"
#include "os/thread.hpp"
#include "os/time_slice.hpp"
#include "os/user_pages.hpp"

namespace sorrel::governor {

namespace {

constexpr std::int64_t period_ns = Governor::sample_period_ns;
/// Time between two ticks when nothing has changed for a while.
constexpr std::int64_t quiet_period_ns = 120'000'000;
constexpr std::int64_t reclaim_period_ns = 2 * period_ns;
/// Processes that have ended but are not reaped are searched for less often: each takes a file of
/// the kernel, 50 us.
constexpr std::int64_t reclaim_gone_period_ns = 2'000'000'000;
constexpr std::int64_t limits_period_ns = 1'000'000'000;
constexpr std::int64_t idle_ns_max = 1'000'000'000;
/// With peer jobs: long enough that the refill of a core's cache after a change of threads, some
/// 0.1 ms, does not matter; short enough that jobs of half a second still end together.
constexpr std::int64_t long_slice_ns = 20'000'000;

/// The folder of all users' pages; null if the administrator has not made it.
const char* folder_of_users() {
  return os::is_folder_of_users(JobRegistry::users_folder) ? JobRegistry::users_folder : nullptr;
}

/// Returns null, and prints a line, if there is no page.
JobRegistry::Page* map_registry_page(bool is_quiet) {
  std::string trouble;
  JobRegistry::Page* page = JobRegistry::map_page(trouble, folder_of_users());
  static std::atomic<bool> was_reported{false};
  if (page == nullptr && !is_quiet && !was_reported.exchange(true, std::memory_order_relaxed))
    std::fprintf(stderr, "sorrel: %s; going on without taking account of peer jobs\n",
                 trouble.c_str());
  return page;
}

}  // namespace

Monitor::Monitor(const Settings& settings, Controls& controls)
    : settings_(settings),
      controls_(controls),
      governor_(settings.limits),
      own_slice_ns_(os::time_slice(os::thread_number())),
      demand_(settings.limits.width_max, os::monotonic_ns()) {
  const CpuBudget budget = read_cpu_budget();
  sample_.cpus = budget.thread_count();
  sample_.now_ns = os::monotonic_ns();
  limits_read_ns_ = reclaimed_ns_ = reclaimed_gone_ns_ = sample_.now_ns;
  used_ns_ = changed_ns_ = sample_.now_ns;
  const bool joins_registry = settings_.limits.share != Share::fixed;
  registry_ = std::make_unique<JobRegistry>(
      joins_registry ? map_registry_page(settings_.is_quiet) : nullptr, os::own_process_identity(),
      JobRegistry::mask_of(budget.allowed_cpus), folder_of_users());
  registry_->set_demand(demand_.value());
  controls_.width.store(loop_width(settings_.limits.width_max), std::memory_order_relaxed);
  controls_.spin_ns.store(settings_.spin_ns, std::memory_order_relaxed);
  controls_.is_used.store(true, std::memory_order_relaxed);
  add_thread();
  tick();
}

Monitor::~Monitor() {
  stop();
}

void Monitor::stop() {
  if (!has_started_.exchange(true, std::memory_order_relaxed)) {
    has_ended_.store(1, std::memory_order_relaxed);
    return;
  }
  is_stopping_.store(1, std::memory_order_relaxed);
  os::futex_wake_one(is_stopping_);
  registry_->publish_change();
  begin_use();
  // Acquire, pairs with thread_main(): it no longer accesses the monitor.
  while (has_ended_.load(std::memory_order_acquire) == 0)
    os::futex_wait(has_ended_, 0, period_ns);
  if (native_number_ != 0) os::wait_for_thread_end(native_number_);
}

void Monitor::add_thread() {
  const int number = os::thread_number();
  // Relaxed: only the calling thread stores its own number.
  const auto is_own = [number](const std::atomic<int>& other) {
    return other.load(std::memory_order_relaxed) == number;
  };
  const bool is_first = thread_count_.load(std::memory_order_relaxed) == 0;
  if (std::ranges::none_of(thread_numbers_, is_own)) {
    // Relaxed: readers use the number below; 0 is unset.
    const std::uint32_t index = thread_count_.fetch_add(1, std::memory_order_relaxed);
    if (index < thread_count_max) thread_numbers_[index].store(number, std::memory_order_relaxed);
  }
  // The first helper shows that the process uses loops: from now on the monitor watches.
  if (!is_first) begin_watching();
}

void Monitor::begin_watching() {
  if (has_started_.load(std::memory_order_relaxed) ||
      has_started_.exchange(true, std::memory_order_relaxed))
    return;
  // If the system has no room for one more thread, the process is not monitored.
  if (!os::start_background_thread(thread_main, this))
    has_ended_.store(1, std::memory_order_release);
}

void Monitor::begin_use() {
  controls_.is_used.store(true, std::memory_order_relaxed);
  // Relaxed: a missed wake-up comes with the next loop, because the flag is cleared again.
  if (is_asleep_.load(std::memory_order_relaxed) == 0) return;
  if (is_asleep_.exchange(0, std::memory_order_relaxed) != 0) os::futex_wake_one(is_asleep_);
}

std::uint32_t Monitor::freeze(std::optional<std::uint32_t> width) {
  const bool was_frozen = is_frozen_.exchange(true, std::memory_order_relaxed);
  if (width) controls_.width.store(std::max(*width, 1U), std::memory_order_relaxed);
  const std::uint32_t now = controls_.width.load(std::memory_order_relaxed);
  if (!was_frozen || width)
    say("the program requested a fixed number of threads: frozen at %u", now, 0);
  return now;
}

void Monitor::deregister() {
  is_stopping_.store(1, std::memory_order_relaxed);
  registry_->deregister();
}

void* Monitor::thread_main(void* argument) {
  Monitor& self = *static_cast<Monitor*>(argument);
  self.native_number_ = os::thread_number();
  for (;;) {
    self.sleep_until_tick();
    if (self.is_stopping()) break;
    self.tick();
    if (self.sample_.now_ns - self.used_ns_ > idle_ns_max) self.sleep_until_used();
  }
  // Release, pairs with stop(). The waiter may be gone after the store: a wake-up of its address
  // does no harm, and without one the process would end up to a tick later.
  std::atomic<std::uint32_t>& has_ended = self.has_ended_;
  has_ended.store(1, std::memory_order_release);
  os::futex_wake_one(has_ended);
  return nullptr;
}

/// The time between ticks grows with the time since the last change.
std::int64_t Monitor::tick_distance_ns() const {
  return std::clamp(sample_.now_ns - changed_ns_, period_ns, quiet_period_ns);
}

/// Sleeps until the next tick is due, or the end.
void Monitor::sleep_until_tick() {
  while (!is_stopping()) {
    if (registry_->change_count() != change_count_) changed_ns_ = sample_.now_ns;
    const std::int64_t distance_ns = tick_distance_ns();
    const std::int64_t left_ns = sample_.now_ns + distance_ns - os::monotonic_ns();
    if (left_ns <= 0) return;
    if (distance_ns > period_ns) {
      registry_->wait_for_change(change_count_, left_ns);
    } else {
      os::futex_wait(is_stopping_, 0, left_ns);
    }
  }
}

void Monitor::sleep_until_used() {
  registry_->set_demand(0);
  governor_.forget_waiting();
  carry_out(governor_.decision());
  is_asleep_.store(1, std::memory_order_relaxed);
  while (is_asleep_.load(std::memory_order_relaxed) != 0 && !is_stopping() &&
         !controls_.is_used.load(std::memory_order_relaxed) && !(on_tick_ && on_tick_().is_used))
    os::futex_wait(is_asleep_, 1, idle_ns_max);
  is_asleep_.store(0, std::memory_order_relaxed);
  sample_.now_ns = used_ns_ = changed_ns_ = os::monotonic_ns();
  demand_.reset(sample_.now_ns);
  registry_->set_demand(demand_.value());
}

void Monitor::tick() {
  const GovernorSample last = sample_;
  const std::int64_t now_ns = sample_.now_ns = os::monotonic_ns();
  if (now_ns - limits_read_ns_ > limits_period_ns) read_limits();
  read_threads();
  const Finding finding = on_tick_ ? on_tick_() : Finding{};
  const std::uint32_t demand_before = demand_.value();
  // Cleared here, set again by the next loop.
  const bool has_loops = controls_.is_used.exchange(false, std::memory_order_relaxed);
  demand_.update(now_ns, {.elapsed_ns = now_ns - last.now_ns,
                          .run_ns = sample_.run_ns - last.run_ns,
                          .delay_ns = sample_.delay_ns - last.delay_ns,
                          .has_loops = has_loops || finding.is_used});
  if (demand_.value() == settings_.limits.width_max) used_ns_ = now_ns;
  read_registry();
  // Modulo 2^32, as the counter is.
  sample_.loop_count +=
      loop_count_.load(std::memory_order_relaxed) - static_cast<std::uint32_t>(sample_.loop_count);
  const GovernorDecision before = governor_.decision();
  const GovernorDecision decision = governor_.update(sample_);
  // With peer jobs, the permission to spin changes all the time, and a late reaction costs little.
  const bool is_alone = sample_.process_count == 1;
  if (decision.width != before.width || decision.is_crowded != before.is_crowded ||
      demand_.value() != demand_before || finding.needs_early_tick ||
      (is_alone && decision.may_spin != before.may_spin))
    changed_ns_ = now_ns;
  carry_out(decision);
}

/// Frees the entries of dead processes, publishes the process's demand, reads that of its peers.
void Monitor::read_registry() {
  const std::int64_t now_ns = sample_.now_ns;
  if (now_ns - reclaimed_gone_ns_ >= reclaim_gone_period_ns) {
    registry_->reclaim();
    registry_->find_other_users();
    reclaimed_gone_ns_ = reclaimed_ns_ = now_ns;
  } else if (now_ns - reclaimed_ns_ >= reclaim_period_ns) {
    registry_->reclaim_gone();
    reclaimed_ns_ = now_ns;
  }
  registry_->set_demand(demand_.value(), governor_.is_coarse());
  change_count_ = registry_->change_count();
  const auto view = registry_->read(sample_.cpus, settings_.limits.width_max);
  sample_.fair_share = view.fair_share;
  sample_.process_count = view.process_count;
  sample_.do_peers_keep = view.do_all_keep;
}

void Monitor::read_limits() {
  limits_read_ns_ = sample_.now_ns;
  sample_.cpus = read_cpu_budget().thread_count();
}

/// Adds the run and wait times of the threads since their last reading. With many threads, reads
/// some of them in turn.
void Monitor::read_threads() {
  const std::uint32_t known =
      std::min(thread_count_.load(std::memory_order_relaxed), thread_count_max);
  while (threads_.size() < known) {
    const int number = thread_numbers_[threads_.size()].load(std::memory_order_relaxed);
    if (number == 0) break;
    threads_.emplace_back(number);
    last_times_.push_back(threads_.back().read().value_or(os::RunTimes{}));
    slices_ns_.push_back(0);
  }
  const auto count = static_cast<std::uint32_t>(threads_.size());
  CoreWaits waits;
  for (std::uint32_t i = 0; i < std::min(count, thread_samples_max); ++i) {
    const std::uint32_t index = next_thread_++ % count;
    const auto times = threads_[index].read();
    if (!times) continue;
    sample_.run_ns += times->run_ns - last_times_[index].run_ns;
    sample_.delay_ns += waits.add(last_times_[index], *times);
    sample_.slice_count += times->slice_count - last_times_[index].slice_count;
    last_times_[index] = *times;
  }
  sample_.do_many_wait = waits.do_many_wait();
}

void Monitor::carry_out(const GovernorDecision& decision) {
  if (!settings_.is_spin_fixed) {
    const std::int64_t spin_ns = decision.may_spin ? settings_.spin_ns : 0;
    controls_.spin_ns.store(spin_ns, std::memory_order_relaxed);
    const bool has_room = decision.may_spin && !decision.is_crowded;
    controls_.patience_ns.store(has_room ? core::poll_ns_max : 0, std::memory_order_relaxed);
  }
  set_slices(decision.is_crowded);
  if (is_frozen_.load(std::memory_order_relaxed)) return;
  const std::uint32_t before = controls_.width.load(std::memory_order_relaxed);
  const std::uint32_t width = loop_width(decision.width);
  if (before == width) return;
  controls_.width.store(width, std::memory_order_relaxed);
  const std::uint32_t share =
      loop_width(std::min({settings_.limits.width_max, sample_.cpus, sample_.fair_share}));
  if (width < share) {
    say("loops use %u of %u threads because of external load", width, share);
  } else {
    say("loops use %u threads, %u processes share the processors", width, sample_.process_count);
  }
}

void Monitor::set_slices(bool are_long) {
  if (!own_slice_ns_ || (!are_long && !had_long_slices_)) return;
  had_long_slices_ = true;
  const std::int64_t slice_ns = are_long ? std::max(long_slice_ns, *own_slice_ns_) : *own_slice_ns_;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (std::exchange(slices_ns_[i], slice_ns) != slice_ns)
      os::set_time_slice(thread_numbers_[i].load(std::memory_order_relaxed), slice_ns);
  }
}

void Monitor::say(const char* format, std::uint32_t first, std::uint32_t second) const {
  if (!settings_.is_verbose) return;
  char text[160];
  std::snprintf(text, sizeof text, format, first, second);
  std::fprintf(stderr, "sorrel[%d]: %s\n", getpid(), text);
}

}  // namespace sorrel::governor
