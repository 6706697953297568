//! Verdict - what trials of a program say: which command to use and how much it gains, or that
//! Sorrel does not help this program. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/sorrel/try/samples.hpp"
#include "tools/sorrel/try/trial.hpp"

namespace sorrel::tool {

/// A gain below it is no reason to change a command.
inline constexpr double gain_worth_having = 1.03;

struct Verdict {
  enum class Kind {
    helps,           ///< the best trial of Sorrel surely gains more than gain_worth_having
    does_not_help,   ///< surely not by more than gain_worth_having
    is_not_sure,     ///< more runs are needed
    cannot_compare,  ///< no run of Sorrel succeeded
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  Kind kind = Kind::cannot_compare;
  std::size_t best = none;      ///< index of the trial of Sorrel to use
  std::size_t baseline = none;  ///< index of the trial it is compared with
  RatioEstimate gain;           ///< time of the baseline / time of the best
};

/// The baseline is the fastest trial of another MPI, or without one the first comparable trial. The
/// best trial is the first one that takes at most gain_worth_having of the fastest trial's time:
/// trials are in the order of their simplicity. Trials with different outputs are left out.
[[nodiscard]] Verdict verdict_of(std::span<const Trial> trials);

/// One sentence. `is_sure`: further runs would not change it; `elapsed_s`: of all trials.
[[nodiscard]] std::string sentence_of(const Verdict& verdict,
                                      std::span<const Trial> trials,
                                      bool is_sure,
                                      double elapsed_s);

}  // namespace sorrel::tool
