#include "tools/sorrel/run/run_plan.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

constexpr const char* reason = "liba.so has writable data, which ranks of one process would share";

std::optional<RunPlan> plan_under_host(const std::string& ranks, bool has_labels) {
  RunOptions words;
  words.ranks = ranks;
  words.label = has_labels;
  ProgramReport program;
  program.own_process_reason = reason;
  Host host;
  host.name = "openmpi";
  host.launcher = "Open MPI's mpirun";
  host.processes = 2;
  const auto request = read_options(words);
  return request ? make_plan(words, *request, host, program) : std::nullopt;
}

TEST(RunPlan, UnderAHostRanksThatCannotShareAProcessMustBeAsManyAsProcesses) {
  const auto plan = plan_under_host("2", false);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->job.process_mode);
}

TEST(RunPlan, UnderAHostMoreRanksAreRefusedWithTheReason) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(plan_under_host("4", false));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::string("sorrel: ") + reason +
                "; every rank must be a process: -n must be their number, without --label\n");
}

TEST(RunPlan, UnderAHostLabelsNeedRanksThatShareAProcess) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(plan_under_host("2", true));
  EXPECT_NE(testing::internal::GetCapturedStderr().find(reason), std::string::npos);
}

}  // namespace
}  // namespace sorrel::tool
