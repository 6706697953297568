#include "tools/sorrel/run/run_plan.hpp"

#include <gtest/gtest.h>
#include <string>

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

}  // namespace
}  // namespace sorrel::tool
