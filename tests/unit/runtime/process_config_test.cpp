#include "runtime/process_config.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

#include "launch/job_spec.hpp"

namespace sorrel::runtime {
namespace {

/// The last step of `sorrel run`.
void launch_job(const launch::JobSpec& spec) {
  setenv(launch::job_variable, launch::encode(spec).c_str(), 1);
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(unset)" : value;
}

TEST(Config, IsOneRankWithoutSorrelRun) {
  unsetenv(launch::job_variable);
  const Config config = take_config_from_environment();
  EXPECT_EQ(config.rank_count, 1);
  EXPECT_EQ(config.worker_count, 1U);
  EXPECT_TRUE(config.cpus.empty());
  EXPECT_FALSE(config.has_rank_labels);
}

TEST(Config, IsTakenOutOfTheEnvironment) {
  setenv("LD_BIND_NOW", "1", 1);
  setenv("LD_LIBRARY_PATH", "/ours:/theirs", 1);
  launch::JobSpec spec;
  spec.rank_count = 64;
  spec.worker_count = 3;
  spec.cpus = {0, 2, 5};
  spec.stack_bytes = 65536;
  spec.has_rank_labels = true;
  spec.old_library_path = "/theirs";
  launch_job(spec);
  EXPECT_EQ(static_cast<launch::JobSpec>(take_config_from_environment()), spec);
  EXPECT_EQ(value_of(launch::job_variable), "(unset)");
  EXPECT_EQ(value_of("LD_BIND_NOW"), "(unset)");
  EXPECT_EQ(value_of("LD_LIBRARY_PATH"), "/theirs");
  unsetenv("LD_LIBRARY_PATH");
}

TEST(Config, PreloadedFilesOfOthersStay) {
  struct Case {
    const char* given;
    const char* left;
  };

  for (const auto& [given, left] : {Case{"/early:/ours", "(unset)"},
                                    {"/early:/ours:/theirs", "/theirs"},
                                    {"/early:/ours:/theirs:/of/a/wrapper", "/theirs:/of/a/wrapper"},
                                    {"/of/a/wrapper:/early:/ours", "/of/a/wrapper"},
                                    {"/of/a/wrapper", "/of/a/wrapper"}}) {
    setenv("LD_PRELOAD", given, 1);
    launch::JobSpec spec;
    spec.preloaded = "/early:/ours";
    launch_job(spec);
    static_cast<void>(take_config_from_environment());
    EXPECT_EQ(value_of("LD_PRELOAD"), left);
  }
  unsetenv("LD_PRELOAD");
}

TEST(Config, TheUsersSettingsAreTakenUnlessRunHasDecided) {
  launch::JobSpec spec;
  for (const bool has_decided : {false, true}) {
    setenv("SORREL_SPIN", "7", 1);
    setenv("SORREL_EAGER", "8", 1);
    setenv("SORREL_PULL", "0", 1);
    setenv("SORREL_HOST_MEMORY", "0", 1);
    if (has_decided) {
      spec.eager_bytes_max = 0;
    }
    launch_job(spec);
    const Config config = take_config_from_environment();
    EXPECT_EQ(config.spin_ns_max, 7);
    EXPECT_EQ(config.eager_bytes_max, has_decided ? 0U : 8U);
    EXPECT_FALSE(config.may_pull);
    EXPECT_FALSE(config.may_share_memory);
    EXPECT_EQ(value_of("SORREL_SPIN"), "(unset)");
  }
}

TEST(ConfigDeathTest, AChangedJobIsRefusedInOneLine) {
  setenv(launch::job_variable, ("x" + launch::encode({})).c_str(), 1);
  EXPECT_EXIT((void)take_config_from_environment(), testing::ExitedWithCode(2),
              "^sorrel: SORREL_JOB in the environment is not that of one `sorrel run`: unset it");
  unsetenv(launch::job_variable);
}

TEST(Config, WhatAWrapperHasSetForTheLoaderStays) {
  launch::JobSpec spec;
  spec.wrapper.library_path = "/ours:/theirs";
  spec.old_library_path = "/theirs";
  setenv("LD_LIBRARY_PATH", "/wrapper", 1);
  launch_job(spec);
  (void)take_config_from_environment();
  EXPECT_EQ(value_of("LD_LIBRARY_PATH"), "/wrapper");
  unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace sorrel::runtime
