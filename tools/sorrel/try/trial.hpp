//! Trial - one way to run the user's program, and the times of its runs. Data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sorrel/try/samples.hpp"

namespace sorrel::tool {

/// How the program is started.
struct TrialSetup {
  std::string label = {};                     ///< "sorrel run -n 32", for tables
  std::vector<std::string> command = {};      ///< with the program and its arguments
  std::vector<std::string> environment = {};  ///< NAME=value
  std::uint64_t ranks = 1;
  bool is_sorrel = true;
};

struct Trial {
  TrialSetup setup = {};
  std::vector<double> seconds = {};  ///< of the runs that count
  double other_work = 0;             ///< the largest share of the cores that other programs took
  std::string failure = {};          ///< why it is not repeated: it failed, or took too long; or ""
  std::string difference = {};       ///< of its output from the first trial's, or ""
  bool is_dropped = false;           ///< surely slower than the best: not repeated

  [[nodiscard]] Summary summary() const { return summary_of(seconds); }

  /// Its times say something about the same work.
  [[nodiscard]] bool is_comparable() const {
    return failure.empty() && difference.empty() && !seconds.empty();
  }
};

}  // namespace sorrel::tool
