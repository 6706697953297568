#include "tools/sorrel/report/cold_start.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

/// One rank that calls at site 0, computes, and calls at site 1, `count` times: for `warm_ns`, and
/// every third time, after a wait in the first call, for `cold_ns`.
JobTrace job_of(int count, std::int64_t warm_ns, std::int64_t cold_ns) {
  TracedRank rank;
  std::int64_t ns = 0;
  for (int i = 0; i < count; ++i) {
    const bool waits = i % 3 == 2;
    const auto call = static_cast<std::uint32_t>(rank.calls.size());
    if (waits) rank.waits.push_back({.time = {ns + 1, ns + 9}, .call = call});
    rank.calls.push_back({.time = {ns, ns + 10}, .site = 0});
    ns += 10 + (waits ? cold_ns : warm_ns);
    rank.calls.push_back({.time = {ns, ns + 10}, .site = 1});
    ns += 10;
  }
  JobTrace job;
  job.ranks.push_back(rank);
  return job;
}

TEST(ColdStartTest, IsWhatComputingTakesLongerAfterAWait) {
  EXPECT_EQ(cold_start_ns(job_of(90, 5000, 7000)), 2000);
  EXPECT_EQ(cold_start_ns(job_of(90, 7000, 5000)), 0);
}

TEST(ColdStartTest, FewWaitsSayNothing) {
  EXPECT_EQ(cold_start_ns(job_of(30, 5000, 7000)), 0);
  EXPECT_EQ(cold_start_ns(JobTrace()), 0);
}

}  // namespace
}  // namespace sorrel::tool
