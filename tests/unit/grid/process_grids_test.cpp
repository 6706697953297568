#include "grid/plan/process_grids.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "base/prng.hpp"
#include "unit/grid/random_problem.hpp"

namespace sorrel::grid {
namespace {

// The slow oracle: all triples.
std::set<ProcessGrid> grids_by_trying(const Problem& problem, int rank_count) {
  std::set<ProcessGrid> grids;
  const auto fits = [&](std::size_t d, int parts) {
    const std::int64_t grains = problem.extents[d] / problem.grain;
    return parts == 1 || grains / parts * problem.grain >= problem.halo_width;
  };
  for (int a = 1; a <= rank_count; ++a)
    for (int b = 1; a * b <= rank_count; ++b)
      for (int c = 1; a * b * c <= rank_count; ++c)
        if (a * b * c == rank_count && fits(0, a) && fits(1, b) && fits(2, c))
          grids.insert({a, b, c});
  return grids;
}

TEST(ProcessGrids, AreAllThatThereAreAndEachOnce) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 200; ++round) {
    const Problem problem = random_problem(prng);
    const int rank_count = static_cast<int>(1 + prng.below(64));
    const auto found = process_grids(problem, rank_count);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(std::set<ProcessGrid>(found.begin(), found.end()).size(), found.size());
    EXPECT_EQ(std::set<ProcessGrid>(found.begin(), found.end()),
              grids_by_trying(problem, rank_count))
        << text_of(problem) << ", " << rank_count << " ranks";
  }
}

TEST(ProcessGrids, APrimeNumberOfRanksCutsOneDimension) {
  Problem problem;
  problem.extents = {100, 100, 100};
  EXPECT_EQ(process_grids(problem, 31),
            (std::vector<ProcessGrid>{{1, 1, 31}, {1, 31, 1}, {31, 1, 1}}));
}

TEST(UsableRanks, AreTheMostForWhichThereIsAGrid) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 100; ++round) {
    const Problem problem = random_problem(prng);
    const int rank_count = static_cast<int>(1 + prng.below(150));
    const int usable = usable_ranks(problem, rank_count);
    EXPECT_FALSE(process_grids(problem, usable).empty());
    for (int more = usable + 1; more <= rank_count; ++more)
      EXPECT_TRUE(grids_by_trying(problem, more).empty()) << text_of(problem) << ", " << more;
  }
}

TEST(UsableRanks, AreNoMoreThanCells) {
  Problem problem;
  problem.extents = {2, 3, 1};
  EXPECT_EQ(usable_ranks(problem, 1'000'000), 6);
}

}  // namespace
}  // namespace sorrel::grid
