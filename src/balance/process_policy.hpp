//! ProcessPolicy - when ranks move between processes: the gates of Policy, for the loads of whole
//! processes.
//!
//! One process of the job asks it, at the end of each window. Which ranks move is decided later,
//! when the loads of all ranks are in one place (borders.hpp). Pure. README.md has the constants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "balance/policy.hpp"

namespace sorrel::balance {

/// For the report at the end of the job.
struct ProcessCounts {
  std::uint64_t windows = 0;
  std::uint64_t uneven_windows = 0;
  std::uint64_t steps = 0;
  /// Sums over the steps that moved ranks: imbalance before, and in the windows after.
  double imbalance_before = 0;
  double imbalance_after = 0;
  std::uint64_t judged_steps = 0;
};

class ProcessPolicy {
 public:
  ProcessPolicy(std::uint32_t process_count, const Costs& costs);

  /// A window has passed, in which a worker of process i has computed for loads[i] on average.
  /// Whether a step may be worth its cost.
  [[nodiscard]] bool observe(std::span<const double> loads);

  /// What a step must take from the largest load, at least: for the stop, and for each rank that
  /// moves.
  [[nodiscard]] Costs gain_needed() const;

  /// A step that observe() has proposed moved no rank.
  void record_nothing();

  /// It moved some, and the largest load is expected to fall by so much.
  void record_step(double promised_gain);

  [[nodiscard]] const ProcessCounts& counts() const { return counts_; }

 private:
  void judge_last_step(double largest_now, double imbalance_now);

  const Costs costs_;
  /// Moving averages.
  std::vector<double> loads_;
  std::uint32_t window_count_ = 0;
  std::uint32_t uneven_streak_ = 0;
  std::uint32_t windows_since_step_ = 0;
  /// Windows between two steps, at least.
  std::uint32_t distance_ = 1;
  // Of the step that has not been judged.
  std::uint32_t windows_to_judgement_ = 0;
  double largest_before_ = 0;
  double promised_gain_ = 0;
  ProcessCounts counts_;
};

}  // namespace sorrel::balance
