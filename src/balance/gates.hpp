//! Gates - what both policies (policy.hpp, process_policy.hpp) have in common: when a step may be
//! due, and whether the last one was worth it. README.md has the constants and their reasons.
#pragma once

#include <cstdint>
#include <span>

namespace sorrel::balance {

/// Windows of data before the first step.
inline constexpr std::uint32_t windows_min = 3;
/// Imbalance from which ranks move, in so many windows running.
inline constexpr double uneven_from = 0.10;
inline constexpr std::uint32_t uneven_windows_min = 2;
/// Sum of the errors of prediction over the load: above it the past does not tell the future.
inline constexpr double error_max = 0.5;
/// Windows over which a gain is counted: as long as the last state has lasted, and at most.
inline constexpr std::uint32_t horizon_max = 100;
/// The gain must be worth so many times the cost.
inline constexpr double gain_over_cost = 2;
inline constexpr std::uint32_t distance_max = 1024;
/// Windows after a step until it is judged: the first one may hold the work of both places.
inline constexpr std::uint32_t judgement_windows = 2;

/// For the report at the end of the job.
struct StepCounts {
  std::uint64_t windows = 0;
  /// Windows in which the places were uneven.
  std::uint64_t uneven_windows = 0;
  std::uint64_t steps = 0;
  /// Sums over the steps that moved ranks: imbalance before, and in the windows after.
  double imbalance_before = 0;
  double imbalance_after = 0;
  std::uint64_t judged_steps = 0;
};

class Gates {
 public:
  /// A window has passed. The loads of places: in it, and their moving averages. Whether a step may
  /// be due, if it is worth its cost.
  [[nodiscard]] bool observe(std::span<const double> now,
                             std::span<const double> smoothed,
                             bool is_predictable);

  [[nodiscard]] bool is_first_window() const { return window_count_ == 0; }

  /// Windows over which a gain is counted.
  [[nodiscard]] double horizon() const;

  /// The places have changed: what was learned about steps does not hold any more.
  void forget_steps();

  /// The ranks have changed, too: nothing is known about them.
  void begin_anew();

  /// A planned step moved no rank: the next one comes later.
  void record_nothing();

  /// It moved some: the largest load and the imbalance before, and by how much the load is expected
  /// to fall.
  void record_step(double largest_before, double imbalance_before, double promised_gain);

  [[nodiscard]] const StepCounts& counts() const { return counts_; }

 private:
  void judge_last_step(double imbalance_now, double largest_now);

  std::uint32_t window_count_ = 0;
  std::uint32_t uneven_streak_ = 0;
  std::uint32_t windows_since_step_ = 0;
  /// Windows between two steps, at least.
  std::uint32_t distance_ = 1;
  // Values of the step that has not been judged.
  std::uint32_t windows_to_judgement_ = 0;
  double largest_before_ = 0;
  double promised_gain_ = 0;
  StepCounts counts_;
};

}  // namespace sorrel::balance
