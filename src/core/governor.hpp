//! Governor - decides how many threads a process may use now, and whether those that wait may spin.
//!
//! Pure: a decision follows from the samples given so far; no clock, no thread, no system. Signals
//! are read by others (loop/team/monitor), who also carry decisions out. One owner. Layers, in
//! order of what each gains:
//! 1. Waiting follows delay: spin only while our threads hardly wait for a core themselves.
//! 2. Friends (other Sorrel processes of this user) get fair shares: never first come, first
//! served. Who works long without meeting others of the process (coarse loops, ranks that seldom
//! wait) loses little by having threads too many, and keeps cores busy while others are in serial
//! parts: if all friends are such, all keep their threads, those with loops if friends are fewer
//! than the processors.
//! 3. Towards strangers: *fair* keeps the threads, since who shrinks beside somebody who does not
//!    is served less; *polite* follows granted parallelism, with trials to grow.
//! 4. Quota and affinity cap everything (`cpus`).
//! Where friends outnumber the processors, threads also ask for long slices of time: each change of
//! a core's thread costs the contents of its cache, and who asks is served no less and no more than
//! before. A failed trial doubles the time until the next one; a friend that leaves ends the
//! waiting.
#pragma once

#include <cstdint>
#include <span>

namespace sorrel::core {

enum class Share : std::uint8_t { fair, polite, fixed };

struct GovernorLimits {
  std::uint32_t width_min = 1;
  /// What the program asks for; more is never given.
  std::uint32_t width_max = 1;
  Share share = Share::fair;
  /// What waits is fibers: how often they do shows in how often their threads sleep.
  bool has_fibers = false;
};

/// What is known at one moment. Times are sums since the start, over the process's own threads.
struct GovernorSample {
  std::int64_t now_ns = 0;
  std::int64_t run_ns = 0;
  /// Waiting for a core though ready to run.
  std::int64_t delay_ns = 0;
  /// How often a thread was given a core; loops begun.
  std::int64_t slice_count = 0;
  std::int64_t loop_count = 0;
  /// Processors this process may use, by affinity and quota.
  std::uint32_t cpus = 1;
  /// Our fair share among friends, of `cpus`.
  std::uint32_t fair_share = 1;
  /// Friends with work, we included.
  std::uint32_t friend_count = 1;
  /// Whether all others keep their threads if we do.
  bool do_friends_keep = false;
};

struct GovernorDecision {
  std::uint32_t width = 1;
  bool may_spin = true;
  /// Whether friends' threads outnumber the processors: then all do well to run long at a time.
  bool is_crowded = false;

  bool operator==(const GovernorDecision&) const = default;
};

class Governor {
 public:
  explicit Governor(const GovernorLimits& limits);

  /// To be called about every sample_period_ns; returns what holds from now on.
  GovernorDecision update(const GovernorSample& sample);

  [[nodiscard]] GovernorDecision decision() const { return decision_; }

  /// Whether threads too many would cost this process next to nothing.
  [[nodiscard]] bool is_coarse() const { return !is_fine_by_loops_ && !is_fine_by_slices_; }

  static constexpr std::int64_t sample_period_ns = 20'000'000;

 private:
  void judge_grain(const GovernorSample& sample);
  void judge_waiting(const GovernorSample& sample);
  void judge_grant(const GovernorSample& sample);
  void begin_window(const GovernorSample& sample);

  GovernorLimits limits_;
  GovernorDecision decision_;
  /// What granted parallelism allows; width_max until something is known.
  std::uint32_t granted_;
  GovernorSample last_;
  /// When the grain was judged last.
  GovernorSample grain_;
  GovernorSample window_;
  std::int64_t hold_until_ns_ = 0;
  std::uint32_t backoff_ = 1;
  bool has_sample_ = false;
  /// Of the decision before the last: fibers may follow one sample later.
  std::uint32_t width_before_;
  bool is_fine_by_loops_ = true;
  bool is_fine_by_slices_ = false;
  bool has_judged_slices_ = false;
  bool is_trial_ = false;
};

/// Max-min fair shares of `cpus` processors: whoever demands less than an equal share gets all it
/// demands, the rest is divided equally among the others; what does not divide goes to the first
/// ones. Each with a demand gets at least 1. Returns the share of demands[index].
std::uint32_t fair_share(std::uint32_t cpus,
                         std::span<const std::uint32_t> demands,
                         std::size_t index);

}  // namespace sorrel::core
