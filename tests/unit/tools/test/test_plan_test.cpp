#include "tools/sorrel/test/test_plan.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

using Words = std::vector<std::string>;

TEST(TestPlanTest, EachKindIsARunInTheOrderOfTheHelp) {
  const Result<TestPlan> plan = plan_tests({});
  ASSERT_TRUE(plan.has_value()) << plan.error();
  ASSERT_EQ(plan->runs.size(), 4U);
  EXPECT_EQ(plan->runs[0].options, (Words{"-n", "1000"}));
  EXPECT_EQ(plan->runs[1].options,
            (Words{"-n", "1000", "--wire", "latency=1ms,bandwidth=1GB/s,nodes=4"}));
  EXPECT_EQ(plan->runs[2].options, (Words{"-n", "8", "--check"}));
  EXPECT_EQ(plan->runs[3].options, (Words{"-n", "8", "--schedules", "20"}));
  EXPECT_EQ(plan->time_limit, std::chrono::minutes(5));
  EXPECT_FALSE(plan->runs[1].is_checked());
  EXPECT_TRUE(plan->runs[2].is_checked() && plan->runs[3].is_checked());
}

TEST(TestPlanTest, EachNumberOfRanksIsARunAndTheLargestCrossesTheNetwork) {
  TestOptions options;
  options.ranks = "1,3,1";
  options.only = "network,ranks";
  options.run_options = {"--stack=1M"};
  const Result<TestPlan> plan = plan_tests(options);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  ASSERT_EQ(plan->runs.size(), 3U);
  EXPECT_EQ(plan->runs[0].name, "1 rank");
  EXPECT_EQ(plan->runs[0].options, (Words{"-n", "1", "--stack=1M"}));
  EXPECT_EQ(plan->runs[1].options, (Words{"-n", "3", "--stack=1M"}));
  EXPECT_EQ(plan->runs[2].options,
            (Words{"-n", "3", "--wire", "latency=1ms,bandwidth=1GB/s,nodes=3", "--stack=1M"}));
}

TEST(TestPlanTest, FewRanksAreNotMoreThanTheLargestNumber) {
  TestOptions options;
  options.ranks = "4";
  options.only = "check";
  const Result<TestPlan> plan = plan_tests(options);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  EXPECT_EQ(plan->runs.at(0).options, (Words{"-n", "4", "--check"}));
}

std::string error_of(std::string TestOptions::* member, const char* value) {
  TestOptions options;
  options.*member = value;
  return plan_tests(options).error();
}

TEST(TestPlanTest, AnErrorSaysWhatIsAllowed) {
  EXPECT_EQ(error_of(&TestOptions::ranks, "4,x"),
            "-n must be a whole number from 1 to 1000000, not 'x'");
  EXPECT_EQ(error_of(&TestOptions::ranks, ","), "-n must be numbers such as 1,8,1000, not ','");
  EXPECT_EQ(error_of(&TestOptions::few, "0"),
            "--few must be a whole number from 1 to 1000000, not '0'");
  EXPECT_EQ(error_of(&TestOptions::schedules, "many"),
            "--schedules must be a whole number from 1 to 1000000, not 'many'");
  EXPECT_EQ(error_of(&TestOptions::only, "chekc"),
            "--only must be some of ranks,network,check,schedules, not 'chekc'");
  EXPECT_EQ(error_of(&TestOptions::time_limit, "5"),
            "--timeout must be a time such as 30s, 10min or 2h, at least 1ms, not '5'");
  EXPECT_NE(error_of(&TestOptions::ranks, "1").find("at least 2 ranks"), std::string::npos);
  EXPECT_NE(error_of(&TestOptions::wire, "latency=fast").find("--wire: latency must be a time"),
            std::string::npos);
}

}  // namespace
}  // namespace sorrel::tool
