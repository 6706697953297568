#include "os/cpu_set.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sched.h>
#include <vector>

namespace sorrel::os {
namespace {

using Cpus = std::vector<int>;

TEST(MoveToCpu, GoesThereAndMayStillGoAnywhere) {
  const std::vector<int> allowed = allowed_cpus();
  ASSERT_FALSE(allowed.empty());
  move_to_cpu(allowed.back());
  EXPECT_EQ(allowed_cpus(), allowed);
}

TEST(MoveToCpu, StaysWhereItIsWhenThereIsNoSuchCpu) {
  const std::vector<int> allowed = allowed_cpus();
  move_to_cpu(cpu_count_max - 1);
  EXPECT_EQ(allowed_cpus(), allowed);
}

TEST(CpuSet, TheAllowedCpusAreAscendingAndHoldTheOneWeRunOn) {
  const Cpus cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_TRUE(std::binary_search(cpus.begin(), cpus.end(), sched_getcpu()));
}

TEST(CpuSet, PartsAreDealtOutSideBySideAndNoneIsLongerByMoreThanOne) {
  EXPECT_EQ(part_begin(8, 0, 3), 0U);
  EXPECT_EQ(part_begin(8, 1, 3), 2U);
  EXPECT_EQ(part_begin(8, 2, 3), 5U);
  EXPECT_EQ(part_begin(8, 3, 3), 8U);
  EXPECT_EQ(part_begin(2, 2, 5), 0U);
  EXPECT_EQ(part_begin(2, 3, 5), 1U);
}

TEST(CpuSet, ANarrowedMaskIsSeen) {
  const Cpus before = allowed_cpus();
  cpu_set_t narrow;
  CPU_ZERO(&narrow);
  CPU_SET(static_cast<std::size_t>(before.back()), &narrow);
  ASSERT_EQ(sched_setaffinity(0, sizeof narrow, &narrow), 0);
  EXPECT_EQ(allowed_cpus(), Cpus{before.back()});
  cpu_set_t wide;
  CPU_ZERO(&wide);
  for (const int cpu : before)
    CPU_SET(static_cast<std::size_t>(cpu), &wide);
  ASSERT_EQ(sched_setaffinity(0, sizeof wide, &wide), 0);
}

TEST(CpuSet, AListNamesEveryCpuInItsOrder) {
  EXPECT_EQ(format_cpu_list(Cpus{3, 0, 12}), "3,0,12");
  EXPECT_EQ(format_cpu_list(Cpus{}), "");
}

TEST(CpuSet, RangesJoinNeighbours) {
  EXPECT_EQ(format_cpu_ranges(Cpus{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(format_cpu_ranges(Cpus{4}), "4");
  EXPECT_EQ(format_cpu_ranges(Cpus{}), "");
}

}  // namespace
}  // namespace sorrel::os
