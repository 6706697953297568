//! ProcessPolicy - when ranks move between processes: the gates of Policy, for the loads of whole
//! processes.
//!
//! One process of the job asks it, at the end of each window. Which ranks move is decided later,
//! when the loads of all ranks are in one place (borders.hpp). Pure. README.md has the constants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "balance/gates.hpp"
#include "balance/policy.hpp"

namespace sorrel::balance {

/// How many times a rank with so many bytes of touched memory counts when it moves: once for each
/// begun MiB.
[[nodiscard]] std::uint64_t move_weight(std::uint64_t touched_bytes);

/// Whether a step that takes so much from the largest load is worth moving ranks of that weight in
/// all. `needed`: ProcessPolicy::gain_needed().
[[nodiscard]] bool is_worth(double gain, const Costs& needed, std::uint64_t weight);

class ProcessPolicy {
 public:
  ProcessPolicy(std::uint32_t process_count, const Costs& costs);

  /// A window has passed, in which a worker of process i has computed for loads[i] on average.
  /// Whether a step may be worth its cost.
  [[nodiscard]] bool observe(std::span<const double> loads);

  /// What a step must take from the largest load, at least: for the stop, and for each
  /// move_weight() of the ranks that move.
  [[nodiscard]] Costs gain_needed() const;

  /// The processes that may have ranks have changed: what was learned tells nothing.
  void begin_anew() { gates_.begin_anew(); }

  /// A step that observe() has proposed moved no rank.
  void record_nothing() { gates_.record_nothing(); }

  /// In a step each move_weight() took so long: the next ones are expected to take as long, if that
  /// is more than the cost that the policy was made with.
  void record_move_time(double time);

  /// It moved some, and the largest load is expected to fall by so much.
  void record_step(double promised_gain);

  [[nodiscard]] const StepCounts& counts() const { return gates_.counts(); }

 private:
  const double least_move_cost_;
  Costs costs_;
  /// Moving averages.
  std::vector<double> loads_;
  Gates gates_;
};

}  // namespace sorrel::balance
