#include "governor/governor.hpp"

#include <algorithm>
#include <cstddef>

#include "base/check.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::governor {

namespace {

// Tuned on the mixes of `sorrel bench throughput`; the tests' simulated machine shows their effect.
/// Share of delay in the time of the threads; from it on no thread spins.
constexpr double spin_delay_max = 0.05;
constexpr std::int64_t window_ns = 6 * Governor::sample_period_ns;
/// With less run time, no decision...
constexpr std::int64_t informative_ns = 1'000'000;
/// ...and none on the duration of loops, and of runs between two sleeps.
constexpr std::int64_t informative_grain_ns = 5'000'000;
/// The width shrinks if granted parallelism is lower by more than this many threads...
constexpr double shrink_slack = 0.7;
/// ...and with less delay than this, there may be room for one more.
constexpr double grow_delay_max = 0.06;
constexpr std::uint32_t backoff_max = 64;
/// Longest pause between trials to spin, in sample periods: threads that sleep at once show little
/// delay.
constexpr std::uint32_t spin_backoff_max = 16;
/// Work per loop, or between two sleeps of a thread, above which these are rare enough: the loop,
/// or the message, pays for a wake-up and for the wait for a thread without a core.
constexpr std::int64_t coarse_loop_ns = 1'000'000;
constexpr std::int64_t coarse_slice_ns = 300'000;

double delay_fraction(const GovernorSample& from, const GovernorSample& to) {
  const auto run = static_cast<double>(to.run_ns - from.run_ns);
  const auto delay = static_cast<double>(to.delay_ns - from.delay_ns);
  return run + delay > 0 ? delay / (run + delay) : 0;
}

std::int64_t active_ns(const GovernorSample& from, const GovernorSample& to) {
  return to.run_ns - from.run_ns + to.delay_ns - from.delay_ns;
}

}  // namespace

Governor::Governor(const GovernorLimits& limits)
    : limits_(limits),
      decision_{limits.width_max, true},
      granted_(limits.width_max),
      width_before_(limits.width_max) {
  SORREL_CHECK(limits.width_min >= 1 && limits.width_min <= limits.width_max);
}

GovernorDecision Governor::update(const GovernorSample& sample) {
  if (!has_sample_) {
    has_sample_ = true;
    last_ = grain_ = sample;
    begin_window(sample);
  } else if (sample.process_count < last_.process_count) {
    // A peer that has left makes room: no need for trials.
    granted_ = limits_.width_max;
    backoff_ = 1;
    hold_until_ns_ = sample.now_ns;
    is_trial_ = false;
    forget_waiting();
    last_ = sample;
    begin_window(sample);
  }
  judge_grain(sample);
  judge_waiting(sample);
  if (limits_.share == Share::yielding) judge_grant(sample);
  last_ = sample;
  if (limits_.share == Share::fixed) return decision_;
  // If at least as many processes as processors compete, one thread each keeps them busy, and more
  // threads would only empty each other's caches. Not so where one thread would have to run all
  // fibers in turn.
  const bool has_gain = limits_.has_fibers || sample.process_count < sample.cpus;
  const bool keeps =
      has_gain && is_coarse() && sample.do_peers_keep && limits_.share == Share::fair;
  const std::uint32_t share = keeps ? sample.cpus : sample.fair_share;
  const std::uint32_t room = std::min({limits_.width_max, sample.cpus, share, granted_});
  decision_.is_crowded = sample.process_count > (keeps ? 1U : sample.cpus);
  width_before_ = decision_.width;
  decision_.width = std::max(room, limits_.width_min);
  return decision_;
}

void Governor::judge_grain(const GovernorSample& sample) {
  const std::int64_t run_ns = sample.run_ns - grain_.run_ns;
  if (run_ns < informative_grain_ns) return;
  const std::int64_t loop_count = sample.loop_count - grain_.loop_count;
  const std::int64_t slice_count = sample.slice_count - grain_.slice_count;
  grain_ = sample;
  is_fine_by_loops_ = run_ns < loop_count * coarse_loop_ns;
  if (!limits_.has_fibers) return;
  // Fibers that take turns on few threads wait without a thread's sleeping, which gives no
  // information. At the start they have all their threads.
  const bool has_all = std::min(width_before_, decision_.width) == limits_.width_max;
  if (!has_all && has_judged_slices_) return;
  has_judged_slices_ = true;
  is_fine_by_slices_ = run_ns < slice_count * coarse_slice_ns;
}

void Governor::judge_waiting(const GovernorSample& sample) {
  // A shorter wait is a late wake-up. The bursts of a process that often pauses are so short that
  // one such wait is a large part of them.
  const bool have_waited = sample.do_many_wait && active_ns(last_, sample) >= informative_ns &&
                           sample.delay_ns - last_.delay_ns >= os::slice_ns_min &&
                           delay_fraction(last_, sample) >= spin_delay_max;
  if (!have_waited) {
    // In a pause, too: the time after it is another.
    if (decision_.may_spin || sample.now_ns < no_spin_until_ns_) return;
    decision_.may_spin = true;
    spin_since_ns_ = sample.now_ns;
    return;
  }
  if (!decision_.may_spin) return;
  decision_.may_spin = false;
  const bool is_failed_trial = sample.now_ns - spin_since_ns_ < window_ns;
  spin_backoff_ = is_failed_trial ? std::min(spin_backoff_ * 2, spin_backoff_max) : 1;
  no_spin_until_ns_ = sample.now_ns + spin_backoff_ * sample_period_ns;
}

void Governor::forget_waiting() {
  decision_.may_spin = true;
  no_spin_until_ns_ = 0;
  spin_backoff_ = 1;
}

void Governor::judge_grant(const GovernorSample& sample) {
  if (sample.now_ns - window_.now_ns < window_ns) return;
  if (active_ns(window_, sample) < informative_ns) {
    begin_window(sample);
    return;
  }
  const double delay = delay_fraction(window_, sample);
  const std::uint32_t width = decision_.width;
  const double granted = width * (1 - delay);
  if (width > 1 && granted < width - shrink_slack) {
    if (is_trial_) {
      backoff_ = std::min(backoff_ * 2, backoff_max);
      granted_ = width - 1;
    } else {
      backoff_ = 1;
      granted_ = std::clamp(static_cast<std::uint32_t>(granted + shrink_slack), 1U, width - 1);
    }
    hold_until_ns_ = sample.now_ns + window_ns * backoff_;
    is_trial_ = false;
  } else if (delay < grow_delay_max && granted_ < limits_.width_max && granted_ <= width &&
             sample.now_ns >= hold_until_ns_) {
    ++granted_;
    is_trial_ = true;
  } else if (is_trial_) {
    is_trial_ = false;
    backoff_ = 1;
  }
  begin_window(sample);
}

void Governor::begin_window(const GovernorSample& sample) {
  window_ = sample;
}

std::uint32_t fair_share(std::uint32_t cpus,
                         std::span<const std::uint32_t> demands,
                         std::size_t index) {
  SORREL_ASSERT(index < demands.size());
  const std::uint32_t mine = demands[index];
  if (mine == 0) return 1;
  // Raise the level until the processors are spent: a few rounds, because each satisfies a process.
  std::uint32_t left = cpus;
  std::uint32_t level = 0;
  for (;;) {
    std::uint32_t hungry = 0;
    std::uint32_t before_me = 0;
    std::uint32_t nearest = ~0U;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i] <= level) continue;
      if (i < index) ++before_me;
      ++hungry;
      nearest = std::min(nearest, demands[i] - level);
    }
    if (mine <= level || hungry == 0) return std::max(std::min(mine, level), 1U);
    const std::uint32_t step = std::min(nearest, left / hungry);
    if (step == 0) return std::max(level + (before_me < left ? 1U : 0U), 1U);
    level += step;
    left -= step * hungry;
  }
}

}  // namespace sorrel::governor
