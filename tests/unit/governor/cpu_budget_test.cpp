#include "governor/cpu_budget.hpp"

#include <gtest/gtest.h>

#include "os/cpu_set.hpp"

namespace sorrel::governor {
namespace {

os::CpuQuota quota_of(double cpus) {
  return {.cpus = cpus, .file = ""};
}

TEST(CpuBudgetTest, IsTheSmallerOfAffinityAndQuota) {
  CpuBudget budget{.allowed_cpus = {0, 1, 2, 3}, .quota = std::nullopt};
  EXPECT_EQ(budget.thread_count(), 4U);
  budget.quota = quota_of(2.9);
  EXPECT_EQ(budget.thread_count(), 2U) << "a part of a processor does not count";
  budget.quota = quota_of(64);
  EXPECT_EQ(budget.thread_count(), 4U);
}

TEST(CpuBudgetTest, IsAtLeastOne) {
  EXPECT_EQ((CpuBudget{.allowed_cpus = {}, .quota = std::nullopt}).thread_count(), 1U);
  EXPECT_EQ((CpuBudget{.allowed_cpus = {0, 1}, .quota = quota_of(0.3)}).thread_count(), 1U);
}

TEST(CpuBudgetTest, ProcessesShareTheQuotaButNotTheMask) {
  const CpuBudget budget{.allowed_cpus = {4, 5, 6}, .quota = quota_of(8)};
  EXPECT_EQ(budget.thread_count(2), 3U) << "four each, but the mask has three";
  EXPECT_EQ(budget.thread_count(4), 2U);
  EXPECT_EQ(budget.thread_count(20), 1U);
}

TEST(CpuBudgetTest, ThatOfThisProcessHasItsMask) {
  const CpuBudget budget = read_cpu_budget();
  EXPECT_EQ(budget.allowed_cpus, os::allowed_cpus());
  EXPECT_LE(budget.thread_count(), budget.allowed_cpus.size());
}

}  // namespace
}  // namespace sorrel::governor
