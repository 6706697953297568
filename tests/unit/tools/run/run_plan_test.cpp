#include "tools/sorrel/run/run_plan.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sorrel::tool {
namespace {

constexpr const char* reason = "liba.so has writable data, which ranks of one process would share";

Result<RunPlan> plan_under_host(const std::string& ranks, bool has_labels) {
  RunOptions words;
  words.ranks = ranks;
  words.label = has_labels;
  ProgramReport program;
  program.own_process_reason = reason;
  Host host;
  host.name = "openmpi";
  host.launcher = "Open MPI's mpirun";
  host.processes = 2;
  const Result<RunRequest> request = read_options(words);
  if (!request.has_value()) return Error{request.error()};
  return make_plan(words, request.value(), host, program);
}

TEST(RunPlan, UnderAHostRanksThatCannotShareAProcessMustBeAsManyAsProcesses) {
  const auto plan = plan_under_host("2", false);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan.value().job.process_mode);
}

TEST(RunPlan, UnderAHostMoreRanksAreRefusedWithTheReason) {
  EXPECT_EQ(plan_under_host("4", false).error(),
            std::string(reason) +
                "; every rank must be a process: -n must be their number, without --label");
}

TEST(RunPlan, UnderAHostLabelsNeedRanksThatShareAProcess) {
  EXPECT_NE(plan_under_host("2", true).error().find(reason), std::string::npos);
}

/// The plan of programs with so many ranks each.
Result<RunPlan> plan_of_parts(const std::vector<std::string>& ranks,
                              const RunOptions& options,
                              const std::vector<ProgramReport>& programs) {
  std::vector<RunRequest> requests;
  for (const std::string& number : ranks) {
    RunOptions own = options;
    own.ranks = number;
    const Result<RunRequest> request = read_options(own, 0);
    if (!request.has_value()) return Error{request.error()};
    requests.push_back(request.value());
  }
  return make_plan(options, requests, Host{}, programs);
}

ProgramReport program_with_ranks() {
  ProgramReport program;
  program.name = "./solver";
  return program;
}

TEST(RunPlan, AProgramWithoutRanksGivesTheJobPlaces) {
  const std::vector<ProgramReport> programs{program_with_ranks(), program_with_ranks()};
  EXPECT_EQ(plan_of_parts({"2", "0"}, {}, programs).value().job.universe_size, 1024);
  EXPECT_EQ(plan_of_parts({"2", "1"}, {}, programs).value().job.universe_size, 0);
  RunOptions options;
  options.universe = "40";
  EXPECT_EQ(plan_of_parts({"2", "0"}, options, programs).value().job.universe_size, 40);
  EXPECT_EQ(plan_of_parts({"2", "1"}, options, programs).value().job.universe_size, 40);
  options.universe = "1";
  EXPECT_NE(plan_of_parts({"2", "0"}, options, programs).error().find("at least the number"),
            std::string::npos);
}

TEST(RunPlan, PlacesNeedRanksThatShareAProcess) {
  std::vector<ProgramReport> programs{program_with_ranks(), program_with_ranks()};
  programs[1].own_process_reason = reason;
  EXPECT_NE(plan_of_parts({"2", "0"}, {}, programs).error().find(reason), std::string::npos);
  EXPECT_NE(plan_of_parts({"0", "2"}, {}, programs).error().find(reason), std::string::npos);
  programs[1] = program_with_ranks();
  programs[1].wrapper = "./solver";
  EXPECT_NE(plan_of_parts({"2", "0"}, {}, programs).error().find("uses no MPI"), std::string::npos);
}

}  // namespace
}  // namespace sorrel::tool
