#include "tools/sorrel/try/trial_session.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace sorrel::tool {
namespace {

TrialSetup sorrel_with(std::uint64_t ranks) {
  return {.label = "sorrel run -n " + std::to_string(ranks),
          .command = {"/bin/sorrel", "run", "-n", std::to_string(ranks), "./app"},
          .ranks = ranks};
}

TrialSetup other_mpi(std::uint64_t ranks) {
  return {.label = "mpiexec -n " + std::to_string(ranks),
          .command = {"mpiexec", "-n", std::to_string(ranks), "./app"},
          .ranks = ranks,
          .is_sorrel = false};
}

/// A machine on which each command takes a given time with some noise, and a clock that its runs
/// move.
class Machine {
 public:
  std::map<std::string, double> seconds;
  std::map<std::string, std::string> output;
  std::map<std::string, std::string> failure;
  double noise = 0.01;

  RunOutcome run(const TrialSetup& setup, double limit_s) {
    std::normal_distribution<double> factor(1, noise);
    RunOutcome outcome;
    outcome.seconds = seconds.at(setup.label) * factor(random_);
    outcome.is_late = outcome.seconds > limit_s;
    if (outcome.is_late) outcome.seconds = limit_s;
    if (failure.contains(setup.label)) outcome.failure = failure[setup.label];
    outcome.output = output.contains(setup.label) ? output[setup.label] : "sum 15\n";
    now_ += outcome.seconds;
    ++runs[setup.label];
    return outcome;
  }

  TrialSession session(double budget_s) { return session(SessionOptions{.budget_s = budget_s}); }

  TrialSession session(SessionOptions options) {
    return {std::move(options),
            [this](const TrialSetup& setup, double limit_s) { return run(setup, limit_s); },
            [this] { return now_; }};
  }

  [[nodiscard]] double now() const { return now_; }

  std::map<std::string, int> runs;

 private:
  std::mt19937 random_{11};
  double now_ = 0;
};

std::string sentence(const TrialSession& session, bool is_sure, double elapsed_s) {
  return sentence_of(verdict_of(session.trials()), session.trials(), is_sure, elapsed_s);
}

TEST(TrialSession, FindsTheBestNumberOfRanks) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.5}, {"sorrel run -n 32", 0.8}};
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2), sorrel_with(8), sorrel_with(32)});
  EXPECT_TRUE(session.refine());
  const Verdict verdict = verdict_of(session.trials());
  EXPECT_EQ(verdict.kind, Verdict::Kind::helps);
  EXPECT_EQ(session.trials()[verdict.best].setup.ranks, 8U);
  EXPECT_NEAR(verdict.gain.value, 2, 0.1);
  EXPECT_EQ(sentence(session, true, 9).find("Use `sorrel run -n 8 ./app`: it is "), 0U);
  // The slow one was not repeated.
  EXPECT_EQ(machine.runs["sorrel run -n 32"], 1);
}

TEST(TrialSession, AFasterMpiIsTheBaseline) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"mpiexec -n 2", 0.8}, {"sorrel run -n 8", 1.1}};
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2), other_mpi(2), sorrel_with(8)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(verdict_of(session.trials()).kind, Verdict::Kind::does_not_help);
  EXPECT_EQ(
      sentence(session, true, 9)
          .find("Sorrel does not help this program here: its best, `sorrel run -n 2`, takes 1.2"),
      0U);
}

TEST(TrialSession, NoMoreRanksThanCoresMayBeBest) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 0.5}, {"sorrel run -n 8", 0.6}};
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2), sorrel_with(8)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(sentence(session, true, 9).find("Sorrel does not help this program here: no other"),
            0U);
}

TEST(TrialSession, IsNotSureWhenRunsAreTooNoisyForTheTime) {
  Machine machine;
  machine.noise = 0.3;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.93}};
  TrialSession session = machine.session(12);
  session.scout({sorrel_with(2), sorrel_with(8)});
  EXPECT_FALSE(session.refine());
  EXPECT_EQ(sentence(session, false, machine.now()).find("Not sure after 1"), 0U);
  EXPECT_LT(machine.now(), 15);
}

TEST(TrialSession, AnotherOutputIsNeverTheBest) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.1}};
  machine.output["sorrel run -n 8"] = "sum 16\n";
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2), sorrel_with(8)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(session.trials()[1].difference, "16 in place of 15 in 'sum #'");
  EXPECT_EQ(verdict_of(session.trials()).best, 0U);
}

TEST(TrialSession, AnotherOutputMayBeTheBestIfOutputsAreNotCompared) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.1}};
  machine.output["sorrel run -n 8"] = "sum 16\n";
  TrialSession session = machine.session({.budget_s = 60, .compares_output = false});
  session.scout({sorrel_with(2), sorrel_with(8)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(verdict_of(session.trials()).kind, Verdict::Kind::helps);
  EXPECT_EQ(verdict_of(session.trials()).best, 1U);
}

TEST(TrialSession, AnIgnoredLineMayDiffer) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.1}};
  machine.output["sorrel run -n 8"] = "sum 16\n";
  SessionOptions options{.budget_s = 60};
  options.match.ignored.emplace_back("^sum", std::regex::extended);
  TrialSession session = machine.session(std::move(options));
  session.scout({sorrel_with(2), sorrel_with(8)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(verdict_of(session.trials()).kind, Verdict::Kind::helps);
  EXPECT_EQ(verdict_of(session.trials()).best, 1U);
}

TEST(TrialSession, AFailedFirstCommandIsNotTheReference) {
  Machine machine;
  machine.seconds = {
      {"sorrel run -n 2", 0.01}, {"sorrel run -n 8", 0.5}, {"sorrel run -n 27", 0.4}};
  machine.failure["sorrel run -n 2"] = "ended with status 1: needs a cube";
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2), sorrel_with(8), sorrel_with(27)});
  EXPECT_TRUE(session.refine());
  const Verdict verdict = verdict_of(session.trials());
  EXPECT_EQ(verdict.baseline, 1U);
  EXPECT_EQ(verdict.best, 2U);
  EXPECT_EQ(machine.runs["sorrel run -n 2"], 1);
}

TEST(TrialSession, SaysWhyNothingCouldBeRun) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 0.1}};
  machine.failure["sorrel run -n 2"] = "ended with status 1: no input file";
  TrialSession session = machine.session(60);
  session.scout({sorrel_with(2)});
  EXPECT_TRUE(session.refine());
  EXPECT_EQ(sentence(session, true, 1),
            "Sorrel could not run this program: `sorrel run -n 2` ended with status 1: no input "
            "file.");
}

TEST(TrialSession, ACommandThatTakesFarLongerIsEnded) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1}, {"mpiexec -n 2", 1000}};
  TrialSession session = machine.session(30);
  session.scout({sorrel_with(2), other_mpi(2)});
  EXPECT_TRUE(session.trials()[1].failure.starts_with("had not ended after "));
  // About 1 s twice, and then three times that and 2 s more.
  EXPECT_NEAR(machine.now(), 7, 0.3);
}

TEST(TrialSession, ALargeBudgetLeavesMoreTimeForASlowStart) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 1}, {"mpiexec -n 2", 20}};
  TrialSession session = machine.session(600);
  session.scout({sorrel_with(2), other_mpi(2)});
  EXPECT_EQ(session.trials()[1].failure, "");
}

// On a busy machine, where a run takes up to half as long again.
TEST(TrialSession, FindsAGainThatIsLargerThanTheNoise) {
  Machine machine;
  machine.noise = 0.2;
  machine.seconds = {{"sorrel run -n 2", 2}, {"mpiexec -n 2", 2.2}, {"sorrel run -n 16", 0.8}};
  TrialSession session = machine.session(600);
  session.scout({sorrel_with(2), other_mpi(2), sorrel_with(16)});
  EXPECT_TRUE(session.refine());
  const Verdict verdict = verdict_of(session.trials());
  EXPECT_EQ(verdict.kind, Verdict::Kind::helps);
  EXPECT_EQ(session.trials()[verdict.best].setup.ranks, 16U);
  EXPECT_NEAR(verdict.gain.value, 2.75, 1.5);
}

TEST(TrialSession, FindsNoGainWhereEveryCommandTakesTheSameTime) {
  Machine machine;
  machine.noise = 0.02;
  machine.seconds = {{"sorrel run -n 2", 0.7}, {"sorrel run -n 4", 0.7}};
  TrialSession session = machine.session(600);
  session.scout({sorrel_with(2), sorrel_with(4)});
  EXPECT_TRUE(session.refine());
  const Verdict verdict = verdict_of(session.trials());
  EXPECT_NE(verdict.kind, Verdict::Kind::helps);
  EXPECT_LT(verdict.gain.low, gain_worth_having);
}

TEST(TrialSession, TheNumberOfRunsIsBounded) {
  Machine machine;
  machine.noise = 0.3;
  machine.seconds = {{"sorrel run -n 2", 1.0}, {"sorrel run -n 8", 0.93}};
  TrialSession session = machine.session({.budget_s = 1e6, .runs_max = 3});
  session.scout({sorrel_with(2), sorrel_with(8)});
  (void)session.refine();
  // The first command is run once more, for its output.
  EXPECT_LE(machine.runs["sorrel run -n 2"], 4);
  EXPECT_LE(machine.runs["sorrel run -n 8"], 3);
}

TEST(TrialSession, WhatDoesNotFitIntoTheTimeIsNotRun) {
  Machine machine;
  machine.seconds = {{"sorrel run -n 2", 7}, {"sorrel run -n 8", 7}, {"sorrel run -n 16", 7}};
  TrialSession session = machine.session(12);
  session.scout({sorrel_with(2), sorrel_with(8), sorrel_with(16)});
  EXPECT_FALSE(session.refine());
  EXPECT_EQ(session.trials()[2].failure, "was not run: the time was spent");
  EXPECT_EQ(machine.runs["sorrel run -n 16"], 0);
}

}  // namespace
}  // namespace sorrel::tool
