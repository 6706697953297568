#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <string>

#include <sorrel/grid/machine_file.hpp>
#include <sorrel/grid/plan.hpp>

#include "base/prng.hpp"
#include "grid/plan/face.hpp"
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

Plan chosen(const Problem& problem, int rank_count, const Machine& machine = simple_machine()) {
  Result<Plan> plan = Plan::choose(machine, problem, rank_count);
  EXPECT_TRUE(plan.has_value()) << plan.error();
  return std::move(plan).value();
}

std::string refused(const Problem& problem, int rank_count) {
  return Plan::choose(simple_machine(), problem, rank_count).error_or("");
}

TEST(Plan, LooksAtEveryGridAndPutsTheFastestBehindTheChoice) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 100; ++round) {
    const Problem problem = random_problem(prng);
    const int rank_count = static_cast<int>(1 + prng.below(60));
    const Plan plan = chosen(problem, rank_count);
    EXPECT_LE(plan.used_ranks(), rank_count);
    for (const Cut& other : plan.cuts())
      EXPECT_LE(plan.time().step_s(), 1.02 * other.time.step_s());
    EXPECT_TRUE(std::is_sorted(plan.cuts().begin() + 1, plan.cuts().end(),
                               [](const Cut& left, const Cut& right) {
                                 return left.time.step_s() < right.time.step_s();
                               }));
    for (const ProcessGrid& grid : process_grids(problem, plan.used_ranks()))
      EXPECT_TRUE(std::any_of(plan.cuts().begin(), plan.cuts().end(),
                              [&](const Cut& c) { return c.grid == grid; }));
  }
}

TEST(Plan, OfPlansThatTieTheOneIsChosenThatBearsDearCopies) {
  Machine machine = simple_machine();
  machine.links.front().gap_s_per_byte = 0;
  // A cut in two dimensions has fewer ghosts than a cut in one, but its faces are copied.
  machine.ghost_share = 0.3;
  machine.copy.rates.front().bytes_per_second = 1e13;
  EXPECT_EQ(chosen(cube(64), 4, machine).grid()[0], 2);
  machine.copy.rates.front().bytes_per_second = 3e9;
  const Plan plan = chosen(cube(64), 4, machine);
  EXPECT_EQ(plan.grid(), (ProcessGrid{4, 1, 1}));
  EXPECT_EQ(plan.cuts()[1].grid[0], 2);
  EXPECT_LT(plan.cuts()[1].time.step_s(), plan.time().step_s());
}

TEST(Plan, DimensionsThatStayUncutAreWholeInEveryCut) {
  Problem problem = cube(64);
  problem.is_uncut = {true, false, true};
  const Plan plan = chosen(problem, 32);
  for (const Cut& cut : plan.cuts())
    EXPECT_EQ(cut.grid, (ProcessGrid{1, 32, 1}));
  EXPECT_NE(plan.why().find("; dimensions 0 and 2 stay uncut, as requested"), std::string::npos);
  problem.is_uncut = {true, true, true};
  EXPECT_EQ(chosen(problem, 32).used_ranks(), 1);
}

TEST(Plan, EveryRankGetsABlockAsWideAsTheHaloAndTheyFillTheGrid) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 100; ++round) {
    const Problem problem = random_problem(prng);
    const Plan plan = chosen(problem, static_cast<int>(1 + prng.below(60)));
    std::int64_t cells = 0;
    for (int rank = 0; rank < plan.used_ranks(); ++rank) {
      const Box<3> block = plan.block(rank);
      cells += block.count();
      for (std::size_t d = 0; d < 3; ++d)
        EXPECT_GE(block.extent(d), plan.grid()[d] > 1 ? problem.halo_width : 1);
    }
    EXPECT_EQ(cells, cell_count(problem.extents));
  }
}

TEST(Plan, DoesNotDependOnTheNamesOfDimensions) {
  // A C array and the Fortran array with reversed dimensions have the same memory layout.
  Problem c = cube(100);
  c.extents = {120, 90, 60};
  Problem fortran = c;
  fortran.order = MemoryOrder::fortran;
  std::reverse(fortran.extents.begin(), fortran.extents.end());
  const Plan one = chosen(c, 24);
  const Plan other = chosen(fortran, 24);
  EXPECT_DOUBLE_EQ(one.time().step_s(), other.time().step_s());
}

TEST(Plan, MoreRanksThanCellsStayWithoutBlocks) {
  Problem problem;
  problem.extents = {3, 2, 1};
  const Plan plan = chosen(problem, 100);
  EXPECT_EQ(plan.used_ranks(), 6);
  EXPECT_NE(plan.why().find("94 of 100 ranks get no block"), std::string::npos);
}

TEST(Plan, APrimeNumberOfRanksBeyondAnExtentUsesFewer) {
  EXPECT_EQ(chosen(cube(64), 127).used_ranks(), 126);
}

TEST(Plan, OneRankExchangesNothing) {
  const Plan plan = chosen(cube(10), 1);
  EXPECT_EQ(plan.cuts().size(), 1U);
  EXPECT_EQ(plan.time().step_s(), plan.time().compute_s);
}

TEST(Plan, TheMemoryLimitRulesOutLongBlocks) {
  Problem problem = cube(64);
  const auto bytes_of = [&](const ProcessGrid& grid) {
    return padded_bytes(problem, largest_block(problem, grid));
  };
  problem.memory_limit_bytes = bytes_of({4, 2, 1});
  const Plan plan = chosen(problem, 8);
  for (const Cut& cut : plan.cuts())
    EXPECT_LE(bytes_of(cut.grid), problem.memory_limit_bytes);
  problem.memory_limit_bytes = 1000;
  EXPECT_NE(refused(problem, 8).find("the limit is 1000; allow more or use more ranks"),
            std::string::npos);
}

TEST(Plan, RefusesBadInputInOneLineThatSaysWhatIsAllowed) {
  EXPECT_EQ(refused(cube(64), 0), "0 ranks; it must be from 1 to 1000000");
  Problem problem = cube(64);
  problem.extents[1] = 0;
  EXPECT_EQ(refused(problem, 4), "extent 1 is 0; it must be from 1 to 1e+09");
  problem = cube(4);
  problem.halo_width = 5;
  EXPECT_EQ(refused(problem, 4),
            "a halo of 5 cells is wider than the 4 of dimension 0; at most 4 are allowed");
  problem = cube(1'000'000);
  EXPECT_NE(refused(problem, 4).find("at most 1e+15 are allowed"), std::string::npos);
  problem = cube(64);
  problem.flops_per_cell = -1;
  EXPECT_EQ(refused(problem, 4), "flops per cell is -1; it must be from 0 to 1e+09");
  Machine machine = simple_machine();
  machine.links.clear();
  EXPECT_EQ(Plan::choose(machine, cube(64), 4).error(), "links is empty; at least one is needed");
}

TEST(Plan, SaysWhyInFiveLines) {
  const Plan plan = chosen(cube(64), 16);
  const std::string why = plan.why();
  EXPECT_EQ(std::count(why.begin(), why.end(), '\n'), 5) << why;
  EXPECT_EQ(why.find("cut "), 0U) << why;
  for (const char* word : {"\na step takes ", "\nfaces: ", "\nalternatives: ", "\noverlap: "})
    EXPECT_NE(why.find(word), std::string::npos) << why;
}

TEST(Plan, TheTableHasAGridALineAndTheTermThatLost) {
  const std::string table = chosen(cube(64), 16).table(8);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 9) << table;
  EXPECT_NE(table.find("lost by"), std::string::npos);
  EXPECT_NE(table.find("  -\n"), std::string::npos);
}

TEST(Plan, NamesTheTermThatGrewMost) {
  const Prediction best{.compute_s = 10, .pack_s = 1, .wire_s = 1, .wait_s = 1};
  EXPECT_STREQ(losing_term({.compute_s = 11, .pack_s = 3, .wire_s = 1, .wait_s = 0}, best), "pack");
  EXPECT_STREQ(losing_term({.compute_s = 9, .pack_s = 1, .wire_s = 1, .wait_s = 5}, best), "wait");
}

TEST(Plan, KnowsWhatDimsCreateWouldHaveTaken) {
  EXPECT_EQ(chosen(cube(64), 16).balanced().grid, (ProcessGrid{4, 2, 2}));
  EXPECT_EQ(chosen(cube(64), 32).balanced().grid, (ProcessGrid{4, 4, 2}));
  EXPECT_EQ(chosen(cube(64), 36).balanced().grid, (ProcessGrid{4, 3, 3}));
}

TEST(Plan, ATorusThatIsTooSmallIsRefused) {
  Machine machine = simple_machine();
  machine.links.front().torus = Torus{.extents = {4, 2}};
  EXPECT_EQ(chosen(cube(64), 8, machine).used_ranks(), 8);
  EXPECT_EQ(Plan::choose(machine, cube(64), 9).error(),
            "the ranks take 9 nodes; the torus of the machine has at most 8");
}

TEST(Plan, RanksArePlacedSoThatNeighboursAreNear) {
  // In row-major order, 2 x 4 ranks have neighbours 2 hops away on a torus of 4 x 2 nodes. In
  // bricks of 2 x 1 ranks, all are one hop away.
  Machine machine = simple_machine();
  machine.links.front().torus = Torus{.extents = {4, 2}, .hop_s = 1};
  Problem problem;
  problem.extents = {64, 256, 1};
  const Plan plan = chosen(problem, 8, machine);
  const auto cut = std::find_if(plan.cuts().begin(), plan.cuts().end(),
                                [](const Cut& each) { return each.grid == ProcessGrid{2, 4, 1}; });
  ASSERT_NE(cut, plan.cuts().end());
  EXPECT_EQ(cut->brick, (ProcessGrid{2, 1, 1}));
  EXPECT_EQ(cut->hops[0].most, 1);
  EXPECT_EQ(cut->hops[1].most, 1);
  EXPECT_NE(plan.why().find(" 1 hop away (at most 1)"), std::string::npos) << plan.why();
  EXPECT_EQ(chosen(problem, 8).why().find("away"), std::string::npos);
}

TEST(Plan, ThousandsOfRanksArePlanned) {
  const Machine machine = load_machine(SORREL_MACHINES "/t3e-900-buffered.json").value();
  for (const int rank_count : {4096, 3360, 3600})
    EXPECT_EQ(chosen(cube(512), rank_count, machine).used_ranks(), rank_count);
}

}  // namespace
}  // namespace sorrel::grid
