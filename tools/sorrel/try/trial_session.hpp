//! TrialSession - runs the trials of a program: each once, then the good ones in turn until it is
//! sure which is best, or the time is spent.
//!
//! A trial is dropped when it is surely slower than the best one; a trial whose output differs from
//! that of the first trial is not repeated. How a program is run, and the clock, are given, so that
//! tests need neither.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/sorrel/try/output_match.hpp"
#include "tools/sorrel/try/trial.hpp"
#include "tools/sorrel/try/verdict.hpp"

namespace sorrel::tool {

/// What came of one run.
struct RunOutcome {
  double seconds = 0;
  double other_work = 0;     ///< share of the cores that other programs took meanwhile
  std::string failure = {};  ///< "ended with status 1: ...", or ""
  bool is_late = false;      ///< ended at the limit
  std::string output = {};   ///< what it printed on standard output
};

struct SessionOptions {
  double budget_s = 60;
  std::size_t runs_max = 50;  ///< of one trial
  bool compares_output = true;
  MatchOptions match{};
};

class TrialSession {
 public:
  using Runner = std::function<RunOutcome(const TrialSetup& setup, double limit_s)>;
  using Elapsed = std::function<double()>;  ///< seconds since the session began

  TrialSession(SessionOptions options, Runner run, Elapsed elapsed)
      : options_(std::move(options)), run_(std::move(run)), elapsed_(std::move(elapsed)) {}

  /// Runs each of `setups` once, while there is time. The first one that succeeds runs twice: the
  /// first time warms the machine up, and both show which numbers of its output are no results.
  void scout(std::vector<TrialSetup> setups);

  /// Repeats until sure. True: sure; false: the time or the number of runs is spent.
  bool refine();

  [[nodiscard]] std::span<const Trial> trials() const { return trials_; }

  [[nodiscard]] std::size_t run_count() const { return run_count_; }

  /// Numbers of the output that differ from run to run.
  [[nodiscard]] std::size_t unsteady_count() const { return match_ ? match_->unsteady_count() : 0; }

 private:
  RunOutcome measure(Trial& trial);
  void begin(Trial& trial);
  void compare(Trial& trial, const RunOutcome& outcome);
  void drop_slow();
  [[nodiscard]] bool is_sure() const;
  [[nodiscard]] double limit_s() const;

  [[nodiscard]] bool has_time() const { return elapsed_() < options_.budget_s; }

  const SessionOptions options_;
  const Runner run_;
  const Elapsed elapsed_;
  std::vector<Trial> trials_;
  std::optional<OutputMatch> match_;
  std::size_t run_count_ = 0;
};

}  // namespace sorrel::tool
