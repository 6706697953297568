#include "tools/sorrel/run/part_plan.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

using launch::PartSpec;
using Parts = std::vector<PartSpec>;

Parts parts_of(const std::vector<PartRequest>& requests, const PartLimits& limits) {
  const auto parts = plan_parts(requests, limits);
  EXPECT_EQ(parts.error_or(""), "");
  return parts.has_value() ? parts.value() : Parts{};
}

TEST(PartPlan, EachProgramHasOneProcessAndItsPartOfTheCores) {
  EXPECT_EQ(parts_of({{.ranks = 2}, {.ranks = 6}}, {.cores = 8}), (Parts{{2, 1, 2}, {6, 1, 6}}));
  EXPECT_EQ(parts_of({{.ranks = 1}, {.ranks = 64}}, {.cores = 8}), (Parts{{1, 1, 1}, {64, 1, 7}}));
  EXPECT_EQ(parts_of({{.ranks = 2}, {.ranks = 2}}, {.cores = 1}), (Parts{{2, 1, 1}, {2, 1, 1}}));
}

TEST(PartPlan, AProgramThatCannotShareHasAProcessForEachRank) {
  const PartLimits limits{.cores = 4};
  const std::vector<PartRequest> requests{{.ranks = 2}, {.ranks = 3, .must_spread = true}};
  const Parts parts = parts_of(requests, limits);
  EXPECT_EQ(parts, (Parts{{2, 1, 1}, {3, 3, 1}}));
  EXPECT_FALSE(is_process_mode(parts[0], requests[0], limits));
  EXPECT_TRUE(is_process_mode(parts[1], requests[1], limits));
}

TEST(PartPlan, FurtherProcessesGoWhereMostRanksAre) {
  EXPECT_EQ(parts_of({{.ranks = 2}, {.ranks = 6}}, {.cores = 2, .processes = 4}),
            (Parts{{2, 1, 1}, {6, 3, 1}}));
  const std::vector<PartRequest> requests{{.ranks = 2}, {.ranks = 1}};
  const PartLimits all{.cores = 8, .processes = 3};
  EXPECT_EQ(parts_of(requests, all), (Parts{{2, 2, 1}, {1, 1, 1}}));
  EXPECT_TRUE(is_process_mode({1, 1, 1}, requests[1], all));
}

TEST(PartPlan, AWrongNumberOfProcessesIsRejected) {
  const std::vector<PartRequest> requests{{.ranks = 2}, {.ranks = 3, .must_spread = true}};
  for (const std::uint64_t processes : {1, 3, 6}) {
    EXPECT_NE(
        plan_parts(requests, {.cores = 4, .processes = processes}).error().find("from 4 to 5"),
        std::string::npos);
  }
}

TEST(PartPlan, AProgramWithoutRanksHasOneProcess) {
  EXPECT_EQ(parts_of({{.ranks = 1}, {.ranks = 0}}, {.cores = 8}), (Parts{{1, 1, 1}, {0, 1, 7}}));
  EXPECT_EQ(parts_of({{.ranks = 0}, {.ranks = 8}}, {.cores = 8}), (Parts{{0, 1, 4}, {8, 1, 8}}));
  EXPECT_EQ(parts_of({{.ranks = 4}, {.ranks = 0}}, {.cores = 2, .processes = 4, .workers = 3}),
            (Parts{{4, 3, 1}, {0, 1, 3}}));
  EXPECT_EQ(plan_parts(std::vector<PartRequest>{{.ranks = 0}, {.ranks = 0}}, {.cores = 4}).error(),
            "a job needs a rank: -n 1 or more for one of its programs");
}

TEST(PartPlan, AJobHasAMillionRanksAtMost) {
  const std::vector<PartRequest> requests{{.ranks = 600'000}, {.ranks = 600'000}};
  EXPECT_EQ(plan_parts(requests, {.cores = 4}).error(),
            "a job can have 1000000 ranks, not 1200000");
}

TEST(PartPlan, WorkersAreAtMostOneForARank) {
  EXPECT_EQ(parts_of({{.ranks = 2}, {.ranks = 6}}, {.cores = 1, .processes = 3, .workers = 3}),
            (Parts{{2, 1, 2}, {6, 2, 3}}));
}

}  // namespace
}  // namespace sorrel::tool
