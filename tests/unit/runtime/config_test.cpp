#include "runtime/config.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

#include "runtime/job_variables.hpp"

namespace sorrel::runtime {
namespace {

/// The last step of `sorrel run`.
void seal() {
  const auto lookup = [](const char* name) -> const char* { return std::getenv(name); };
  setenv(seal_variable, seal_of(lookup).c_str(), 1);
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(unset)" : value;
}

TEST(Config, IsOneRankWithoutSorrelRun) {
  unsetenv("SORREL_RANKS");
  const Config config = take_config_from_environment();
  EXPECT_EQ(config.rank_count, 1);
  EXPECT_EQ(config.worker_count, 1U);
  EXPECT_TRUE(config.cpus.empty());
  EXPECT_FALSE(config.has_rank_labels);
}

TEST(Config, IsTakenOutOfTheEnvironment) {
  setenv("SORREL_RANKS", "64", 1);
  setenv("SORREL_WORKERS", "3", 1);
  setenv("SORREL_CPUS", "0,2,5", 1);
  setenv("SORREL_STACK", "65536", 1);
  setenv("SORREL_LABEL", "1", 1);
  setenv("LD_BIND_NOW", "1", 1);
  setenv("LD_LIBRARY_PATH", "/ours:/theirs", 1);
  setenv("SORREL_OLD_LD_LIBRARY_PATH", "/theirs", 1);
  seal();
  const Config config = take_config_from_environment();
  EXPECT_EQ(config.rank_count, 64);
  EXPECT_EQ(config.worker_count, 3U);
  EXPECT_EQ(config.cpus, (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(config.stack_bytes, 65536U);
  EXPECT_TRUE(config.has_rank_labels);
  for (const char* name :
       {"SORREL_RANKS", "SORREL_WORKERS", "SORREL_CPUS", "SORREL_STACK", "SORREL_LABEL",
        "LD_BIND_NOW", "SORREL_OLD_LD_LIBRARY_PATH", seal_variable})
    EXPECT_EQ(value_of(name), "(unset)") << name;
  EXPECT_EQ(value_of("LD_LIBRARY_PATH"), "/theirs");
  unsetenv("LD_LIBRARY_PATH");
}

TEST(Config, UnderstandsAnEmptyListOfCpus) {
  setenv("SORREL_RANKS", "2", 1);
  setenv("SORREL_CPUS", "", 1);
  seal();
  EXPECT_TRUE(take_config_from_environment().cpus.empty());
}

TEST(Config, WithoutASealTheVariablesAreIgnored) {
  setenv("SORREL_RANKS", "abc", 1);
  setenv("SORREL_SEGMENT", "7", 1);
  EXPECT_EQ(take_config_from_environment().rank_count, 1);
  EXPECT_EQ(value_of("SORREL_RANKS"), "abc");
  unsetenv("SORREL_RANKS");
  unsetenv("SORREL_SEGMENT");
}

TEST(ConfigDeathTest, ASealOfOtherValuesIsRefusedInOneLine) {
  setenv("SORREL_RANKS", "2", 1);
  seal();
  setenv("SORREL_RANKS", "3", 1);
  EXPECT_EXIT((void)take_config_from_environment(), testing::ExitedWithCode(2),
              "^sorrel: the SORREL_. variables in the environment are not those of one");
  unsetenv("SORREL_RANKS");
  unsetenv(seal_variable);
}

TEST(Config, WhatAWrapperHasSetForTheLoaderStays) {
  setenv("SORREL_RANKS", "2", 1);
  setenv("SORREL_OLD_LD_LIBRARY_PATH", "/theirs", 1);
  setenv("SORREL_OWN_LD_LIBRARY_PATH", "/ours:/theirs", 1);
  setenv("LD_LIBRARY_PATH", "/wrapper", 1);
  seal();
  (void)take_config_from_environment();
  EXPECT_EQ(value_of("LD_LIBRARY_PATH"), "/wrapper");
  unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace sorrel::runtime
