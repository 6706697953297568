#include "governor/settings.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace sorrel::governor {
namespace {

Settings read(const std::map<std::string, std::string>& environment, std::uint32_t cpus = 8) {
  return read_settings(
      [&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      cpus, 1024);
}

TEST(SettingsTest, WithoutSettingsAllProcessorsAreSharedFairly) {
  const Settings settings = read({});
  EXPECT_EQ(settings.limits.width_max, 8U);
  EXPECT_EQ(settings.limits.width_min, 1U);
  EXPECT_EQ(settings.limits.share, Share::fair);
  EXPECT_FALSE(settings.is_spin_fixed);
  EXPECT_TRUE(settings.diagnostics.empty());
}

TEST(SettingsTest, ANumberAloneIsMeantAndWithSugnumthdASuggestion) {
  EXPECT_EQ(read({{"MP_SET_NUMTHREADS", "4"}}).limits.width_max, 4U);
  EXPECT_EQ(read({{"MP_SET_NUMTHREADS", "4"}}).limits.share, Share::fixed);
  const Settings suggested = read({{"MP_SET_NUMTHREADS", "4"}, {"MP_SUGNUMTHD", ""}});
  EXPECT_EQ(suggested.limits.share, Share::yielding);
  EXPECT_EQ(suggested.limits.width_max, 4U);
}

TEST(SettingsTest, ASuggestionFollowsTheLoadOfTheSystemUnlessTheShareIsGiven) {
  EXPECT_EQ(read({{"MP_SUGNUMTHD", ""}}).limits.share, Share::yielding);
  EXPECT_EQ(read({{"MP_SUGNUMTHD", "0"}}).limits.share, Share::yielding);
  EXPECT_EQ(read({{"MP_SUGNUMTHD", "1"}, {"OMP_DYNAMIC", "false"}}).limits.share, Share::yielding);
  EXPECT_EQ(read({{"MP_SUGNUMTHD", "1"}, {"SORREL_SHARE", "fair"}}).limits.share, Share::fair);
  EXPECT_EQ(read({{"MP_SUGNUMTHD", "1"}, {"SORREL_SHARE", "fixed"}}).limits.share, Share::fixed);
  EXPECT_EQ(read({{"MP_SUGNUMTHD_MAX", "2"}}).limits.share, Share::fair);
  EXPECT_TRUE(read({{"MP_SUGNUMTHD", "1"}, {"MP_SUGNUMTHD_VERBOSE", ""}}).is_verbose);
}

TEST(SettingsTest, TheSuggestionHasLimits) {
  const Settings settings = read({{"MP_SET_NUMTHREADS", "6"},
                                  {"MP_SUGNUMTHD", "1"},
                                  {"MP_SUGNUMTHD_MIN", "2"},
                                  {"MP_SUGNUMTHD_MAX", "5"}});
  EXPECT_EQ(settings.limits.width_min, 2U);
  EXPECT_EQ(settings.limits.width_max, 5U);
  EXPECT_TRUE(settings.diagnostics.empty());
}

TEST(SettingsTest, AMaximumBelowTheMinimumIsAnError) {
  const Settings settings =
      read({{"MP_SUGNUMTHD", "1"}, {"MP_SUGNUMTHD_MIN", "4"}, {"MP_SUGNUMTHD_MAX", "3"}});
  ASSERT_EQ(settings.diagnostics.size(), 1U);
  EXPECT_EQ(settings.diagnostics[0],
            "MP_SUGNUMTHD_MAX must be a whole number from 4 to 8, not '3'; using 8");
  EXPECT_EQ(settings.limits.width_max, 8U);
}

TEST(SettingsTest, BlocktimeZeroNeverBlocksOneBlocksAtOnceElseItCounts) {
  EXPECT_EQ(read({{"MP_BLOCKTIME", "0"}}).spin_ns, spin_for_ever_ns);
  EXPECT_EQ(read({{"MP_BLOCKTIME", "1"}}).spin_ns, 0);
  EXPECT_EQ(read({{"MP_BLOCKTIME", "100000000"}}).spin_ns, 100'000'000);
  EXPECT_TRUE(read({{"MP_BLOCKTIME", "1"}}).is_spin_fixed);
}

TEST(SettingsTest, OpenMpsWordsMeanWhatOpenMpSays) {
  EXPECT_EQ(read({{"OMP_NUM_THREADS", " 3 "}}).limits.width_max, 3U);
  EXPECT_EQ(read({{"OMP_NUM_THREADS", "5,2"}}).limits.width_max, 5U);
  EXPECT_EQ(read({{"OMP_NUM_THREADS", "5"}, {"OMP_THREAD_LIMIT", "4"}}).limits.width_max, 4U);
  EXPECT_EQ(read({{"OMP_DYNAMIC", "FALSE"}}).limits.share, Share::fixed);
  EXPECT_EQ(read({{"OMP_DYNAMIC", "true"}, {"MP_SET_NUMTHREADS", "2"}}).limits.share, Share::fair);
  EXPECT_EQ(read({{"OMP_WAIT_POLICY", "Active"}}).spin_ns, spin_for_ever_ns);
  EXPECT_EQ(read({{"OMP_WAIT_POLICY", "passive"}}).spin_ns, 0);
}

TEST(SettingsTest, AnInvalidValueIsReportedInOneLineWithTheAllowedValues) {
  const Settings settings = read({{"MP_SET_NUMTHREADS", "many"}, {"SORREL_SHARE", "greedy"}});
  ASSERT_EQ(settings.diagnostics.size(), 2U);
  EXPECT_EQ(settings.diagnostics[0],
            "MP_SET_NUMTHREADS must be a whole number from 1 to 1024, not 'many'; using 8");
  EXPECT_EQ(settings.diagnostics[1],
            "SORREL_SHARE must be fair, yielding or fixed, not 'greedy'; using fair");
  EXPECT_EQ(settings.limits.width_max, 8U);
}

TEST(SettingsTest, TheMoreParticularNameWins) {
  EXPECT_EQ(read({{"MP_SET_NUMTHREADS", "4"}, {"OMP_NUM_THREADS", "2"}}).limits.width_max, 4U);
  EXPECT_EQ(read({{"OMP_DYNAMIC", "true"}, {"SORREL_SHARE", "yielding"}}).limits.share,
            Share::yielding);
}

TEST(SettingsTest, TheEarlierNameOfYieldingIsAccepted) {
  EXPECT_EQ(read({{"SORREL_SHARE", "polite"}}).limits.share, Share::yielding);
}

}  // namespace
}  // namespace sorrel::governor
