#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include <sorrel/grid/multigrid_plan.hpp>

#include "base/prng.hpp"
#include "grid/plan/cost_model.hpp"
#include "grid/plan/face.hpp"
#include "grid/plan/gather_cost.hpp"
#include "grid/plan/grid_search.hpp"
#include "grid/plan/process_grids.hpp"
#include "unit/grid/random_problem.hpp"
#include "unit/grid/simple_machine.hpp"

namespace sorrel::grid {
namespace {

Problem cube(std::int64_t n) {
  Problem problem;
  problem.extents = {n, n, n};
  return problem;
}

Machine machine_of_latency(double latency_s) {
  Machine machine = simple_machine();
  machine.links.front().latency_s = latency_s;
  return machine;
}

MultigridPlan chosen(const Machine& machine,
                     const Problem& problem,
                     int rank_count,
                     const MultigridOptions& options) {
  Result<MultigridPlan> plan = MultigridPlan::choose(machine, problem, rank_count, options);
  EXPECT_TRUE(plan.has_value()) << plan.error();
  return std::move(plan).value();
}

std::string refused(const Problem& problem, const MultigridOptions& options) {
  return MultigridPlan::choose(simple_machine(), problem, 8, options).error_or("");
}

TEST(MultigridPlan, EachLevelHalvesTheExtentsAndHasTheCutOfItsOwnPlan) {
  Problem problem;
  problem.extents = {64, 1, 32};
  problem.grain = 2;
  const Machine machine = machine_of_latency(1e-6);
  const MultigridPlan plan = chosen(machine, problem, 8, {.level_count = 4});
  ASSERT_EQ(plan.coarser().size(), 3U);
  EXPECT_EQ(plan.coarser()[0].problem.grain, 1);
  EXPECT_EQ(plan.coarser()[2].problem.extents, (Extents{8, 1, 4}));
  EXPECT_EQ(plan.finest().grid(), Plan::choose(machine, problem, 8).value().grid());
  for (const LevelPlan& level : plan.coarser()) {
    const Plan alone = Plan::choose(machine, level.problem, 8).value();
    EXPECT_EQ(level.best.grid, alone.grid());
    EXPECT_EQ(level.best.time.step_s(), alone.time().step_s());
  }
}

TEST(MultigridPlan, KeepsTheCutWhereMessagesCostNothing) {
  Machine machine = simple_machine();
  machine.links.front().gap_s_per_byte = 0;
  machine.copy.rates.front().bytes_per_second = 1e13;
  const MultigridPlan plan = chosen(machine, cube(64), 8, {.level_count = 4});
  for (const LevelPlan& level : plan.coarser()) {
    EXPECT_FALSE(level.is_gathered);
    EXPECT_EQ(level.gather_s, 0);
    EXPECT_EQ(level.chosen.grid, plan.finest().grid());
    EXPECT_GT(level.other_longer_s.value(), 0);
    EXPECT_NE(level.why.find(" makes a cycle "), std::string::npos) << level.why;
  }
}

TEST(MultigridPlan, GathersSmallLevelsOntoOneRankWhereMessagesAreSlow) {
  const MultigridPlan plan = chosen(machine_of_latency(1e-4), cube(256), 8, {.level_count = 8});
  EXPECT_FALSE(plan.coarser().front().is_gathered);
  const LevelPlan& last = plan.coarser().back();
  EXPECT_EQ(last.chosen.rank_count(), 1);
  const auto gathered = std::find_if(plan.coarser().begin(), plan.coarser().end(),
                                     [](const LevelPlan& level) { return level.is_gathered; });
  ASSERT_NE(gathered, plan.coarser().end());
  EXPECT_GT(gathered->gather_s, 0);
  EXPECT_GT(gathered->other_longer_s.value(), 0);
  EXPECT_NE(gathered->why.find("gather onto 1 rank: a cycle takes "), std::string::npos)
      << gathered->why;
  EXPECT_EQ(last.why, "keep 1 rank: there are no fewer ranks");
}

TEST(MultigridPlan, ALevelWithTooFewCellsIsGathered) {
  Problem problem;
  problem.extents = {64, 1, 1};
  const MultigridPlan plan = chosen(simple_machine(), problem, 32, {.level_count = 3});
  EXPECT_TRUE(plan.coarser()[0].kept.has_value());
  const LevelPlan& level = plan.coarser()[1];
  EXPECT_FALSE(level.kept.has_value());
  EXPECT_TRUE(level.is_gathered);
  EXPECT_FALSE(level.other_longer_s.has_value());
  EXPECT_NE(level.why.find(": this level has too few cells for "), std::string::npos) << level.why;
  EXPECT_NE(plan.text().find("the finest level's 32 does not fit\n"), std::string::npos)
      << plan.text();
}

// The slow oracle: seconds of a cycle from a level on, over all ways.
double shortest_from(const Machine& machine,
                     const std::vector<Problem>& problems,
                     std::size_t level,
                     const ProcessGrid& before,
                     int steps) {
  if (level == problems.size()) return 0;
  double least_s = std::numeric_limits<double>::infinity();
  const Problem& problem = problems[level];
  for (int a = 1; a <= before[0]; ++a)
    for (int b = 1; b <= before[1]; ++b)
      for (int c = 1; c <= before[2]; ++c) {
        const ProcessGrid grid{a, b, c};
        if (!divides(grid, before) || !is_allowed(problem, grid)) continue;
        const CostModel model(machine, problem, a * b * c);
        const double step_s = GridSearch(model).fastest(grid, grid).time.step_s();
        least_s =
            std::min(least_s, gather_seconds(machine, problem, before, grid) + steps * step_s +
                                  shortest_from(machine, problems, level + 1, grid, steps));
      }
  return least_s;
}

TEST(MultigridPlan, NoOtherWayThroughTheLevelsIsShorterThanTheTie) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 40; ++round) {
    Problem problem = random_problem(prng);
    for (std::int64_t& extent : problem.extents)
      if (extent > 1) extent *= 4;
    const Machine machine = machine_of_latency(1e-6 * static_cast<double>(prng.below(100)));
    const int steps = static_cast<int>(1 + prng.below(5));
    const MultigridPlan plan = chosen(machine, problem, static_cast<int>(1 + prng.below(24)),
                                      {.level_count = 3, .steps = steps});
    std::vector<Problem> problems{problem};
    ProcessGrid before = plan.finest().grid();
    double sum_s = steps * plan.finest().time().step_s();
    for (const LevelPlan& level : plan.coarser()) {
      problems.push_back(level.problem);
      EXPECT_TRUE(divides(level.chosen.grid, before));
      EXPECT_EQ(level.is_gathered, level.chosen.grid != before);
      sum_s += level.gather_s + steps * level.chosen.time.step_s();
      before = level.chosen.grid;
    }
    EXPECT_NEAR(plan.cycle_s(), sum_s, 1e-9 * sum_s);
    const double finest_s = steps * plan.finest().time().step_s();
    const double least_s = shortest_from(machine, problems, 1, plan.finest().grid(), steps);
    EXPECT_GE(plan.cycle_s() - finest_s, least_s * (1 - 1e-9)) << text_of(problem);
    // Each of two levels may tie.
    EXPECT_LE(plan.cycle_s() - finest_s, least_s * 1.02 * 1.02) << text_of(problem);
  }
}

TEST(MultigridPlan, TheTextHasTwoLinesForEachCoarserLevel) {
  const std::string text = chosen(simple_machine(), cube(64), 8, {.level_count = 4}).text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 3) << text;
  EXPECT_EQ(text.find("a cycle of 4 levels takes "), 0U) << text;
  for (const char* word : {", with 4 steps on each level\n", "\nlevel 1, 32 x 32 x 32 cells: best ",
                           "\nlevel 3, 8 x 8 x 8 cells: best "})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(MultigridPlan, RefusesLevelsThatCannotBeInOneLineThatSaysWhatIsAllowed) {
  EXPECT_EQ(refused(cube(64), {.level_count = 1}), "1 levels; it must be from 2 to 30");
  EXPECT_EQ(refused(cube(64), {.level_count = 2, .steps = 0}),
            "0 steps on a level; it must be from 1 to 1000000");
  EXPECT_EQ(refused(cube(36), {.level_count = 4}),
            "level 2 cannot be halved: dimension 0 has 9 cells, an even number from 4 on is "
            "needed; at most 3 levels");
  EXPECT_EQ(refused(cube(8), {.level_count = 4}),
            "level 2 cannot be halved: dimension 0 has 2 cells, an even number from 4 on is "
            "needed; at most 3 levels");
  Problem problem = cube(16);
  problem.halo_width = 6;
  EXPECT_EQ(refused(problem, {.level_count = 3}),
            "level 2: a halo of 6 cells is wider than the 4 of dimension 0; at most 4 are allowed");
  EXPECT_EQ(refused(cube(0), {.level_count = 2}), "extent 0 is 0; it must be from 1 to 1e+09");
  problem = cube(16);
  // 23 blocks of at most two cells and two ghosts; the next level has 13 cells, for one rank.
  problem.extents = {26, 1, 1};
  problem.memory_limit_bytes = (2 + 2) * 8;
  EXPECT_EQ(MultigridPlan::choose(simple_machine(), problem, 23, {.level_count = 2}).error(),
            "a level has too few cells for the cut of the level before, and gathered blocks exceed "
            "the limit of 32 bytes; allow more or use fewer levels");
}

TEST(GatherSeconds, AreMessagesBytesAndCopiesThereAndBack) {
  Machine machine = machine_of_latency(1);
  machine.links.front().gap_s_per_byte = 0;
  machine.copy.rates.front().bytes_per_second = 1e15;
  const Problem problem = cube(16);
  EXPECT_EQ(gather_seconds(machine, problem, {4, 2, 1}, {4, 2, 1}), 0);
  EXPECT_NEAR(gather_seconds(machine, problem, {4, 2, 1}, {2, 1, 1}), 2, 1e-6);
  machine.links.front().latency_s = 0;
  // Three messages of the other blocks of 16^3 / 8 cells.
  machine.links.front().gap_s_per_byte = 1;
  EXPECT_NEAR(gather_seconds(machine, problem, {4, 2, 1}, {2, 1, 1}), 2 * 3 * 512 * 8, 1e-6);
  machine.links.front().gap_s_per_byte = 0;
  machine.links.front().overhead_s = 1;
  EXPECT_NEAR(gather_seconds(machine, problem, {4, 2, 1}, {2, 1, 1}), 2 * 4, 1e-6);
  // Both ranks on one processor get their messages there.
  machine.processor_count = 1;
  EXPECT_NEAR(gather_seconds(machine, problem, {4, 2, 1}, {2, 1, 1}), 2 * 7, 1e-6);
}

}  // namespace
}  // namespace sorrel::grid
