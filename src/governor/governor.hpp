//! Governor - decides how many threads a process may use now, and whether waiting threads may spin.
//!
//! Pure: a decision is computed from the samples given so far; no clock, no thread, no system
//! calls. The monitor reads the signals and carries the decisions out. One owner. Layers, in
//! order of their gain:
//! 1. Waiting follows delay: spin only while the process's own threads hardly wait for a core, or
//! only few of them do. A prohibition ends with a trial, too.
//! 2. Peer jobs (other processes of this user in the JobRegistry) get fair shares, never first
//! come, first served. A process that rarely synchronises (coarse loops, ranks that seldom wait)
//! loses little by too many threads, and keeps cores busy while peers are in serial parts. If all
//! peers are such processes, all keep their threads; those with loops only if processes are fewer
//! than processors.
//! 3. Under external load, *fair* keeps the thread count, because a job that shrinks next to one
//! that does not gets less CPU time. *Yielding* follows granted parallelism, with trials to grow.
//! 4. Quota and affinity cap everything (`cpus`).
//!
//! Where processes outnumber processors, threads also request long time slices. Each change of a
//! core's thread costs the contents of its cache, and the request does not change a thread's share.
//! A failed trial doubles the time until the next one; the end of a peer job ends that wait.
#pragma once

#include <cstdint>
#include <span>

namespace sorrel::governor {

enum class Share : std::uint8_t { fair, yielding, fixed };

struct GovernorLimits {
  std::uint32_t width_min = 1;
  /// Requested by the program; the width is never larger.
  std::uint32_t width_max = 1;
  Share share = Share::fair;
  /// The waiting units are fibers: the sleeps of their threads show how often they wait.
  bool has_fibers = false;
};

/// Measurements at one moment. Times are sums since the start, over the process's own threads.
struct GovernorSample {
  std::int64_t now_ns = 0;
  std::int64_t run_ns = 0;
  /// Waiting for a core that other threads had (core_wait.hpp).
  std::int64_t delay_ns = 0;
  /// How often a thread was given a core; number of loops begun.
  std::int64_t slice_count = 0;
  std::int64_t loop_count = 0;
  /// Processors this process may use, by affinity and quota.
  std::uint32_t cpus = 1;
  /// Fair share of this process among its peers, of `cpus`.
  std::uint32_t fair_share = 1;
  /// Processes with work, this one included.
  std::uint32_t process_count = 1;
  /// Whether all peers keep their threads if this process does.
  bool do_peers_keep = false;
  /// Since the last sample: whether more than a few threads waited for a core.
  bool do_many_wait = true;
};

struct GovernorDecision {
  std::uint32_t width = 1;
  bool may_spin = true;
  /// Whether the threads of all jobs outnumber the processors: long slices help all of them.
  bool is_crowded = false;

  bool operator==(const GovernorDecision&) const = default;
};

class Governor {
 public:
  explicit Governor(const GovernorLimits& limits);

  /// Called about every sample_period_ns; returns the new decision.
  GovernorDecision update(const GovernorSample& sample);

  [[nodiscard]] GovernorDecision decision() const { return decision_; }

  /// The process pauses: what was measured before says nothing about the time after.
  void forget_waiting();

  /// Whether too many threads would cost this process next to nothing.
  [[nodiscard]] bool is_coarse() const { return !is_fine_by_loops_ && !is_fine_by_slices_; }

  static constexpr std::int64_t sample_period_ns = 20'000'000;

 private:
  void judge_grain(const GovernorSample& sample);
  void judge_waiting(const GovernorSample& sample);
  void judge_grant(const GovernorSample& sample);
  void begin_window(const GovernorSample& sample);

  GovernorLimits limits_;
  GovernorDecision decision_;
  /// Limit from granted parallelism; width_max until measured.
  std::uint32_t granted_;
  GovernorSample last_;
  /// The sample of the last grain decision.
  GovernorSample grain_;
  GovernorSample window_;
  std::int64_t hold_until_ns_ = 0;
  std::uint32_t backoff_ = 1;
  /// When spinning was last permitted, until when it is forbidden, and for how many periods.
  std::int64_t spin_since_ns_ = 0;
  std::int64_t no_spin_until_ns_ = 0;
  std::uint32_t spin_backoff_ = 1;
  bool has_sample_ = false;
  /// The previous width: fibers may follow one sample later.
  std::uint32_t width_before_;
  bool is_fine_by_loops_ = true;
  bool is_fine_by_slices_ = false;
  bool has_judged_slices_ = false;
  bool is_trial_ = false;
};

/// Max-min fair shares of `cpus` processors: each process that demands less than an equal share
/// gets its demand; the rest is divided equally among the others, and the remainder goes to the
/// first ones. Each with a demand gets at least 1. Returns the share of demands[index].
std::uint32_t fair_share(std::uint32_t cpus,
                         std::span<const std::uint32_t> demands,
                         std::size_t index);

}  // namespace sorrel::governor
