#include "tools/sorrel/try/trial_session.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace sorrel::tool {

namespace {

/// Runs of a trial that is to be dropped for good, or on which the verdict stands.
constexpr std::size_t runs_min = 3;
/// A trial that takes this many times as long as the best one is not repeated.
constexpr double far_slower = 1.5;
/// A run may take this many times as long as the best trial, and some seconds: starts of jobs take
/// longer beside other work. A user with a large budget can wait for them.
constexpr double limit_factor = 3;
constexpr double limit_extra_s_min = 2;
constexpr double limit_extra_share = 0.05;
/// The first run is counted if it takes this share of the time: no second one would fit.
constexpr double share_of_warm_up = 0.2;

}  // namespace

double TrialSession::limit_s() const {
  const Verdict verdict = verdict_of(trials_);
  if (verdict.best == Verdict::none) return options_.budget_s;
  const double extra_s = std::max(limit_extra_s_min, limit_extra_share * options_.budget_s);
  return limit_factor * trials_[verdict.best].summary().mean + extra_s;
}

RunOutcome TrialSession::measure(Trial& trial) {
  const double limit = limit_s();
  RunOutcome outcome = run_(trial.setup, limit);
  ++run_count_;
  trial.other_work = std::max(trial.other_work, outcome.other_work);
  if (outcome.is_late)
    trial.failure = fmt::format("had not ended after {:.3g} s", outcome.seconds);
  else if (!outcome.failure.empty())
    trial.failure = outcome.failure;
  else
    trial.seconds.push_back(outcome.seconds);
  return outcome;
}

void TrialSession::begin(Trial& trial) {
  const RunOutcome first = measure(trial);
  if (!trial.failure.empty()) return;
  match_.emplace(PrintedResult(first.output, trial.setup.ranks, options_.match), options_.match);
  if (!has_time()) return;
  if (first.seconds < share_of_warm_up * options_.budget_s) trial.seconds.clear();
  const RunOutcome second = measure(trial);
  if (trial.failure.empty())
    match_->learn(PrintedResult(second.output, trial.setup.ranks, options_.match));
}

void TrialSession::compare(Trial& trial, const RunOutcome& outcome) {
  if (!options_.compares_output || !trial.failure.empty() || !trial.difference.empty()) return;
  trial.difference =
      match_->difference(PrintedResult(outcome.output, trial.setup.ranks, options_.match));
}

void TrialSession::scout(std::vector<TrialSetup> setups) {
  for (TrialSetup& setup : setups) {
    Trial& trial = trials_.emplace_back();
    trial.setup = std::move(setup);
    if (!has_time()) {
      trial.failure = "was not run: the time was spent";
    } else if (!match_) {
      begin(trial);
    } else {
      compare(trial, measure(trial));
    }
  }
}

void TrialSession::drop_slow() {
  const Verdict verdict = verdict_of(trials_);
  if (verdict.best == Verdict::none) return;
  const Summary best = trials_[verdict.best].summary();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    Trial& trial = trials_[i];
    if (i == verdict.best || i == verdict.baseline || !trial.is_comparable()) continue;
    const Summary summary = trial.summary();
    const bool is_surely_slower =
        summary.count >= runs_min && best.count >= runs_min && ratio_of(summary, best).low > 1;
    trial.is_dropped = is_surely_slower || summary.least > far_slower * best.most;
  }
}

bool TrialSession::is_sure() const {
  const Verdict verdict = verdict_of(trials_);
  if (verdict.kind == Verdict::Kind::cannot_compare) return true;
  if (verdict.kind == Verdict::Kind::is_not_sure) return false;
  const Summary best = trials_[verdict.best].summary();
  if (best.count < runs_min || trials_[verdict.baseline].summary().count < runs_min) return false;
  // No trial that is still repeated may be much faster than the best.
  constexpr double faster_max = 2 * gain_worth_having - 1;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Trial& trial = trials_[i];
    if (i == verdict.best || i == verdict.baseline || !trial.is_comparable() || trial.is_dropped)
      continue;
    if (trial.setup.is_sorrel && ratio_of(best, trial.summary()).high > faster_max) return false;
  }
  return true;
}

bool TrialSession::refine() {
  for (std::size_t round = 0;; ++round) {
    drop_slow();
    if (is_sure()) return true;
    bool has_run = false;
    for (std::size_t step = 0; step < trials_.size(); ++step) {
      // Each round begins with another trial, so that none always runs after the same one.
      Trial& trial = trials_[(step + round) % trials_.size()];
      if (!trial.is_comparable() || trial.is_dropped || trial.seconds.size() >= options_.runs_max)
        continue;
      if (!has_time()) return false;
      compare(trial, measure(trial));
      has_run = true;
    }
    if (!has_run) return false;
  }
}

}  // namespace sorrel::tool
